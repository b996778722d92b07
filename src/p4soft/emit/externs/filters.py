"""Lpf and Wred, and their direct forms: averages that follow a field of packets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance
from p4soft.emit.externs.base import Extern, control_name
from p4soft.emit.state import Emission
from p4soft.errors import P4Error
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter

MAX_WIDTH = 32  # bits of what is averaged


def is_wred(instance: ExternInstance) -> bool:
    return instance.type.name.endswith("Wred")


def kind_text(instance: ExternInstance) -> str:
    return "FilterKind::kWred" if is_wred(instance) else "FilterKind::kLpf"


class Filter(Extern):
    """An Lpf or Wred: a cell for each index."""

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        _check_type(instance)
        kind = instance.type.name
        emission.members.add(f"{kind} {instance.identifier}_{{{instance.arguments[0]}}};")
        name = control_name(emission, instance.path)
        emission.setup.add(f'add_filter("{name}", {instance.identifier}_);')
        _declare_random(emission, instance)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        texts = emitter.arguments(call, target)
        function = f"{instance.identifier}_.execute"
        return _execute(emitter, instance, function, [texts["index"], texts["val"]])


class DirectFilter(Extern):
    """A DirectLpf or DirectWred: a cell in each entry of its table."""

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        _check_type(instance)
        _declare_random(emission, instance)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        emitter.require_direct(instance, call.position)
        table = instance.table
        cell = "WredCell" if is_wred(instance) else "LpfCell"
        entry = f"frame_.{table.identifier}_entry_"
        function = f"{entry}.execute_filter<{cell}, {table.filter_start}>"
        texts = emitter.arguments(call, target)
        return _execute(emitter, instance, function, [texts["val"]])


def _check_type(instance: ExternInstance) -> None:
    type_ = types.underlying(instance.type.arguments[0])
    if not isinstance(type_, types.Bit) or type_.width > MAX_WIDTH:
        raise P4Error(
            instance.position,
            f"{instance.type.name} of {instance.type.arguments[0]}; expected bit<W> of at most "
            f"{MAX_WIDTH} bits",
        )


def _declare_random(emission: Emission, instance: ExternInstance) -> None:
    """Where chance decides on packets."""
    if is_wred(instance):
        emission.members.add(f"Random {instance.identifier}_random_;")
        emission.setup.add(f"add_random({instance.identifier}_random_);")


def _execute(
    emitter: BlockEmitter, instance: ExternInstance, function: str, arguments: list[str]
) -> str:
    """The average, or the value for a packet that is dropped or is not."""
    arguments = [*arguments, "now_ns_"]
    if is_wred(instance):
        arguments.append(f"{instance.identifier}_random_")
    result = emitter.temporary("filtered")
    emitter.lines.add(f"[[maybe_unused]] const auto {result} = {function}({', '.join(arguments)});")
    if is_wred(instance):
        drop, keep = instance.arguments[-2:]
        return f"Unsigned<8>{{static_cast<std::uint8_t>({result} ? {drop} : {keep})}}"
    width = types.width_of(instance.type.arguments[0]) or 0
    largest = f"{(1 << width) - 1:#x}ULL"
    return f"to_bit<{width}>(std::min<std::uint64_t>({result}, {largest}))"
