"""Counter and DirectCounter."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance
from p4soft.emit.externs.base import Extern, control_name
from p4soft.emit.state import Emission
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


def counted_bytes(instance: ExternInstance) -> str:
    if instance.byte_adjustment == 0:
        return "packet_bytes_"
    return f"std::int64_t{{packet_bytes_}} - ({instance.byte_adjustment})"


class Counter(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        emission.members.add(f"Counter {instance.identifier}_{{{instance.arguments[0]}}};")
        emission.setup.add(
            f'add_counter("{control_name(emission, instance.path)}", {instance.identifier}_);'
        )

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        index = target.arguments[0]
        assert index is not None
        place = emitter.value(index)
        emitter.lines.add(f"{instance.identifier}_.count({place}, {counted_bytes(instance)});")
        name = control_name(emitter.emission, instance.path)
        emitter.lines.trace(f'trace_.counted("{name}", {place});')
        return ""


class DirectCounter(Extern):
    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        emitter.require_direct(instance, call.position)
        entry = f"frame_.{instance.table.identifier}_entry_"
        emitter.lines.add(f"{entry}.count({counted_bytes(instance)});")
        return ""
