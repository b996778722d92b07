"""The local variables of a RegisterAction: what each stands for where it is read.

A variable stands for the expression that it was made from, as long as nothing that this reads has
been written since. After that, a copy of a field of the cell is still the field as it was read;
anything computed needs a place of its own (Computed), and so does a variable of several values.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeGuard

from p4soft.check.symbols import VariableSymbol
from p4soft.frontend import syntax
from p4soft.frontend.syntax.base import node
from p4soft.tree import shape, walk


@node
class Frozen(syntax.Expression):
    """A field of the cell, as it was when a local variable got its value."""

    half: int
    written: int  # the outcomes in which it had been written by then


@node
class Computed(syntax.Expression):
    """A variable that does not stand for any expression here."""

    symbol: VariableSymbol


@dataclass(eq=False)
class Binding:
    predicate: int  # where the variable still has this value
    value: syntax.Expression
    assigned: int  # where it got it


class Locals:
    def __init__(self, written: dict[int | None, int]) -> None:
        self._written = written  # by half: the outcomes in which it has been written, kept up
        self._bindings: dict[VariableSymbol, list[Binding]] = {}

    def declare(self, symbol: VariableSymbol) -> None:
        self._bindings[symbol] = []

    def has(self, node: syntax.Node) -> TypeGuard[syntax.Name]:
        return isinstance(node, syntax.Name) and node.symbol in self._bindings

    def bind(self, symbol: VariableSymbol, predicate: int, value: syntax.Expression) -> None:
        """From here on it has this value where the predicate holds. All names in it are frozen."""
        bindings = self._bindings[symbol]
        for binding in bindings:
            binding.predicate &= ~predicate
        kept = [binding for binding in bindings if binding.predicate]
        self._bindings[symbol] = [*kept, Binding(predicate, value, predicate)]

    def bindings(self, symbol: VariableSymbol, predicate: int) -> list[Binding]:
        everywhere = self._bindings[symbol]
        return [b for b in everywhere if b.predicate & predicate or not predicate]

    def read(self, name: syntax.Name, predicate: int) -> syntax.Expression | None:
        """None: it has no value."""
        assert isinstance(name.symbol, VariableSymbol)
        bindings = self.bindings(name.symbol, predicate)
        if not bindings:
            return None
        value = bindings[0].value
        is_one = len({shape(binding.value) for binding in bindings}) == 1
        parts = value.items if isinstance(value, syntax.ListExpression) else [value]
        are_copies = all(copied(part) is not None for part in parts)
        if is_one and (are_copies or not self.is_stale(value, predicate)):
            return value
        computed = Computed(name.position, name.symbol)
        computed.type = name.type
        return computed

    def is_stale(self, value: syntax.Expression, predicate: int) -> bool:
        """Whether it reads what has been written since."""
        return any(
            (part.written ^ self._written.get(part.half, 0)) & predicate
            for part in walk(value)
            if isinstance(part, Frozen)
        )


def copied(value: syntax.Expression) -> Frozen | None:
    """The field of the cell that this copies."""
    while isinstance(value, syntax.Cast):
        value = value.operand
    return value if isinstance(value, Frozen) else None


def replaced(
    root: Any, replacement: Callable[[syntax.Expression], syntax.Expression | None]
) -> Any:
    """A copy of the tree with other expressions where there is a replacement."""
    if isinstance(root, list):
        return [replaced(item, replacement) for item in root]
    if not isinstance(root, syntax.Node):
        return root
    if isinstance(root, syntax.Expression) and (other := replacement(root)) is not None:
        return other
    result = copy.copy(root)
    for item in dataclasses.fields(root):
        if item.init:  # the others are the checker's and lead elsewhere
            setattr(result, item.name, replaced(getattr(root, item.name), replacement))
    if isinstance(result, syntax.Call):
        result.target = copy.copy(result.target)
        result.target.arguments = replaced(result.target.arguments, replacement)
    return result
