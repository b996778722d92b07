"""The externs of TNA that p4soft translates: how each is declared, and what its methods become.

To add one, add a class with the extern's name to `EXTERNS`. A type that is not there is an error
where it is instantiated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance
from p4soft.emit.cpp_types import cpp_type, to_raw
from p4soft.emit.naming import identifier
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


class Extern:
    """One kind of extern."""

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        """Adds members to the program's class."""

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        raise unsupported(
            call.position, f"method '{target.name}' of {target.base.type}", "its other methods"
        )


def field_list(
    emitter: BlockEmitter, data: syntax.Expression, *, skip_invalid: bool
) -> tuple[str, int]:
    """Emits the bits of `data` side by side; returns the variable's name and the number of bits.

    With `skip_invalid`, fields of invalid headers count as 0, as in the ASIC's checksum units.
    """
    parts = emitter.flatten(data)
    bits = sum(types.width_of(type_) or 0 for _, type_, _ in parts)
    if bits % 8 != 0:
        raise P4Error(
            data.position,
            f"these fields have {bits} bits; expected whole bytes, add constant padding",
        )
    name = emitter.temporary("fields")
    emitter.lines.add(f"FieldList<{bits}> {name};")
    offset = 0
    for text, type_, valid in parts:
        width = types.width_of(type_) or 0
        raw = to_raw(text, type_)
        if skip_invalid and valid:
            raw = f"{valid} ? {raw} : Unsigned<{width}>{{0}}"
        emitter.lines.add(f"{name}.put<{offset}, {width}>({raw});")
        offset += width
    return name, bits


_CRCS = {"CRC8": "kCrc8", "CRC16": "kCrc16", "CRC32": "kCrc32", "CRC64": "kCrc64"}


class Hash(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        parameters = self._parameters(instance)
        if parameters is not None:
            emission.members.add(f"static constexpr Crc {instance.identifier}_{{{parameters}}};")

    def _parameters(self, instance: ExternInstance) -> str | None:
        """C++ CrcParameters, or None for IDENTITY."""
        algorithm = algorithm_name(instance)
        if algorithm == "CUSTOM":
            if len(instance.arguments) < 2:
                raise P4Error(
                    instance.position,
                    "HashAlgorithm_t.CUSTOM needs a CRCPolynomial as second argument",
                )
            return _polynomial(instance.arguments[1])
        if algorithm == "IDENTITY":
            return None
        if algorithm not in _CRCS:
            raise unsupported(
                instance.position,
                f"HashAlgorithm_t.{algorithm}",
                "IDENTITY, CRC8, CRC16, CRC32, CRC64, CUSTOM",
            )
        return _CRCS[algorithm]

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        assert call.type is not None
        result = types.underlying(call.type)
        if not isinstance(result, types.Bit) or result.width > 64:
            raise unsupported(
                call.position, f"a hash of type {call.type}", "bit<W> with W up to 64"
            )
        fields, bits = field_list(emitter, target.arguments[0], skip_invalid=False)
        if self._parameters(instance) is not None:
            return f"to_bit<{result.width}>({instance.identifier}_.compute({fields}.bytes()))"
        if result.width > bits:
            raise P4Error(
                call.position, f"an IDENTITY hash of {bits} bits cannot give {result.width}"
            )
        return f"{fields}.low_bits<{result.width}>()"


def algorithm_name(instance: ExternInstance) -> str:
    declaration = instance.type.declaration
    assert isinstance(declaration, syntax.Extern)
    constructor = next(m for m in declaration.methods if m.returns is None)
    enum = constructor.symbol.parameters[0].type
    return next(name for name, value in enum.members.items() if value == instance.arguments[0])


def _polynomial(instance: ExternInstance) -> str:
    """CRCPolynomial(coeff, reversed, msb, extended, init, xor)."""
    coefficient, reversed_, msb, extended, initial, final = instance.arguments
    type_ = types.underlying(instance.type.arguments[0])
    if not isinstance(type_, types.Bit) or not 8 <= type_.width <= 64:
        raise unsupported(instance.position, f"a CRCPolynomial of {type_}", "bit<8> to bit<64>")
    if msb or extended:
        raise unsupported(
            instance.position, "a CRCPolynomial with msb or extended", "false for both"
        )
    reflected = "true" if reversed_ else "false"
    return f"{{{type_.width}, {coefficient:#x}, {initial:#x}, {final:#x}, {reflected}}}"


class Polynomial(Extern):
    """CRCPolynomial: only an argument of Hash."""


class Checksum(Extern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if target.name == "update":
            return self._update(emitter, target)
        if not emitter.in_parser:
            raise P4Error(
                call.position, f"Checksum.{target.name} belongs in a parser; a deparser has update"
            )
        place = f"frame_.{instance.identifier}_"
        if target.name in ("add", "subtract"):
            fields, _ = field_list(emitter, target.arguments[0], skip_invalid=False)
            emitter.lines.add(f"{place}.{target.name}({fields}.bytes());")
            return ""
        if target.name in ("verify", "get"):
            return f"{place}.{target.name}()"
        raise unsupported(
            call.position, f"Checksum.{target.name}", "add, subtract, verify, get, update"
        )

    def _update(self, emitter: BlockEmitter, target: Target) -> str:
        fields, _ = field_list(emitter, target.arguments[0], skip_invalid=True)
        text = f"Checksum::compute({fields}.bytes())"
        zeros_as_ones = target.arguments[1]
        if zeros_as_ones is None or zeros_as_ones.value is False:
            return text
        if zeros_as_ones.value is not True:
            raise unsupported(
                zeros_as_ones.position, "zeros_as_ones that is no constant", "true or false"
            )
        result = emitter.temporary("checksum")
        emitter.lines.add(
            f"std::uint16_t {result} = {text};", f"if ({result} == 0) {result} = 0xFFFF;"
        )
        return result


def counted_bytes(emitter: BlockEmitter, adjustment: syntax.Expression | None) -> str:
    if adjustment is None:
        return "packet_bytes_"
    return f"packet_bytes_ - {emitter.value(adjustment)}"


class Counter(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        emission.members.add(f"Counter {instance.identifier}_{{{instance.arguments[0]}}};")
        emission.setup.add(
            f'add_counter("{control_name(emission, instance.path)}", {instance.identifier}_);'
        )

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        index, adjustment = target.arguments
        assert index is not None
        amount = counted_bytes(emitter, adjustment)
        emitter.lines.add(f"{instance.identifier}_.count({emitter.value(index)}, {amount});")
        return ""


class DirectCounter(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        if instance.table is None:
            name = instance.path.rpartition(".")[2]
            raise P4Error(
                instance.position,
                f"'{name}' is attached to no table; write `counters = {name};` in one",
            )

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        emitter.require_direct(instance, call.position)
        amount = counted_bytes(emitter, target.arguments[0])
        emitter.lines.add(f"frame_.{instance.table.identifier}_entry_.count({amount});")
        return ""


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
        if len(target.arguments) > 1:
            raise unsupported(position, "extract with a variable size", "headers of fixed size")
        header = target.arguments[0]
        assert header is not None and header.type is not None
        type_ = header.type
        if not isinstance(type_, types.Composite) or not type_.is_header:
            raise P4Error(header.position, f"extract needs a header, not {type_}")
        is_next = isinstance(header, syntax.Member) and isinstance(header.base.type, types.Stack)
        if is_next:
            assert isinstance(header, syntax.Member)
            emitter.lines.add(f"if ({emitter.value(header.base)}.full()) return kParserNoMatch;")
        size = f"{cpp_type(type_)}::kBytes"
        emitter.lines.add(f"if (!reader_.has({size})) return kParserPartialHeader;")
        emitter.lines.add(f"{emitter.value(header)}.extract(reader_.take({size}));")
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
        if isinstance(type_, types.Composite) and type_.is_header:
            emitter.lines.add(
                f"if (!reader_.has({cpp_type(type_)}::kBytes)) return kParserPartialHeader;"
            )
            ahead = emitter.temporary("ahead")
            emitter.lines.add(f"{cpp_type(type_)} {ahead};", f"{ahead}.extract(reader_.peek());")
            return ahead
        if not isinstance(type_, types.Bit) or width is None:
            raise unsupported(call.position, f"lookahead<{call.type}>", "bit<W> and headers")
        ahead = emitter.temporary("ahead")
        emitter.lines.add(f"if (!reader_.has({(width + 7) // 8})) return kParserPartialHeader;")
        emitter.lines.add(f"const auto {ahead} = load_bits<0, {width}>(reader_.peek());")
        return ahead


class PacketOut(Extern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        data = target.arguments[0]
        assert data is not None and data.type is not None
        self._emit(emitter, emitter.value(data), data.type, data)
        return ""

    def _emit(self, emitter: BlockEmitter, text: str, type_: types.Type, at: syntax.Node) -> None:
        if isinstance(type_, types.Stack):
            for i in range(type_.size):
                self._emit(emitter, f"{text}.items[{i}]", type_.element, at)
        elif isinstance(type_, types.Composite) and type_.is_header:
            emitter.lines.add(
                f"if ({text}.valid_) {text}.emit(writer_.append({cpp_type(type_)}::kBytes));"
            )
        elif isinstance(type_, types.Composite):
            for name, field in type_.fields.items():
                self._emit(emitter, f"{text}.{identifier(name)}", field, at)
        else:
            raise P4Error(at.position, f"emit needs headers, not {type_}")


def control_name(emission: Emission, path: str) -> str:
    """The name in the control plane: `pipe.SwitchIngress.partition`."""
    return f"{emission.pipeline.name}.{path}"


EXTERNS: dict[str, Extern] = {
    "Hash": Hash(),
    "CRCPolynomial": Polynomial(),
    "Checksum": Checksum(),
    "Counter": Counter(),
    "DirectCounter": DirectCounter(),
    "packet_in": PacketIn(),
    "packet_out": PacketOut(),
}
_INTERNAL = ("packet_in", "packet_out")


def handler_of(name: str, position: Position) -> Extern:
    if name not in EXTERNS:
        known = ", ".join(extern for extern in EXTERNS if extern not in _INTERNAL)
        raise unsupported(position, f"the extern {name}", known)
    return EXTERNS[name]
