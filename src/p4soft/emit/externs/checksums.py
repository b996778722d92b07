"""Checksum of parsers and deparsers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance
from p4soft.emit.externs import residuals
from p4soft.emit.externs.base import Extern, field_list, top_block
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


class Checksum(Extern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if target.name == "update" and not emitter.in_parser:
            return self._update(emitter, target)
        if not emitter.in_parser:
            raise P4Error(
                call.position, f"Checksum.{target.name} belongs in a parser; a deparser has update"
            )
        place = f"frame_.{instance.identifier}_"
        if target.name in ("add", "subtract"):
            fields, _ = field_list(emitter, target.arguments[0])
            emitter.lines.add(f"{place}.{target.name}({fields}.bytes());")
            return ""
        if target.name == "verify":
            return f"{place}.verify()"
        if target.name == residuals.DEPOSIT:
            assert target.arguments[0] is not None
            residuals.deposit(emitter, call, target.arguments[0])
            return ""
        if target.name == "get":
            raise P4Error(
                call.position,
                "Checksum.get is known when the parser ends; expected an assignment of it alone: "
                "`md.residue = sum.get();`",
            )
        raise P4Error(call.position, f"Checksum.{target.name} belongs in a deparser")

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        if not top_block(emission, instance).endswith("parser"):  # a deparser's name does, too
            raise P4Error(
                instance.position, "a Checksum belongs in a parser or deparser of the pipeline"
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
