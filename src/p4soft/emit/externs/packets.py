"""packet_in and packet_out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.emit.cpp_types import cpp_type
from p4soft.emit.externs.base import Extern
from p4soft.emit.naming import expression_text, identifier
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


class PacketIn(Extern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if target.name == "extract":
            return self._extract(emitter, target, call.position)
        if target.name == "advance":
            return self._advance(emitter, target)
        if target.name == "lookahead":
            return self._lookahead(emitter, call)
        raise unsupported(call.position, f"packet_in.{target.name}", "extract, advance, lookahead")

    def _extract(self, emitter: BlockEmitter, target: Target, position: Position) -> str:
        header, *size_of_varbit = target.arguments
        assert header is not None and header.type is not None
        type_ = header.type
        if not isinstance(type_, types.Composite) or not type_.is_header:
            raise P4Error(header.position, f"extract needs a header, not {type_}")
        varbit = types.varbit_of(type_)
        if (varbit is not None) != bool(size_of_varbit):
            needs = "needs the size of its varbit field" if varbit else "has no varbit field"
            raise P4Error(position, f"extract: header {type_} {needs}")
        is_next = isinstance(header, syntax.Member) and isinstance(header.base.type, types.Stack)
        if is_next:
            assert isinstance(header, syntax.Member)
            emitter.lines.add(f"if ({emitter.value(header.base)}.full()) return kParserNoMatch;")
        size = f"{cpp_type(type_)}::kBytes"
        behind = ""
        if varbit is not None:
            behind = emitter.temporary("varbits")
            bits = emitter.value(size_of_varbit[0])  # type: ignore[arg-type]
            emitter.lines.add(
                f"const std::uint32_t {behind} = {bits};",
                f"if ({behind} % 8 != 0 || {behind} > {varbit[1].width} || "
                f"!reader_.has({size} + {behind} / 8)) return kParserPartialHeader;",
            )
        emitter.lines.add(f"if (!reader_.has({size})) return kParserPartialHeader;")
        place = emitter.value(header)
        name = expression_text(header)
        emitter.lines.trace(f'trace_.extracted("{name}", {place}, reader_.peek());')
        emitter.lines.add(f"{place}.extract(reader_.take({size}));")
        if varbit is not None:
            field = f"{place}.{identifier(varbit[0])}"
            emitter.lines.add(f"{field}.extract(reader_.take({behind} / 8), {behind} / 8);")
        if is_next:
            assert isinstance(header, syntax.Member)
            emitter.lines.add(f"++{emitter.value(header.base)}.next;")
        return ""

    def _advance(self, emitter: BlockEmitter, target: Target) -> str:
        amount = target.arguments[0]
        assert amount is not None
        if amount.value is None:
            bits = emitter.value(amount)
            emitter.lines.add(f"if (!reader_.advance_bits({bits})) return kParserPartialHeader;")
            return ""
        if amount.value % 8 != 0:
            raise unsupported(amount.position, f"advance({amount.value})", "multiples of 8 bits")
        emitter.lines.add(f"if (!reader_.has({amount.value // 8})) return kParserPartialHeader;")
        emitter.lines.add(f"reader_.take({amount.value // 8});")
        return ""

    def _lookahead(self, emitter: BlockEmitter, call: syntax.Call) -> str:
        type_ = types.underlying(call.type)  # type: ignore[arg-type]
        width = types.width_of(type_)
        is_fixed = types.varbit_of(type_) is None
        if isinstance(type_, types.Composite) and type_.is_header and is_fixed:
            emitter.lines.add(
                f"if (!reader_.has({cpp_type(type_)}::kBytes)) return kParserPartialHeader;"
            )
            ahead = emitter.temporary("ahead")
            emitter.lines.add(f"{cpp_type(type_)} {ahead};", f"{ahead}.extract(reader_.peek());")
            return ahead
        if not isinstance(type_, types.Bit) or width is None:
            raise unsupported(
                call.position, f"lookahead<{call.type}>", "bit<W> and headers of fixed size"
            )
        ahead = emitter.temporary("ahead")
        emitter.lines.add(f"if (!reader_.has({(width + 7) // 8})) return kParserPartialHeader;")
        emitter.lines.add(f"const auto {ahead} = load_bits<0, {width}>(reader_.peek());")
        return ahead


class PacketOut(Extern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        data = target.arguments[0]
        assert data is not None and data.type is not None
        self._emit(emitter, emitter.value(data), data.type, data, expression_text(data))
        return ""

    def _emit(
        self, emitter: BlockEmitter, text: str, type_: types.Type, at: syntax.Node, name: str
    ) -> None:
        """`text` is the C++ of what is emitted, `name` that of the program."""
        if isinstance(type_, types.Stack):
            for i in range(type_.size):
                self._emit(emitter, f"{text}.items[{i}]", type_.element, at, f"{name}${i}")
        elif isinstance(type_, types.Composite) and type_.is_header:
            emitter.lines.add(
                f"if ({text}.valid_) {text}.emit(writer_.append({cpp_type(type_)}::kBytes));"
            )
            varbit = types.varbit_of(type_)
            if varbit is not None:
                field = f"{text}.{identifier(varbit[0])}"
                emitter.lines.add(
                    f"if ({text}.valid_) {field}.emit(writer_.append({field}.length()));"
                )
            emitter.lines.trace(f'if ({text}.valid_) trace_.emitted("{name}", {text});')
        elif isinstance(type_, types.Composite):
            for field, field_type in type_.fields.items():
                self._emit(
                    emitter, f"{text}.{identifier(field)}", field_type, at, f"{name}.{field}"
                )
        else:
            raise P4Error(at.position, f"emit needs headers, not {type_}")
