"""How many bytes counters and meters take off a frame: @adjust_byte_count, or an argument.

On Tofino that is a property of the counter: one constant for all its calls. As the Tofino compiler
does, the argument of a call takes the place of the annotation.
"""

from __future__ import annotations

from collections.abc import Callable as Function
from collections.abc import Iterator
from typing import Any

from p4soft.check.symbols import Symbol
from p4soft.elaborate import ExternInstance, Pipeline
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

_COUNTING = ("Counter", "DirectCounter", "Meter", "DirectMeter")


def adjust_byte_counts(pipeline: Pipeline, program: syntax.Program) -> None:
    """Sets `byte_adjustment` of every counter and meter."""
    for extern in pipeline.externs():
        annotation = syntax.annotation(extern.annotations, "adjust_byte_count")
        if annotation is not None:
            extern.byte_adjustment = annotation.expression.value
    given: dict[ExternInstance, int] = {}
    places: list[tuple[Any, Function[[Symbol], Any]]] = [
        (block.declaration, block.find) for block in pipeline.all_blocks()
    ]
    top = [d for d in program.declarations if isinstance(d, (syntax.Action, syntax.Function))]
    for code, find in [*places, (top, pipeline.global_environment.get)]:
        for extern, argument in _arguments(code, find):
            value = _constant(argument)
            if given.setdefault(extern, value) != value:
                raise P4Error(
                    argument.position,
                    f"'{extern.path.rpartition('.')[2]}' is adjusted by {given[extern]} bytes "
                    f"elsewhere and by {value} here; Tofino has one adjustment per counter",
                )
    for extern, value in given.items():
        extern.byte_adjustment = value or extern.byte_adjustment


def _arguments(
    code: Any, find: Function[[Symbol], Any]
) -> Iterator[tuple[ExternInstance, syntax.Expression]]:
    """Every adjust_byte_count that code passes to a counter or meter."""
    for node in walk(code):
        if not isinstance(node, syntax.Call) or node.target is None or node.target.kind != "method":
            continue
        base = node.target.base
        extern = find(base.symbol) if isinstance(base, syntax.Name) else None
        if not isinstance(extern, ExternInstance) or extern.type.name not in _COUNTING:
            continue
        for parameter, argument in zip(node.target.parameters, node.target.arguments, strict=True):
            if parameter.name == "adjust_byte_count" and argument is not None:
                yield extern, argument


def _constant(argument: syntax.Expression) -> int:
    if argument.value is None:
        raise unsupported(argument.position, "adjust_byte_count that is no constant", "a constant")
    return int(argument.value)
