"""Tables: the object of the runtime, its const entries, and the function that applies it."""

from __future__ import annotations

from dataclasses import dataclass

from p4soft.check import types
from p4soft.check.constants import raw_bits
from p4soft.check.symbols import ActionSymbol, Target
from p4soft.elaborate import TableInstance
from p4soft.emit import profiles
from p4soft.emit.action_data import data_words, most_words
from p4soft.emit.block import BlockEmitter
from p4soft.emit.cpp_types import from_raw
from p4soft.emit.externs.base import control_name
from p4soft.emit.externs.filters import kind_text
from p4soft.emit.externs.meters import byte_count_adjust, unit_text
from p4soft.emit.externs.registers import initial_words
from p4soft.emit.text import Lines
from p4soft.frontend import syntax

DEFAULT_SIZE = 512


@dataclass(frozen=True)
class Key:
    """One key in the packed layout of src/dataplane/packed_key.h."""

    kind: str
    offset: int
    width: int


def size_of(table: TableInstance) -> int:
    return table.size or max(DEFAULT_SIZE, len(table.declaration.entries or []))


def most_words_of(table: TableInstance) -> int:
    """The longest data that an entry may have, or the number of a member or group."""
    most = most_words(table.declaration)
    return most if table.implementation is None else max(most, 1)


def keys_of(table: syntax.Table) -> list[Key]:
    keys: list[Key] = []
    offset = 0
    for key in table.match_keys:
        width = types.width_of(types.underlying(key.expression.type)) or 0  # type: ignore[arg-type]
        keys.append(Key(key.matches, offset, width))
        offset += width
    return keys


class TableEmitter(BlockEmitter):
    def emit_table(self, table: TableInstance, output: Lines) -> None:
        self._declare_object(table)
        self._default_action(table)
        if table.declaration.entries:
            for i, entry in enumerate(table.declaration.entries):
                self._entry(table, i, entry)
        self._apply(table, output)

    # --- The object -------------------------------------------------------------------------------

    def _declare_object(self, table: TableInstance) -> None:
        keys = keys_of(table.declaration)
        most = most_words_of(table)
        direct = _direct_externs(table)
        members = self.emission.members
        if not keys:
            members.add(f"KeylessTable {table.identifier}_{{{most}, {direct}}};")
        else:
            index, argument = index_type(keys)
            size = size_of(table)
            members.add(
                f"IndexedTable<{index}> {table.identifier}_{{{size}, {most}, {direct}{argument}}};"
            )
        name = control_name(self.emission, table.path)
        self.emission.setup.add(f'add_table("{name}", {table.identifier}_);')
        if table.implementation is not None:
            profiles.attach(self.emission, table)

    def _words(self, table: TableInstance, reference: syntax.ActionReference) -> str:
        """The entry for an action with constant values, as a C++ initializer."""
        numbers = [a.name for a in table.declaration.actions]
        words = [numbers.index(reference.name), *[0] * (table.data_start - 1)]
        for parameter, value in zip(reference.symbol.data, reference.values, strict=True):
            raw = raw_bits(value, parameter.type)
            words.append(raw & (1 << 64) - 1)
            if (types.width_of(parameter.type) or 0) > 64:
                words.append(raw >> 64)
        return ", ".join(f"{word:#x}" for word in words)

    def _default_action(self, table: TableInstance) -> None:
        reference = table.declaration.default_action
        if reference is not None:
            words = self._words(table, reference)
            self.emission.setup.add(f"{table.identifier}_.set_default({{{words}}});")

    def _entry(self, table: TableInstance, number: int, entry: syntax.TableEntry) -> None:
        firsts, seconds = [], []
        for key, value in zip(keys_of(table.declaration), entry.keys, strict=True):
            first, second = _match_of(key, value)
            firsts.append(f"{{{key.offset}, {key.width}, {_wide(first)}}}")
            seconds.append(f"{{{key.offset}, {key.width}, {_wide(second)}}}")
        exact = all(key.kind == "exact" for key in keys_of(table.declaration))
        bits = sum(key.width for key in keys_of(table.declaration))
        second_words = "{}" if exact else f"pack_words({bits}, {{{', '.join(seconds)}}})"
        self.emission.setup.add(
            f"{table.identifier}_.add_entry({{pack_words({bits}, {{{', '.join(firsts)}}}), "
            f"{second_words}, {number}}}, {{{self._words(table, entry.action)}}});"
        )

    # --- Applying ---------------------------------------------------------------------------------

    def _apply(self, table: TableInstance, output: Lines) -> None:
        assert self.block is not None
        self.lines = Lines()
        frame = f"[[maybe_unused]] {self.block.identifier}_frame& frame_"
        with self.lines.braces(f"Applied table_{table.identifier}({frame})"):
            arguments = self._key(table)
            self.lines.add(f"const Lookup found_ = {table.identifier}_.lookup({arguments});")
            if table.data_start > 1:
                self.lines.add(f"frame_.{table.identifier}_entry_ = found_.entry;")
            if table.ages:
                start = table.data_start + most_words_of(table)
                self.lines.add(f"if (found_.hit) found_.entry.hit<{start}>(now_ns_);")
            self.lines.add("[[maybe_unused]] Entry entry_ = found_.entry;")
            if table.implementation is not None:
                profiles.go_to_member(self, table)
            self._trace(table, "key_.data()" if arguments else "nullptr")
            with self.lines.braces("switch (entry_.action())"):
                for number, reference in enumerate(table.declaration.actions):
                    with self.lines.braces(f"case {number}:"):
                        self._invoke(table, reference)
                        self.lines.add("break;")
            self.lines.add("return {found_.hit, entry_.action()};")
        output.append(self.lines)

    def _trace(self, table: TableInstance, key: str) -> None:
        name = control_name(self.emission, table.path)
        arguments = f'"{name}", {table.identifier}_, {key}, found_'
        if table.profile is not None:
            arguments += (
                f', "{control_name(self.emission, table.profile.path)}", entry_, data_start_'
            )
        self.lines.trace(f"trace_.applied({arguments});")

    def _key(self, table: TableInstance) -> str:
        keys = keys_of(table.declaration)
        if not keys:
            return ""
        words = (sum(key.width for key in keys) + 63) // 64
        texts = self.values([key.expression for key in table.declaration.match_keys])
        self.lines.add(f"KeyWords<{words}> key_{{}};")
        for key, text in zip(keys, texts, strict=True):
            self.lines.add(
                f"put_key<{key.offset}, {key.width}>(key_, to_bit<{key.width}>({text}));"
            )
        return "key_"

    def _invoke(self, table: TableInstance, reference: syntax.ActionReference) -> None:
        symbol: ActionSymbol = reference.symbol
        data = []
        for parameter, word in zip(symbol.data, data_words(symbol), strict=False):
            width = types.width_of(parameter.type)
            raw = f"entry_.data<{table.data_start}, {word}, {width}>()"
            if table.implementation is not None:
                raw = f"entry_.data_from<{word}, {width}>(data_start_)"
            data.append(from_raw(raw, parameter.type))
        target = Target("action", symbol.name, symbol, None, symbol.directed, reference.values)
        # Directed parameters come first, so the data can simply follow.
        self.pass_arguments(
            self.action_name(symbol), target, reference.arguments or [], first=["frame_"], last=data
        )


def _direct_externs(table: TableInstance) -> str:
    """DirectExterns of src/dataplane/table.h."""
    fields = [".counter = true"] if table.counter else []
    if table.meter is not None:
        fields.append(f".meter = {unit_text(table.meter)}")
        fields.append(f".byte_count_adjust = {byte_count_adjust(table.meter)}")
    if table.filter is not None:
        fields.append(f".filter = {kind_text(table.filter)}")
    if table.register is not None:
        words = ", ".join(f"{word:#x}" for word in initial_words(table.register))
        fields.append(f".cell = {{{words}}}")
    if table.ages:
        fields.append(".ages = true")
    return f"{{{', '.join(fields)}}}"


def index_type(keys: list[Key]) -> tuple[str, str]:
    """The index's class, and what its constructor needs beyond the table's."""
    words = (sum(key.width for key in keys) + 63) // 64
    others = [key for key in keys if key.kind != "exact"]
    if not others:
        return f"ExactMatchIndex<{words}>", ""
    if len(others) == 1 and others[0].kind in ("lpm", "range"):
        name = "LpmMatchIndex" if others[0].kind == "lpm" else "RangeMatchIndex"
        return f"{name}<{words}, {others[0].offset}, {others[0].width}>", ""
    names = {"exact": "kExact", "lpm": "kLpm", "ternary": "kTernary", "range": "kRange"}
    fields = ", ".join(f"{{MatchKind::{names[k.kind]}, {k.offset}, {k.width}}}" for k in keys)
    return f"TernaryMatchIndex<{words}>", f", std::vector<KeyField>{{{fields}}}"


def _match_of(key: Key, value: syntax.Expression) -> tuple[int, int]:
    """`first` and `second` of src/dataplane/match.h."""
    ones = (1 << key.width) - 1
    if isinstance(value, syntax.DefaultExpression):
        return (0, ones) if key.kind == "range" else (0, 0)
    if isinstance(value, syntax.MaskExpression):
        mask = raw_bits(value.mask.value, value.mask.type)  # type: ignore[arg-type]
        return raw_bits(value.base.value, value.base.type) & mask, mask  # type: ignore[arg-type]
    if isinstance(value, syntax.RangeExpression):
        return value.low.value, value.high.value
    raw = raw_bits(value.value, value.type)  # type: ignore[arg-type]
    return raw, raw if key.kind == "range" else ones


def _wide(value: int) -> str:
    if value >> 64:
        return f"wide_constant({value >> 64:#x}ULL, {value & (1 << 64) - 1:#x}ULL)"
    return f"{value:#x}ULL"
