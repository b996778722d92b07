"""Makes a program at fault smaller, while it stays at fault: delta debugging on its tree."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

from . import tree

_KEPT = ("parameters", "arguments", "directed", "matches", "keys", "data", "fields", "values")


@dataclasses.dataclass
class Case:
    program: tree.Program
    frames: list[tuple[int, bytes]]


def minimised(case: Case, is_at_fault: Callable[[Case], bool], attempts: int) -> Case:
    """The smallest found with so many attempts. Larger parts are left out first."""
    progress = True
    while progress and attempts > 0:
        progress = False
        for change in _changes(case):
            if attempts <= 0:
                break
            attempts -= 1
            smaller = copy.deepcopy(case)
            change(smaller)
            if _holds(is_at_fault, smaller):
                case, progress = smaller, True
                break
    return case


def _holds(is_at_fault: Callable[[Case], bool], case: Case) -> bool:
    """No, if what is left is no program, which the printer or the interpreter saw."""
    try:
        return is_at_fault(case)
    except (AttributeError, LookupError, ValueError):
        return False


Change = Callable[[Case], None]
# Attributes and indexes that lead from a case to a part of it; the same in a copy.
Path = tuple[str | int, ...]


def _changes(case: Case) -> Iterator[Change]:
    yield from _shorter_lists(case, ("frames",))
    if case.program.egress is not None:
        yield lambda smaller: setattr(smaller.program, "egress", None)
    lists, expressions, branches = [], [], []
    for path, part in _parts(case.program, ("program",)):
        if isinstance(part, list) and part and path[-1] not in _KEPT:
            lists.append((path, part))
        elif isinstance(part, tree.Expression):
            expressions.append((path, part))
        elif isinstance(part, tree.If):
            branches.append((path, part))
    for path, _ in sorted(lists, key=lambda each: -len(each[1])):
        yield from _shorter_lists(case, path)
    for path, part in branches:
        bodies = {"then": part.then, "otherwise": part.otherwise}
        yield from (_replacing(path, (*path, name)) for name, body in bodies.items() if body)
    for path, part in expressions:
        if not isinstance(part, (tree.Literal, tree.Place)):
            yield from (_replacing(path, (*path, name)) for name in _alike(part))
            yield _replacing(path, tree.Literal(part.type, 0))


def _shorter_lists(case: Case, path: Path) -> Iterator[Change]:
    """Without halves, quarters, … of a list."""
    length = len(_at(case, path))
    size = length
    while size:
        for start in range(0, length, size):
            yield _without(path, start, start + size)
        size //= 2


def _without(path: Path, start: int, end: int) -> Change:
    def change(case: Case) -> None:
        del _at(case, path)[start:end]

    return change


def _replacing(path: Path, by: Path | tree.Literal) -> Change:
    """By another part of the case, not a copy: tables stay the same in all places. A list takes the
    place of one element.
    """

    def change(case: Case) -> None:
        parent, last = _at(case, path[:-1]), path[-1]
        part = by if isinstance(by, tree.Literal) else _at(case, by)
        if isinstance(part, list):
            parent[last : last + 1] = part
        elif isinstance(last, int):
            parent[last] = part
        else:
            setattr(parent, last, part)

    return change


def _alike(expression: tree.Expression) -> Iterator[str]:
    """Operands that have the expression's type."""
    for item in dataclasses.fields(expression):
        inner = getattr(expression, item.name)
        if isinstance(inner, tree.Expression) and inner.type == expression.type:
            yield item.name


def _at(case: Case, path: Path) -> Any:
    part: Any = case
    for step in path:
        part = part[step] if isinstance(step, int) else getattr(part, step)
    return part


def _parts(part: Any, path: Path, seen: set[int] | None = None) -> Iterator[tuple[Path, Any]]:
    """Every list and node once, outer ones first."""
    seen = set() if seen is None else seen
    if id(part) in seen:
        return
    seen.add(id(part))
    if isinstance(part, list):
        yield path, part
        for number, item in enumerate(part):
            yield from _parts(item, (*path, number), seen)
    elif dataclasses.is_dataclass(part) and not isinstance(part, (tree.Bits, tree.Bool)):
        yield path, part
        for item in dataclasses.fields(part):
            yield from _parts(getattr(part, item.name), (*path, item.name), seen)
