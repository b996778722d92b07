"""Hash and CRCPolynomial."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance, constant_name
from p4soft.emit.externs.base import Extern, field_list
from p4soft.emit.externs.symmetry import with_symmetric_pairs
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
        """Nothing: the tables of a CRC belong to its parameters. Wrong ones are told here."""
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
        return _text(emitter, instance, target.arguments[0], width, call.position)


def hash_of(
    emitter: BlockEmitter, instance: ExternInstance, fields: list[syntax.Expression]
) -> str:
    """The hash of fields side by side, as wide as the instance's type."""
    width = _width(instance.type.arguments[0], instance.position)
    return _text(emitter, instance, fields, width, instance.position)


def _width(type_: types.Type, position: Position) -> int:
    result = types.underlying(type_)
    if not isinstance(result, types.Bit) or result.width > 64:
        raise unsupported(position, f"a hash of type {type_}", "bit<W> with W up to 64")
    return result.width


def _text(
    emitter: BlockEmitter,
    instance: ExternInstance,
    data: syntax.Expression | list[syntax.Expression],
    width: int,
    position: Position,
) -> str:
    words = _XORS.get(constant_name(instance, 0))
    zeros: Literal["before", "behind"] = "before" if words is None else "behind"
    crc = _crc(instance)
    fields, bits = field_list(
        emitter,
        data,
        kind="HashInput",
        zeros=zeros,
        change=lambda parts: with_symmetric_pairs(instance, parts, position),
    )
    if words is not None:
        text = f"{fields}.xor_of_words<{words}>()"
    elif crc is None:
        text = f"{fields}.low_bits<{min(width, bits)}>()"
    else:
        text = f"{fields}.crc<{crc.parameters}>()"
        if crc.repeats and width > crc.width:
            return f"repeat_bits<{crc.width}, {width}>({text})"
    return f"to_bit<{width}>({text})"


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
