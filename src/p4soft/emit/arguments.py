"""Arguments of actions, functions, controls and parsers: copy-in, copy-out (P4-16, section 6.8).

Scalars that the callee writes are copied in and out. Headers and structs go by reference where no
one can tell the difference, and else are copied too: where another argument overlaps, where a later
argument does something before the call, and in calls of actions, which see the variables around.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from p4soft.check import types
from p4soft.check.symbols import Target, VariableSymbol
from p4soft.emit.cpp_types import cpp_type, is_scalar
from p4soft.emit.expressions import ExpressionEmitter
from p4soft.emit.order import last_with_lines, written_order
from p4soft.emit.text import Lines
from p4soft.frontend import syntax
from p4soft.tree import walk


@dataclass(eq=False)
class _Argument:
    parameter: VariableSymbol
    expression: syntax.Expression | None  # None: left out, or `_`
    text: str  # a value, or the place to write
    before: Lines

    @property
    def is_written(self) -> bool:
        return self.parameter.direction in ("out", "inout")

    @property
    def is_whole(self) -> bool:
        """A header, struct, stack or tuple."""
        type_ = self.parameter.type
        return not is_scalar(type_) and not isinstance(type_, types.Generic)

    def is_alone(self, arguments: Sequence[_Argument]) -> bool:
        others = [other for other in arguments if other is not self]
        return self.is_whole and not any(self.is_disturbed_by(other) for other in others)

    def is_disturbed_by(self, other: _Argument) -> bool:
        """Whether a reference to this argument is not the same as a copy, because of the other."""
        if self.expression is None or other.expression is None:
            return False
        if not (
            other.is_written
            or (self.is_written and other.is_whole)
            or self.parameter.direction == "out"  # it becomes invalid before the other is read
        ):
            return False
        return _is_part(self.text, other.text) or _is_part(other.text, self.text)


class ArgumentEmitter(ExpressionEmitter):
    def pass_arguments(
        self,
        function: str,
        target: Target,
        written: Sequence[syntax.Argument],
        *,
        first: Sequence[str] = (),
        last: Sequence[str] = (),
        result: str = "",
    ) -> None:
        """Emits the call `result function(first, arguments, last);`. `written` is the arguments as
        they stand in the program, which is the order of their evaluation.
        """
        order = written_order(target, written)
        arguments = [self._argument(target, i) for i in order]
        steady_from = last_with_lines([argument.before for argument in arguments])
        texts: dict[int, str] = {}
        copy_out: list[tuple[syntax.Expression, str]] = []
        for place, (i, argument) in enumerate(zip(order, arguments, strict=True)):
            self.lines.append(argument.before)
            is_last = place >= steady_from
            undisturbed = is_last and target.kind != "action" and argument.is_alone(arguments)
            texts[i] = self._handed_over(argument, undisturbed, is_last)
            if argument.is_written and texts[i] != argument.text and argument.expression:
                copy_out.append((argument.expression, texts[i]))
        all_texts = [*first, *(texts[i] for i in sorted(texts)), *last]
        self.lines.add(f"{result}{function}({', '.join(all_texts)});")
        for argument in arguments:
            if argument.is_written and argument.expression is not None:
                self.written(argument.expression)
        for place_written, variable in copy_out:
            self.store(place_written, variable)
        self.forget_places([argument.expression for argument in arguments])

    def written(self, place: syntax.Expression) -> None:
        """After a write to a place: what is the same by @pa_alias follows."""
        raise NotImplementedError

    def _argument(self, target: Target, number: int) -> _Argument:
        parameter, expression = target.parameters[number], target.arguments[number]
        if expression is None or isinstance(expression, syntax.DefaultExpression):
            return _Argument(parameter, None, "", Lines())

        def text() -> str:
            if parameter.direction in ("out", "inout"):
                self.save_place(expression)
            return self.value(expression)

        return _Argument(parameter, expression, *self.captured(text))

    def _handed_over(self, argument: _Argument, by_reference: bool, is_last: bool) -> str:
        """The C++ argument: the text itself, or a copy of its present value."""
        parameter = argument.parameter
        if isinstance(parameter.type, types.Generic):  # packet_in, packet_out
            return argument.text
        if argument.expression is not None and not argument.is_written:
            as_it_is = by_reference if argument.is_whole else is_last
            return argument.text if as_it_is else self.frozen(argument.text)
        type_ = cpp_type(parameter.type)
        if by_reference and argument.expression is not None:
            if parameter.direction == "out":  # headers begin invalid
                self.lines.add(f"{argument.text} = {type_}{{}};")
            return argument.text
        copy = self.temporary("copy")
        begins_as_argument = argument.expression is not None and (
            parameter.direction == "inout" or is_unicast_port(argument.expression)
        )
        self.lines.add(f"{type_} {copy} = {argument.text if begins_as_argument else '{}'};")
        return copy

    def save_place(self, target: syntax.Expression) -> None:
        """An l-value is found once, before what comes after it: `stack.next` may move."""
        for node in walk(target):
            if not isinstance(node, syntax.Member) or node.name not in ("next", "last"):
                continue
            if isinstance(node.base.type, types.Stack):
                place = self.temporary("place")
                self.lines.add(f"auto& {place} = {self.value(node)};")
                self.saved_places[node] = place
                return

    def forget_places(self, targets: Sequence[syntax.Expression | None]) -> None:
        for node in walk(targets):
            self.saved_places.pop(node, None)  # type: ignore[call-overload]


def is_unicast_port(place: syntax.Expression) -> bool:
    """A callee that does not assign its out parameter has not assigned a port: there is no unicast
    copy. Other out parameters begin at zero.
    """
    return (
        isinstance(place, syntax.Member)
        and place.name == "ucast_egress_port"
        and isinstance(place.base.type, types.Composite)
        and place.base.type.name == "ingress_intrinsic_metadata_for_tm_t"
    )


def _is_part(place: str, text: str) -> bool:
    """Whether a C++ text mentions a place or something inside it."""
    return re.search(rf"(?<![\w.]){re.escape(place)}(?!\w)", text) is not None
