"""Names that the control plane has for things of a pipeline: each means one of them."""

from __future__ import annotations

from collections.abc import Iterator

from p4soft.elaborate import Pipeline
from p4soft.errors import P4Error, Position

# Externs that are tables to the control plane.
_NAMED = frozenset(
    ["ActionProfile", "ActionSelector", "Counter", "Digest", "Lpf", "Meter", "Register",
     "RegisterParam", "Wred"]
)  # fmt: skip


def check_control_names(pipeline: Pipeline) -> None:
    """Raises P4Error where two have the same, by @name or by controls of one name."""
    places: dict[str, Position] = {}
    for name, position in _named(pipeline):
        if name in places:
            raise P4Error(
                position,
                f"the control plane calls this '{name}', and so it does what is at "
                f"{places[name]}; give one of them another @name",
            )
        places[name] = position


def _named(pipeline: Pipeline) -> Iterator[tuple[str, Position]]:
    for table in pipeline.known_tables():
        yield table.path, table.declaration.position
    for value_set in pipeline.known_value_sets():
        yield value_set.path, value_set.symbol.position
    for extern in pipeline.known_externs():
        if extern.type.name in _NAMED:
            yield extern.path, extern.position
