"""What every node has, and annotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from p4soft.errors import Position


def node(cls: type) -> type:
    return dataclass(eq=False, slots=True)(cls)


@node
class Node:
    position: Position


@node
class Annotation(Node):
    name: str
    arguments: list[Any]  # tokens as written
    expression: Any = None  # instead of tokens, where the argument is an expression


def annotation(nodes: list[Annotation], name: str) -> Annotation | None:
    return next((a for a in nodes if a.name == name), None)
