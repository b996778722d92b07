"""What the externs share: the base class, and lists of fields."""

from __future__ import annotations

from collections.abc import Callable as Function
from typing import TYPE_CHECKING, Any, Literal

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance
from p4soft.emit.cpp_types import to_raw
from p4soft.emit.order import Part
from p4soft.emit.state import Emission
from p4soft.emit.text import Lines
from p4soft.errors import P4Error
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


class Extern:
    """One kind of extern."""

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        """Adds members to the program's class."""

    def define(self, emitter: BlockEmitter, instance: ExternInstance, output: Lines) -> None:
        """Adds member functions that need the frame of the instance's block."""

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        """C++ text of a method's result; what must happen before goes to `emitter.lines`."""
        raise NotImplementedError


def field_list(
    emitter: BlockEmitter,
    data: syntax.Expression | list[syntax.Expression],
    *,
    kind: Literal["FieldList", "HashInput"] = "FieldList",
    skip_invalid: bool = False,
    zeros: Literal["before", "behind"] | None = None,
    change: Function[[list[Part]], list[Part]] = lambda parts: parts,
) -> tuple[str, int]:
    """Emits the bits of `data` side by side; returns the variable's name and the number of bits.
    `kind` is the variable's class.

    With `skip_invalid`, fields of invalid headers count as 0, as in the ASIC's checksum units.
    `zeros` says where bits are added to make whole bytes; None: it is an error if they are needed.
    `change` gives the fields that take the place of those of `data`.
    """
    expressions = data if isinstance(data, list) else [data]
    parts = change([part for each in expressions for part in emitter.flatten(each)])
    bits = sum(types.width_of(part.type) or 0 for part in parts)
    padding = -bits % 8
    if padding and zeros is None:
        raise P4Error(
            expressions[0].position,
            f"these fields have {bits} bits; expected whole bytes, add constant padding",
        )
    name = emitter.temporary("fields")
    emitter.lines.add(f"{kind}<{bits + padding}> {name};")
    offset = padding if zeros == "before" else 0
    for part in parts:
        width = types.width_of(part.type) or 0
        raw = to_raw(part.text, part.type)
        if skip_invalid and part.valid:
            raw = f"{part.valid} ? {raw} : Unsigned<{width}>{{0}}"
        emitter.lines.add(f"{name}.put<{offset}, {width}>({raw});")
        offset += width
    return name, bits


def top_block(emission: Emission, instance: ExternInstance) -> str:
    """Which of the pipeline's blocks an extern lies in: 'ingress_deparser', ..."""
    block = instance.owner
    while block is not None and block.parent is not None:
        block = block.parent
    return next((n for n, b in emission.pipeline.blocks.items() if b is block), "no block")


def control_name(emission: Emission, path: str) -> str:
    """The name in the control plane: `pipe.SwitchIngress.partition`."""
    return f"{emission.pipeline.name}.{path}"
