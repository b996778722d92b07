"""Runs a program by walking the generator's tree: P4_16's rules for expressions, statements and
calls. It knows nothing of p4soft and of the program's text.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from . import arithmetic, hashing, tree
from .filtering import Filtering
from .matching import chosen_member, matching_entry
from .metering import GREEN, Metering


class Exited(Exception):  # noqa: N818
    """An `exit` statement ran."""


class Returned(Exception):  # noqa: N818
    def __init__(self, value: int | None) -> None:
        super().__init__()
        self.value = value


@dataclass
class State:
    """What stays from packet to packet, by the names of registers and counters."""

    registers: dict[str, list[int]] = field(default_factory=dict)
    packets: dict[str, list[int]] = field(default_factory=dict)
    bytes: dict[str, list[int]] = field(default_factory=dict)

    direct: dict[str, dict[int, tuple[int, int]]] = field(default_factory=dict)
    cells: dict[str, dict[int, int]] = field(default_factory=dict)
    metering: Metering = field(default_factory=Metering)
    filtering: Filtering = field(default_factory=Filtering)

    def count_direct(self, counter: str, entry: int, frame_bytes: int) -> None:
        """direct: packets and bytes by entry; what was not counted is not there. cells: of direct
        registers, in the same way.
        """
        counts = self.direct.setdefault(counter, {})
        packets, total = counts.get(entry, (0, 0))
        counts[entry] = packets + 1, total + frame_bytes

    @classmethod
    def of(cls, program: tree.Program) -> State:
        state = cls()
        for block in program.blocks():
            for register in block.registers:
                state.registers[register.name] = [register.initial] * (1 << register.index_width)
            for counter in block.counters:
                state.packets[counter.name] = [0] * (1 << counter.index_width)
                state.bytes[counter.name] = [0] * (1 << counter.index_width)
        return state


class Interpreter:
    """One pass of one packet through a block.

    cells: what is at each place; frame_bytes: of the frame as it came, which counters count.
    """

    def __init__(self, block: tree.Block, state: State, frame_bytes: int, now_s: int) -> None:
        self.block = block
        self.state = state
        self.counted = frame_bytes + 4  # with the check sequence
        self.now_s = now_s
        # Number of the entry, by the table's counter or meter; -1: default.
        self.found: dict[str, int] = {}
        self.limits: dict[str, tree.Limits | None] = {}  # of that entry, by the meter
        self.sum = 0  # of the parser's checksum
        self.cells: dict[str, Any] = {}
        self.filled = dict.fromkeys((stack.name for stack in block.stacks), 0)  # by the parser
        for place, header in block.header_places():
            self.clear_header(place, header)
        for variable in block.metadata:
            self.cells[variable.name] = 0
        if block.resubmit is not None and block.resubmit.header is not None:
            self.clear_header(block.resubmit.place, block.resubmit.header)
        if block.port_metadata is not None:
            for each in block.port_metadata.fields:
                self.cells[f"{block.port_metadata.place}.{each.name}"] = 0

    def clear_header(self, place: str, header: tree.HeaderType) -> None:
        self.cells[f"{place}.$valid"] = False
        for each in header.fields:
            self.cells[f"{place}.{each.name}"] = 0
        if header.options:
            self.cells[f"{place}.{header.options}"] = b""

    def header_bits(self, place: str, header: tree.HeaderType) -> int:
        bits = 0
        for each in header.fields:
            bits = bits << each.type.width | self.cells[f"{place}.{each.name}"]
        return bits

    def set_header_bits(self, place: str, header: tree.HeaderType, bits: int) -> None:
        for each in reversed(header.fields):
            self.cells[f"{place}.{each.name}"] = bits & (1 << each.type.width) - 1
            bits >>= each.type.width
        self.cells[f"{place}.$valid"] = True

    # --- Expressions --------------------------------------------------------------------------

    def value(self, e: tree.Expression) -> Any:  # noqa: PLR0912
        match e:
            case tree.Literal():
                return e.value
            case tree.Named():
                return e.constant.value
            case tree.Place(type=tree.HeaderType() as header):
                return {name: self.cells[f"{e.name}.{name}"] for name in _names(header)}
            case tree.Place():
                return self.cells[e.name]
            case tree.Unary():
                return arithmetic.unary(e.operator, e.type, self.value(e.operand))
            case tree.Binary(operator="&&"):
                return self.value(e.left) and self.value(e.right)
            case tree.Binary(operator="||"):
                return self.value(e.left) or self.value(e.right)
            case tree.Binary(left=tree.Place(type=tree.HeaderType())):
                left, right = self.value(e.left), self.value(e.right)
                equal = left == right if left["$valid"] else not right["$valid"]
                return equal == (e.operator == "==")
            case tree.Binary():
                left = self.value(e.left)
                return arithmetic.binary(e.operator, e.left.type, left, self.value(e.right))
            case tree.Shift():
                return arithmetic.shift(e.operator, e.type, self.value(e.operand), e.amount)
            case tree.Cast():
                return arithmetic.cast(_bits(e.operand.type), _bits(e.type), self.value(e.operand))
            case tree.Slice():
                return self.value(e.operand) >> e.low & (1 << e.high - e.low + 1) - 1
            case tree.Concat():
                left = self.value(e.left)
                return left << e.right.type.width | self.value(e.right)
            case tree.Conditional():
                return self.value(e.then if self.value(e.condition) else e.otherwise)
            case tree.IsValid():
                return self.cells[f"{e.header}.$valid"]
            case tree.HashOf():
                value, bits = self.concatenated(e.data)
                return hashing.hash_of(e.hash.algorithm, value, bits, e.hash.width)
            case tree.Applied():
                hit = self.apply(e.table)[0]
                return hit if e.member == "hit" else not hit
            case tree.Last():
                return self.cells[f"{e.stack.name}[{self.filled[e.stack.name] - 1}].{e.field}"]
            case tree.Execute():
                return self._execute(e)
            case tree.MeterColor():
                return self._meter_color(e)
            case tree.Verify():
                return self.sum != 0xFFFF
            case tree.Filtered():
                value, cell = self.value(e.value), self.value(e.index)
                return self.state.filtering.result(e.filter, cell, value, self.now_s)
            case tree.Item():
                return self.cells[e.name][e.number]
            case tree.SameTuples():
                return self.cells[e.left] == self.cells[e.right]
            case tree.LastIndex():
                return self.filled[e.stack.name] - 1
            case tree.CallFunction():
                value = self.call(e.function, e.arguments)
                assert value is not None
                return value
        raise TypeError(f"the interpreter does not know {type(e).__name__}")

    def concatenated(self, data: list[tree.Expression]) -> tuple[int, int]:
        """Value and width."""
        value, bits = 0, 0
        for each in data:
            assert not isinstance(each.type, tree.Bool)
            if isinstance(each.type, tree.HeaderType):
                assert isinstance(each, tree.Place)
                number = self.header_bits(each.name, each.type)
            else:
                number = self.value(each)
            value = value << each.type.width | number
            bits += each.type.width
        return value, bits

    def _execute(self, e: tree.Execute) -> int:
        action, register = e.action, e.action.register
        if isinstance(register, tree.Register):
            cells, index = self.state.registers[register.name], self.value(e.index)
        else:
            cells, index = self.state.cells.setdefault(register.name, {}), self.found[register.name]
            cells.setdefault(index, register.initial)
        self.cells[action.value], self.cells[action.result] = cells[index], 0
        self.run(action.body)
        cells[index] = self.cells[action.value]
        return self.cells[action.result]

    def _meter_color(self, e: tree.MeterColor) -> int:
        meter = e.meter
        if isinstance(meter, tree.Meter):
            cell = self.value(e.index)
            limits = meter.limits[cell]
        else:
            cell, limits = self.found[meter.name], self.limits[meter.name]
        color = GREEN if e.color is None else self.value(e.color)
        return self.state.metering.color(meter, cell, limits, color, self.now_s, self.counted)

    # --- Statements ---------------------------------------------------------------------------

    def run(self, statements: list[tree.Statement]) -> None:
        for each in statements:
            self.statement(each)

    def statement(self, s: tree.Statement) -> None:  # noqa: PLR0912
        match s:
            case tree.Assign():
                self._assign(s)
            case tree.Declare():
                self.cells[s.name] = self.value(s.value)
            case tree.DeclareTuple():
                self.cells[s.name] = [self.value(value) for value in s.values]
            case tree.If():
                self.run(s.then if self.value(s.condition) else s.otherwise)
            case tree.Switch():
                self._switch(self.value(s.subject), s.cases)
            case tree.SwitchAction():
                self._switch(self.apply(s.table)[1], s.cases)
            case tree.Apply():
                self.apply(s.table)
            case tree.Call():
                self.call(s.callee, s.arguments)
            case tree.SetValid():
                self.cells[f"{s.header}.$valid"] = s.valid
            case tree.CopyHeader():
                self.store(tree.Place(s.type, s.header), self.value(tree.Place(s.type, s.source)))
            case tree.FillHeader():
                values = [self.value(value) for value in s.values]
                for each, value in zip(s.fields, values, strict=True):
                    self.cells[f"{s.header}.{each.name}"] = value
                self.cells[f"{s.header}.$valid"] = True
            case tree.MoveStack():
                self._move_stack(s)
            case tree.Count():
                index = self.value(s.index)
                self.state.packets[s.counter.name][index] += 1
                self.state.bytes[s.counter.name][index] += self.counted
            case tree.AddToChecksum():
                value, bits = self.concatenated(s.data)
                data = value.to_bytes(bits // 8, "big")
                add = hashing.sum_less if s.subtracts else hashing.sum_with
                self.sum = add(self.sum, data)
            case tree.CountDirect():
                self.state.count_direct(s.counter.name, self.found[s.counter.name], self.counted)
            case tree.Exit():
                raise Exited
            case tree.Return():
                raise Returned(None if s.value is None else self.value(s.value))
            case _:
                raise TypeError(f"the interpreter does not know {type(s).__name__}")

    def _assign(self, s: tree.Assign) -> None:
        """`a += b` is `a = a + b`, from left to right: `b` may call what changes `a`."""
        before = self.value(s.target) if s.operator else None
        value = self.value(s.value)
        if s.operator:
            value = arithmetic.binary(s.operator, s.target.type, before, value)
        self.store(s.target, value)

    def store(self, target: tree.Expression, value: Any) -> None:
        if isinstance(target, tree.Slice):
            whole = self.value(target.operand)
            value = arithmetic.with_slice(whole, target.high, target.low, value)
            self.store(target.operand, value)
        elif isinstance(target.type, tree.HeaderType):
            for name in _names(target.type):
                self.cells[f"{target.name}.{name}"] = value[name]
        else:
            assert isinstance(target, tree.Place)
            self.cells[target.name] = value

    def _switch(self, value: int | str, cases: list[tree.Case]) -> None:
        for case in cases:
            if value in case.labels:
                return self.run(case.body)
        for case in cases:
            if not case.labels:
                return self.run(case.body)
        return None

    def _move_stack(self, s: tree.MoveStack) -> None:
        """Elements that come in are invalid; p4soft says that their fields are zero."""
        size, header = s.stack.size, s.stack.type
        names = _names(header)
        old = [[self.cells[f"{s.stack.name}[{i}].{n}"] for n in names] for i in range(size)]
        by = s.count if s.method == "pop_front" else -s.count
        for i in range(size):
            place = f"{s.stack.name}[{i}]"
            if 0 <= i + by < size:
                for name, value in zip(names, old[i + by], strict=True):
                    self.cells[f"{place}.{name}"] = value
            else:
                self.clear_header(place, header)

    # --- Calls --------------------------------------------------------------------------------

    def call(self, callee: tree.Callable, arguments: list[tree.Expression]) -> int | None:
        """Arguments are copied in from left to right, and out in the same order, after `exit`
        too.
        """
        pairs = list(zip(callee.parameters, arguments, strict=True))
        # A nested control has headers and metadata of its own, copied before its other arguments.
        before = {
            place: value for place, value in self.cells.items() if place.startswith(("hdr.", "md."))
        }
        given = self._copied_in(pairs)
        if callee.kind == "control":
            self.cells |= before
        return self._called(callee, given, pairs)

    def _copied_in(
        self, pairs: list[tuple[tree.Parameter, tree.Expression]]
    ) -> list[tuple[tree.Parameter, int]]:
        return [(p, _nothing(p.type) if p.direction == "out" else self.value(e)) for p, e in pairs]

    def _called(
        self,
        callee: tree.Callable,
        given: list[tuple[tree.Parameter, int]],
        pairs: list[tuple[tree.Parameter, tree.Expression]],
    ) -> int | None:
        for parameter, value in given:
            self.store(tree.Place(parameter.type, parameter.name), value)
        result = None
        try:
            self.run([each for each in callee.locals if isinstance(each, tree.Declare)])
            self.run(callee.body)
        except Returned as returned:
            result = returned.value
        finally:
            written = [
                (self.value(tree.Place(p.type, p.name)), argument)
                for p, argument in pairs
                if _is_out(p)
            ]
            for value, argument in written:
                self.store(argument, value)
        return result

    def apply(self, table: tree.Table) -> tuple[bool, str]:
        """Whether an entry matched, and the name of the action that ran."""
        keys = [self.value(key.expression) for key in table.keys]
        entry = matching_entry(table, keys)
        name, data = table.default, table.default_data
        number = -1 if entry is None else table.entries.index(entry)
        register = table.register_action and table.register_action.register
        for extern in filter(None, (table.counter, table.meter, register)):
            self.found[extern.name] = number
        if table.meter is not None:
            self.limits[table.meter.name] = None if entry is None else entry.limits
        member = entry
        if entry is not None and entry.group is not None:
            member = self._member(table, entry.group)
        if member is not None:
            name, data = member.action, member.data
        reference = table.reference(name)
        directed = [p for p in reference.action.parameters if p.direction]
        pairs = list(zip(directed, reference.directed, strict=True))
        given = [*self._copied_in(pairs), *zip(reference.action.data(), data, strict=True)]
        self._called(reference.action, given, pairs)
        return entry is not None, name

    def _member(self, table: tree.Table, group: int) -> tree.Entry | None:
        """None if the group has no active member."""
        assert table.selector is not None
        hash_ = table.selector.hash
        value, bits = self.concatenated(table.selector.subjects)
        number = hashing.hash_of(hash_.algorithm, value, bits, hash_.width)
        member = chosen_member(table.selector.groups[group], table.selector.mode, number)
        return None if member is None else table.entries[member]


def _names(header: tree.HeaderType) -> list[str]:
    names = [each.name for each in header.fields]
    return ["$valid", *names, header.options] if header.options else ["$valid", *names]


def _bits(type_: tree.Type) -> tree.Type:
    """What an enum is written in."""
    return tree.Bits(type_.width) if isinstance(type_, tree.Enum) else type_


def _nothing(type_: tree.Type) -> Any:
    """What an out parameter begins with."""
    return dict.fromkeys(_names(type_), 0) if isinstance(type_, tree.HeaderType) else 0


def _is_out(parameter: tree.Parameter) -> bool:
    return parameter.direction in ("out", "inout")
