"""Walks the syntax tree."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

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
