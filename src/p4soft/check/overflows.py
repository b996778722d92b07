"""Constants that their types have no room for: they are cut off, with a warning, as by p4c."""

from __future__ import annotations

from collections.abc import Iterator

from p4soft.errors import P4Warning
from p4soft.frontend import syntax
from p4soft.tree import walk


def overflows(program: syntax.Program) -> Iterator[P4Warning]:
    """After the check."""
    for node in walk(program.declarations):
        if isinstance(node, syntax.Expression) and node.cut_from is not None:
            yield P4Warning(
                node.position,
                f"{node.cut_from} does not fit in {node.type}, which makes it {node.value}",
            )
