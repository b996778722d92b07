"""The order of evaluation: operands and arguments from left to right (P4-16 specification, 6.8, 8).

What an operand does before its text can be read (a call, a draw of a random number) is a list of
lines. An earlier operand, whose text is read after those lines, goes to a variable before them.
Where no operand has lines nothing is added.
"""

from __future__ import annotations

import re
from collections.abc import Callable as Function
from collections.abc import Iterator, Sequence
from typing import NamedTuple, TypeVar

from p4soft.check import types
from p4soft.check.symbols import Target
from p4soft.emit.naming import identifier
from p4soft.emit.state import BlockState
from p4soft.emit.text import Lines
from p4soft.frontend import syntax

_Value = TypeVar("_Value")
# What `temporary` makes, and constants: nothing changes them.
_STEADY = re.compile(r"[a-z]+\d+_|true|false|Unsigned<\d+>\{\w+\}")


class Part(NamedTuple):
    """One scalar of a list, header or struct."""

    text: str
    type: types.Type
    valid: str  # the condition of its header's validity, or ""
    name: str  # as it is written in the program


PADDING = "@padding"  # the name of bits that only the layout of a header has


def header_parts(text: str, header: types.Composite, name: str) -> Iterator[Part]:
    """The scalars of a header and its padding, as on the wire."""
    valid = f"{text}.valid_"
    for path, type_, padding in types.wire_fields(header):
        if padding:
            yield Part(f"Unsigned<{padding}>{{0}}", types.Bit(padding), "", PADDING)
        place = ".".join([text, *map(identifier, path)])
        yield Part(place, type_, valid, ".".join([name, *path]))


class OrderedEmitter(BlockState):
    def value(self, expression: syntax.Expression) -> str:
        raise NotImplementedError

    def captured(self, step: Function[[], _Value]) -> tuple[_Value, Lines]:
        """What an emitting function returns, and apart from it what must happen before."""
        outer, self.lines = self.lines, Lines()
        value = step()
        before, self.lines = self.lines, outer
        return value, before

    def in_order(
        self,
        steps: Sequence[Function[[], _Value]],
        freeze: Function[[_Value], _Value],
    ) -> list[_Value]:
        """What the steps return, as if each was read before the next one runs."""
        captured = [self.captured(step) for step in steps]
        last = last_with_lines([before for _, before in captured])
        values = []
        for i, (value, before) in enumerate(captured):
            self.lines.append(before)
            values.append(freeze(value) if i < last else value)
        return values

    def values(self, operands: Sequence[syntax.Expression]) -> list[str]:
        steps = [lambda operand=operand: self.value(operand) for operand in operands]
        return self.in_order(steps, self.frozen)

    def frozen(self, text: str) -> str:
        """The present value of a C++ text."""
        if _STEADY.fullmatch(text):
            return text
        name = self.temporary("operand")
        self.lines.add(f"[[maybe_unused]] const auto {name} = {text};")
        return name

    def frozen_parts(self, parts: list[Part]) -> list[Part]:
        return [
            part._replace(text=self.frozen(part.text), valid=part.valid and self.frozen(part.valid))
            for part in parts
        ]

    def arguments(
        self,
        call: syntax.Call,
        target: Target,
        **readers: Function[[syntax.Expression], str],
    ) -> dict[str, str]:
        """The texts of an extern's arguments by the names of their parameters; without those left
        out. `readers` takes the place of `value` for a parameter.
        """
        given = [
            (target.parameters[i].name, target.arguments[i])
            for i in written_order(target, call.arguments)
            if target.arguments[i] is not None
        ]
        steps = [
            lambda name=name, argument=argument: readers.get(name, self.value)(argument)
            for name, argument in given
        ]
        texts = self.in_order(steps, self.frozen)
        return dict(zip((name for name, _ in given), texts, strict=True))


def last_with_lines(befores: Sequence[Lines]) -> int:
    """The index of the last list of lines that is not empty; 0 if all are."""
    return max((i for i, before in enumerate(befores) if not before.is_empty()), default=0)


def written_order(target: Target, written: Sequence[syntax.Argument]) -> list[int]:
    """The numbers of the parameters in the order of a call's arguments, which may have names."""
    expressions = [argument.expression for argument in written]
    places = {id(expression): i for i, expression in enumerate(expressions)}
    numbers = range(len(target.parameters))
    return sorted(numbers, key=lambda i: places.get(id(target.arguments[i]), len(places)))
