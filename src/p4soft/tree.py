"""Walks the syntax tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Iterator
from typing import Any, TypeGuard

from p4soft.frontend import syntax


def walk(root: Any) -> Iterator[syntax.Node]:
    """Every node under `root`, itself included, in the order of the source."""
    if isinstance(root, (list, tuple)):
        for item in root:
            yield from walk(item)
    elif isinstance(root, syntax.Node):
        yield root
        for item in dataclasses.fields(root):
            if item.init:  # the others are the checker's and lead elsewhere
                yield from walk(getattr(root, item.name))


def calls_action(node: syntax.Node) -> TypeGuard[syntax.Call]:
    """After the check."""
    return (
        isinstance(node, syntax.Call) and node.target is not None and node.target.kind == "action"
    )


def shape(node: Any) -> Hashable:
    """Equal for expressions that are written alike."""
    if isinstance(node, syntax.Node):
        fields = (f.name for f in dataclasses.fields(node) if f.init and "position" not in f.name)
        return (type(node).__name__, *(shape(getattr(node, name)) for name in fields))
    return tuple(map(shape, node)) if isinstance(node, list) else node
