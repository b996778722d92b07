"""Hash and CRCPolynomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.dynamic_hashes import DynamicHash
from p4soft.elaborate import ExternInstance, constant_name
from p4soft.emit.externs.base import Extern, control_name, field_list
from p4soft.emit.externs.symmetry import symmetric_pairs, with_symmetric_pairs
from p4soft.emit.order import Part
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


@dataclass(frozen=True)
class _Crc:
    parameters: str  # a constant of C++ CrcParameters
    width: int
    repeats: bool  # a wider result is the CRC over and over, otherwise it has zeros above


_CRCS = {
    "CRC8": _Crc("kCrc8", 8, True),
    "CRC16": _Crc("kCrc16", 16, True),
    "CRC32": _Crc("kCrc32", 32, True),
    "CRC64": _Crc("kCrc64", 64, True),
    "RANDOM": _Crc("kRandomHash", 64, True),
}
_XORS = {"XOR8": 8, "XOR16": 16, "XOR32": 32}


class Hash(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        """Wrong ones are told here. The tables of a CRC belong to its parameters; what the control
        plane configures is declared with the one call.
        """
        crc = _crc(instance)
        symmetric = syntax.annotation(instance.annotations, "symmetric")
        if symmetric is not None and (crc is None or constant_name(instance, 0) == "RANDOM"):
            raise P4Error(
                symmetric.position, "a symmetric hash needs a CRC, as for the Tofino compiler"
            )

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        """As the Tofino compiler does: a list that is no whole bytes has zeros before it, for an
        XOR hash behind it; a result wider than the hash repeats a CRC, or has zeros above.
        """
        assert call.type is not None
        width = _width(call.type, call.position)
        hashed = _hashed(emitter, instance, target.arguments[0], call.position)
        fixed = _text(instance, hashed, width)
        dynamic = emitter.emission.pipeline.dynamic_hashes.get(instance)
        # Where no packet comes there may be further calls.
        if dynamic is None or dynamic.call is not call:
            return fixed
        _declare_dynamic(emitter.emission, instance, dynamic, hashed)
        # The fixed one first, so that hashes of the same fields can share their parts.
        name = emitter.temporary("hash")
        member = f"{instance.identifier}_"
        words = ", ".join(f"{hashed.name}.word({i})" for i in range((hashed.bits + 63) // 64))
        emitter.lines.add(f"Unsigned<{width}> {name} = {fixed};")
        emitter.lines.add(
            f"if ({member}.configured()) [[unlikely]] "
            f"{name} = to_bit<{width}>({member}.of({words}));"
        )
        return name


def hash_of(
    emitter: BlockEmitter, instance: ExternInstance, fields: list[syntax.Expression]
) -> str:
    """The hash of fields side by side, as wide as the instance's type."""
    width = _width(instance.type.arguments[0], instance.position)
    return _text(instance, _hashed(emitter, instance, fields, instance.position), width)


def _width(type_: types.Type, position: Position) -> int:
    result = types.underlying(type_)
    if not isinstance(result, types.Bit) or result.width > 64:
        raise unsupported(position, f"a hash of type {type_}", "bit<W> with W up to 64")
    return result.width


class _Hashed(NamedTuple):
    """A C++ HashInput, and what the program put there."""

    name: str
    bits: int
    pairs: list[tuple[int, int, int]]  # symmetric: first bits, counted from the first, and width


def _hashed(
    emitter: BlockEmitter,
    instance: ExternInstance,
    data: syntax.Expression | list[syntax.Expression],
    position: Position,
) -> _Hashed:
    pairs: list[tuple[int, int, int]] = []

    def with_pairs(parts: list[Part]) -> list[Part]:
        widths = [types.width_of(part.type) or 0 for part in parts]
        for first, second in symmetric_pairs(instance, parts, position):
            pairs.append((sum(widths[:first]), sum(widths[:second]), widths[first]))
        return with_symmetric_pairs(instance, parts, position)

    zeros: Literal["before", "behind"] = "behind" if _is_xor(instance) else "before"
    name, bits = field_list(emitter, data, kind="HashInput", zeros=zeros, change=with_pairs)
    return _Hashed(name, bits, pairs)


def _is_xor(instance: ExternInstance) -> bool:
    return constant_name(instance, 0) in _XORS


def _text(instance: ExternInstance, hashed: _Hashed, width: int) -> str:
    words = _XORS.get(constant_name(instance, 0))
    crc = _crc(instance)
    if words is not None:
        text = f"{hashed.name}.xor_of_words<{words}>()"
    elif crc is None:
        text = f"{hashed.name}.low_bits<{min(width, hashed.bits)}>()"
    else:
        text = f"{hashed.name}.crc<{crc.parameters}>()"
        if crc.repeats and width > crc.width:
            return f"repeat_bits<{crc.width}, {width}>({text})"
    return f"to_bit<{width}>({text})"


def _declare_dynamic(
    emission: Emission, instance: ExternInstance, dynamic: DynamicHash, hashed: _Hashed
) -> None:
    """A member that knows the fields (src/dataplane/dynamic_hash.h), and its name."""
    behind = -hashed.bits % 8 if _is_xor(instance) else 0
    fields = ", ".join(
        f'{{"{field.name}", {field.width}, {str(field.value is not None).lower()}}}'
        for field in dynamic.fields
    )
    # Both by their lowest bits.
    pairs = ", ".join(
        f"{{{hashed.bits - first - bits}, {hashed.bits - second - bits}, {bits}}}"
        for first, second, bits in hashed.pairs
    )
    constants = 0
    for field in dynamic.fields:
        mask = (1 << field.width) - 1
        constants = constants << field.width | (0 if field.value is None else field.value & mask)
    constants <<= behind
    words = ", ".join(
        f"{constants >> shift & 0xFFFF_FFFF_FFFF_FFFF:#x}ULL"
        for shift in range(0, hashed.bits + behind, 64)
    )
    shape = (
        f".bits = {hashed.bits}, .zeros_behind = {behind}, .width = {dynamic.width}, "
        f".used_low = {dynamic.used_low}, .used_bits = {dynamic.used_bits}, "
        f".fields = {{{fields}}}, .pairs = {{{pairs}}}, .constants = {{{words}}}"
    )
    algorithm = _algorithm(instance, dynamic.width)
    emission.members.add(f"DynamicHash {instance.identifier}_{{{{{shape}}}, {algorithm}}};")
    name = control_name(emission, instance.path)
    emission.setup.add(f'add_hash("{name}", {instance.identifier}_);')


def _algorithm(instance: ExternInstance, width: int) -> str:
    """C++ of a HashAlgorithm, with the control plane's names."""
    name = constant_name(instance, 0)
    if name in _XORS:
        return f'named_hash_algorithm("XOR", {_XORS[name]})'
    if name in ("IDENTITY", "RANDOM"):
        return f'named_hash_algorithm("{name}", {width})'
    if name != "CUSTOM":
        return f'named_hash_algorithm("{name.replace("CRC", "CRC_")}", {width}, true)'
    polynomial = instance.arguments[1]
    coefficient, reverse, _, extend, initial, final = polynomial.arguments
    crc_width = types.width_of(polynomial.type.arguments[0])
    flags = f".reverse = {str(reverse).lower()}, .extend = {str(extend).lower()}"
    return (
        f'.name = "", .kind = HashAlgorithm::Kind::kCrc, .width = {crc_width}, '
        f".polynomial = {coefficient:#x}ULL, .initial = {initial:#x}ULL, "
        f".final_xor = {final:#x}ULL, {flags}"
    ).join(("HashAlgorithm{", "}"))


def _crc(instance: ExternInstance) -> _Crc | None:
    """None for IDENTITY and XOR."""
    algorithm = constant_name(instance, 0)
    if algorithm != "CUSTOM":
        return _CRCS.get(algorithm)
    if len(instance.arguments) < 2:
        raise P4Error(
            instance.position, "HashAlgorithm_t.CUSTOM needs a CRCPolynomial as second argument"
        )
    return _polynomial(instance.arguments[1], types.width_of(instance.type.arguments[0]))


def _polynomial(instance: ExternInstance, hash_width: int | None) -> _Crc:
    """CRCPolynomial(coeff, reversed, msb, extended, init, xor). The Tofino compiler applies `xor`
    before it reverses the result, the usual model of a CRC (and crc.h) after. `msb` is about which
    bits a narrower hash takes.
    """
    coefficient, reversed_, msb, extended, initial, final = instance.arguments
    type_ = types.underlying(instance.type.arguments[0])
    if not isinstance(type_, types.Bit) or not 8 <= type_.width <= 64:
        raise unsupported(instance.position, f"a CRCPolynomial of {type_}", "bit<8> to bit<64>")
    width = type_.width
    if msb and width != hash_width:
        raise unsupported(
            instance.position,
            f"a CRCPolynomial of {type_} with msb for a Hash of another width",
            f"a Hash<{type_}>, or false for msb",
        )
    if reversed_:
        final = int(f"{final:0{width}b}"[::-1], 2)
    reflected = "true" if reversed_ else "false"
    return _Crc(
        f"CrcParameters{{{width}, {coefficient:#x}, {initial:#x}, {final:#x}, {reflected}}}",
        width,
        extended,
    )


class Polynomial(Extern):
    """CRCPolynomial: only an argument of Hash."""
