"""Meter, DirectMeter and Random."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance, constant_name
from p4soft.emit.externs.base import Extern, control_name
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


class Meter(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        arguments = f"{instance.arguments[0]}, {unit_text(instance)}, {byte_count_adjust(instance)}"
        emission.members.add(f"Meter {instance.identifier}_{{{arguments}}};")
        name = control_name(emission, instance.path)
        emission.setup.add(f'add_meter("{name}", {instance.identifier}_);')

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if emitter.in_parser:
            raise P4Error(call.position, "a meter is executed here; only controls can, not parsers")
        texts = emitter.arguments(call, target)
        place = texts["index"]
        function = f"{instance.identifier}_.execute"
        first = [place, "packet_bytes_"]
        return _execute(emitter, instance, function, first, texts, f"{place}, ")


class DirectMeter(Extern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        emitter.require_direct(instance, call.position)
        table = instance.table
        texts = emitter.arguments(call, target)
        function = f"frame_.{table.identifier}_entry_.execute_meter<{table.meter_start}>"
        counted = f"packet_bytes_ + {table.identifier}_.byte_count_adjust()"
        first = [unit_text(instance), counted]
        return _execute(emitter, instance, function, first, texts, "")


def _execute(
    emitter: BlockEmitter,
    instance: ExternInstance,
    function: str,
    first: list[str],
    texts: dict[str, str],
    traced: str,
) -> str:
    """The colour of the packet, as the program wants to have it. `first`: the function's arguments
    down to the bytes; `texts`: the method's; `traced`: those of the trace, between the meter's name
    and the colour.
    """
    arguments = [*first, "now_ns_"]
    if "color" in texts:
        arguments.append(texts["color"])
    result = emitter.temporary("color")
    text = f"{function}({', '.join(arguments)})"
    emitter.lines.add(f"[[maybe_unused]] const std::uint8_t {result} = {text};")
    name = control_name(emitter.emission, instance.path)
    emitter.lines.trace(f'trace_.metered("{name}", {traced}{result});')
    unit = _unit_place(instance)
    values = instance.arguments[unit + 1 :]  # for red, yellow, green, where the program gives them
    return f"color_value({result}, {', '.join(map(str, values))})" if values else result


def _unit_place(instance: ExternInstance) -> int:
    """Which of the constructor's arguments is the unit."""
    return 0 if instance.type.name == "DirectMeter" else 1


def meter_unit(instance: ExternInstance) -> str:
    """PACKETS or BYTES."""
    return constant_name(instance, _unit_place(instance))


def byte_count_adjust(instance: ExternInstance) -> int:
    """What is added to the bytes of each frame until the control plane says otherwise."""
    return -instance.byte_adjustment


def unit_text(instance: ExternInstance) -> str:
    return "MeterUnit::kBytes" if meter_unit(instance) == "BYTES" else "MeterUnit::kPackets"


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
