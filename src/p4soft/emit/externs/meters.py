"""Meter and Random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance, constant_name
from p4soft.emit.externs.base import Extern, control_name
from p4soft.emit.externs.counters import counted_bytes
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


class Meter(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        unit = "kBytes" if meter_unit(instance) == "BYTES" else "kPackets"
        size = instance.arguments[0]
        emission.members.add(f"Meter {instance.identifier}_{{{size}, Meter::Unit::{unit}}};")
        name = control_name(emission, instance.path)
        emission.setup.add(f'add_meter("{name}", {instance.identifier}_);')

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if emitter.in_parser:
            raise P4Error(call.position, "a meter is executed here; only controls can, not parsers")
        texts = emitter.arguments(call, target)
        place = texts["index"]
        arguments = [place, counted_bytes(instance), "now_ns_"]
        if "color" in texts:
            arguments.append(texts["color"])
        result = emitter.temporary("color")
        text = f"{instance.identifier}_.execute({', '.join(arguments)})"
        emitter.lines.add(f"[[maybe_unused]] const std::uint8_t {result} = {text};")
        name = control_name(emitter.emission, instance.path)
        emitter.lines.trace(f'trace_.metered("{name}", {place}, {result});')
        values = instance.arguments[2:]  # for red, yellow and green, where the program gives them
        return f"color_value({result}, {', '.join(map(str, values))})" if values else result


def meter_unit(instance: ExternInstance) -> str:
    """PACKETS or BYTES."""
    return constant_name(instance, 1)


class Random(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        emission.members.add(f"Random {instance.identifier}_;")
        emission.setup.add(f"add_random({instance.identifier}_);")

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        assert call.type is not None
        result = types.underlying(call.type)
        if not isinstance(result, types.Bit):
            raise unsupported(call.position, f"a Random of {call.type}", "bit<W>")
        name = emitter.temporary("random")
        emitter.lines.add(f"const auto {name} = {instance.identifier}_.get<{result.width}>();")
        emitter.lines.trace(f'trace_.drew("{instance.path}", {name});')
        return name
