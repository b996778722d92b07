"""Hash and CRCPolynomial."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance, constant_name
from p4soft.emit.externs.base import Extern, field_list
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter

_CRCS = {
    "CRC8": "kCrc8",
    "CRC16": "kCrc16",
    "CRC32": "kCrc32",
    "CRC64": "kCrc64",
    "RANDOM": "kRandomHash",
}
_XORS = {"XOR8": 8, "XOR16": 16, "XOR32": 32}


class Hash(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        """Nothing: the tables of a CRC belong to its parameters. Wrong ones are told here."""
        self._parameters(instance)

    def _parameters(self, instance: ExternInstance) -> str | None:
        """A constant of C++ CrcParameters, or None for IDENTITY and XOR."""
        algorithm = constant_name(instance, 0)
        if algorithm == "CUSTOM":
            if len(instance.arguments) < 2:
                raise P4Error(
                    instance.position,
                    "HashAlgorithm_t.CUSTOM needs a CRCPolynomial as second argument",
                )
            return _polynomial(instance.arguments[1])
        return _CRCS.get(algorithm)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        assert call.type is not None
        result = types.underlying(call.type)
        if not isinstance(result, types.Bit) or result.width > 64:
            raise unsupported(
                call.position, f"a hash of type {call.type}", "bit<W> with W up to 64"
            )
        fields, bits = field_list(emitter, target.arguments[0], skip_invalid=False)
        parameters = self._parameters(instance)
        if parameters is not None:
            return f"to_bit<{result.width}>(crc<{parameters}>({fields}.bytes()))"
        pieces = _XORS.get(constant_name(instance, 0))
        if pieces is not None:
            if result.width > pieces:
                raise P4Error(
                    call.position, f"an XOR{pieces} hash has no {result.width} bits to give"
                )
            return f"to_bit<{result.width}>({fields}.xor_of_words<{pieces}>())"
        if result.width > bits:
            raise P4Error(
                call.position, f"an IDENTITY hash of {bits} bits cannot give {result.width}"
            )
        return f"{fields}.low_bits<{result.width}>()"


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
    return (
        f"CrcParameters{{{type_.width}, {coefficient:#x}, {initial:#x}, {final:#x}, {reflected}}}"
    )


class Polynomial(Extern):
    """CRCPolynomial: only an argument of Hash."""
