"""Follows all paths through a control, and what may be true of a packet on them.

A subclass says what a state is, how those of several paths merge, and what a call does to one. Of
a condition that it does not understand, both outcomes are possible.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

from p4soft.check import types
from p4soft.check.symbols import ActionSymbol, Target, VariableSymbol
from p4soft.elaborate import BlockInstance
from p4soft.frontend import syntax
from p4soft.known_conditions import known

State = TypeVar("State")


class PathEndedError(Exception):
    """No path goes on after this statement."""


class Paths(Generic[State]):
    def __init__(self) -> None:
        self._returned: list[list[State]] = []  # per body being followed
        self.exited: list[State] = []

    # --- For subclasses ---------------------------------------------------------------------------

    def merged(self, states: list[State]) -> State:
        """What may be true after one of several paths; there is at least one."""
        raise NotImplementedError

    def primitive(self, call: syntax.Call, block: BlockInstance, state: State) -> State:
        """After a call of a builtin or of an extern."""
        raise NotImplementedError

    def lookup(
        self, table: syntax.Table, at: syntax.Expression, block: BlockInstance, state: State
    ) -> State:
        """A table is about to be applied."""
        return state

    def bind(self, parameter: VariableSymbol, argument: syntax.Expression | None) -> None:
        """A call is about to be followed."""

    def assignment(self, node: syntax.Assignment, state: State) -> State:
        """After both sides have been evaluated."""
        return state

    def variable(self, node: syntax.Variable, state: State) -> State:
        """After its initial value has been evaluated."""
        return state

    def read(self, node: syntax.Expression, state: State) -> None:
        """A name or member is evaluated."""

    def branch(
        self, condition: syntax.Expression, block: BlockInstance, state: State
    ) -> tuple[State | None, State | None]:
        """What may be true if the condition holds, and if not; None: that cannot be."""
        state = self.expression(condition, block, state)
        return state, state

    # --- Statements -------------------------------------------------------------------------------

    def apply(self, block: BlockInstance, state: State) -> State:
        """Raises PathEndedError if every path exits."""
        assert isinstance(block.declaration, syntax.Control)
        for local in block.declaration.locals:
            if isinstance(local, syntax.Variable):
                state = self.statement(local, block, state)
        return self._body(block.declaration.body, block, state)

    def _body(self, body: syntax.Statement | None, block: BlockInstance, state: State) -> State:
        """After a body that `return` leaves."""
        self._returned.append([])
        try:
            ends = [self.statement(body, block, state)]
        except PathEndedError:
            ends = []
        ends += self._returned.pop()
        return self._after(ends)

    def statement(
        self, statement: syntax.Statement | None, block: BlockInstance, state: State
    ) -> State:
        if isinstance(statement, syntax.Block):
            for inner in statement.statements:
                state = self.statement(inner, block, state)
        elif isinstance(statement, syntax.If):
            state = self._if(statement, block, state)
        elif isinstance(statement, syntax.Switch):
            state = self._switch(statement, block, state)
        elif isinstance(statement, syntax.Return):
            self._returned[-1].append(self.expression(statement.value, block, state))
            raise PathEndedError
        elif isinstance(statement, syntax.Exit):
            self.exited.append(state)
            raise PathEndedError
        elif isinstance(statement, syntax.Assignment):
            state = self.expression(statement.value, block, state)
            state = self.assignment(statement, state)
        elif isinstance(statement, syntax.Variable):
            state = self.expression(statement.initializer, block, state)
            state = self.variable(statement, state)
        elif isinstance(statement, syntax.CallStatement):
            state = self.expression(statement.call, block, state)
        return state

    def _if(self, statement: syntax.If, block: BlockInstance, state: State) -> State:
        holds = known(statement.condition, block.find)
        if holds is not None:
            return self.statement(statement.then if holds else statement.otherwise, block, state)
        sides = zip(
            self.branch(statement.condition, block, state),
            (statement.then, statement.otherwise),
            strict=True,
        )
        return self._any(
            lambda side: self.statement(side[1], block, side[0]),
            [side for side in sides if side[0] is not None],
        )

    def _switch(self, switch: syntax.Switch, block: BlockInstance, state: State) -> State:
        """A case over action_run is reached only after its action."""
        if not isinstance(switch.subject.type, types.ActionRun):
            state = self.expression(switch.subject, block, state)
            bodies = [case.body for case in switch.cases if case.body is not None]
            return self._any(lambda body: self.statement(body, block, state), [*bodies, None])
        table = switch.subject.type.table
        before = self._keys(table, switch.subject, block, state)

        def path(reference: syntax.ActionReference) -> State:
            after = self.referenced(reference, block, before)
            return self.statement(_case_of(switch, reference.name), block, after)

        return self._any(path, table.actions)

    # --- Expressions ------------------------------------------------------------------------------

    def expression(self, node: syntax.Node | None, block: BlockInstance, state: State) -> State:
        """Calls inside an expression; `? :` evaluates one side."""
        if node is None:
            return state
        if isinstance(node, syntax.Conditional):
            sides = zip(
                self.branch(node.condition, block, state), (node.then, node.otherwise), strict=True
            )
            return self._any(
                lambda side: self.expression(side[1], block, side[0]),
                [side for side in sides if side[0] is not None],
            )
        if isinstance(node, syntax.Call):
            return self._call(node, block, state)
        if isinstance(node, (syntax.Name, syntax.Member)):
            self.read(node, state)
        for child in _children(node):
            state = self.expression(child, block, state)
        return state

    def _call(self, call: syntax.Call, block: BlockInstance, state: State) -> State:
        target: Target | None = call.target
        if target is None:
            return state
        if target.kind == "table":
            return self._table(target.symbol.declaration, call, block, state)
        for parameter, argument in zip(target.parameters, target.arguments, strict=False):
            if parameter.direction != "out":
                state = self.expression(argument, block, state)
        if target.kind == "action":
            self._bind(target.parameters, target.arguments)
            return self._action(target.symbol, block, state)
        if target.kind in ("control", "function"):
            self._bind(target.parameters, target.arguments)
            if target.kind == "control":
                return self.apply(block.find(target.symbol), state)
            return self._body(target.symbol.declaration.body, block, state)
        return self.primitive(call, block, state)

    def _bind(
        self,
        parameters: Iterable[VariableSymbol],
        arguments: Iterable[syntax.Expression | None],
    ) -> None:
        for parameter, argument in zip(parameters, arguments, strict=False):
            self.bind(parameter, argument)

    def _keys(
        self, table: syntax.Table, at: syntax.Expression, block: BlockInstance, state: State
    ) -> State:
        state = self.lookup(table, at, block, state)
        for key in table.keys:
            state = self.expression(key.expression, block, state)
        return state

    def _table(
        self, table: syntax.Table, at: syntax.Expression, block: BlockInstance, state: State
    ) -> State:
        before = self._keys(table, at, block, state)
        choices = [*table.actions, *([] if table.default_action else [None])]
        return self._any(lambda action: self.referenced(action, block, before), choices)

    def referenced(
        self, reference: syntax.ActionReference | None, block: BlockInstance, state: State
    ) -> State:
        """An action in a table's list, with the arguments for its directed parameters; None: no
        action at all.
        """
        if reference is None:
            return state
        given = [argument.expression for argument in reference.arguments or []]
        self._bind(reference.symbol.directed, given)
        return self._action(reference.symbol, block, state)

    def _action(self, symbol: ActionSymbol, block: BlockInstance, state: State) -> State:
        return self._body(symbol.declaration.body, block, state)

    # --- Alternatives -----------------------------------------------------------------------------

    def _any(self, follow: Callable[[Any], State], choices: Iterable[Any]) -> State:
        """After one of several alternatives."""
        ends = []
        for choice in choices:
            try:
                ends.append(follow(choice))
            except PathEndedError:
                continue
        return self._after(ends)

    def _after(self, ends: list[State]) -> State:
        if not ends:
            raise PathEndedError
        return self.merged(ends)


def _case_of(switch: syntax.Switch, action: str) -> syntax.Block | None:
    """The block that runs for an action: its own, the one it falls through to, or the default."""
    default = None
    for number, case in enumerate(switch.cases):
        for label in case.labels:
            body = next((c.body for c in switch.cases[number:] if c.body is not None), None)
            if isinstance(label, syntax.DefaultExpression):
                default = body
            elif isinstance(label, syntax.Name) and label.name == action:
                return body
    return default


def _children(node: syntax.Node) -> Iterator[syntax.Node]:
    for item in dataclasses.fields(node):
        value = getattr(node, item.name) if item.init else None
        if isinstance(value, syntax.Node):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, syntax.Node))
