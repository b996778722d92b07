"""Random statements, and the bodies of actions, functions and RegisterActions."""

from __future__ import annotations

from . import tree
from .generate_expressions import Scope
from .generate_meters import MeterGenerator
from .tree import BOOL, Bits, Enum, HeaderType

_DEPTH = 3


class StatementGenerator(MeterGenerator):
    header_types: list[HeaderType]

    def body(self, scope: Scope, count: int, nesting: int) -> list[tree.Statement]:
        scope = scope.inner()
        statements = [self._statement(scope, nesting) for _ in range(count)]
        return [each for each in statements if each is not None]

    def _statement(self, scope: Scope, nesting: int) -> tree.Statement | None:
        kinds = {
            self._assign: 6,
            self._compound: 1,
            self._declare: 0.8,
            self._if: 2.5 * (nesting > 0),
            self._switch: 0.8 * (nesting > 0),
            self._call_statement: 1.2 * bool(scope.actions or scope.nested),
            self._validity: 0.6 * bool(scope.headers),
            self._copy: 0.5 * bool(scope.headers),
            self._fill: 0.4 * bool(scope.headers),
            self._move: 0.5 * bool(scope.stacks),
            self._count: 0.8 * bool(scope.counters),
            self._apply: 4 * bool(scope.tables),
            self._execute: 2 * bool(scope.registers),
            self._meter: 2 * bool(scope.meters),
        }
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        return kind(scope, nesting)

    # --- Assignments --------------------------------------------------------------------------

    def _target(self, scope: Scope) -> tree.Expression:
        place = self.random.choice(scope.writable)
        if isinstance(place.type, Bits) and place.type.width > 1 and self.chance(0.2):
            return self.sliced(place, self.random.randrange(1, place.type.width))
        return place

    def _assign(self, scope: Scope, nesting: int) -> tree.Statement | None:
        if not scope.writable:
            return None
        target = self._target(scope)
        value = self.expression(scope, target.type, self.random.randrange(1, _DEPTH + 1))
        if isinstance(value, tree.Literal) and isinstance(target.type, Bits):
            value.bare = self.chance(0.5)
        return tree.Assign(target, value)

    def _compound(self, scope: Scope, nesting: int) -> tree.Statement | None:
        if not scope.writable:
            return None
        target = self._target(scope)
        if not isinstance(target.type, Bits):
            return None
        operator = self.random.choice(["+", "-", "|+|", "|-|", "&", "|", "^"])
        return tree.Assign(target, self.expression(scope, target.type, 2), operator)

    def _declare(self, scope: Scope, nesting: int) -> tree.Statement:
        type_ = self.any_type()
        value = self.expression(scope, type_, 2)
        name = self.names.new("v")
        place = tree.Place(type_, name)
        scope.readable.append(place)
        scope.writable.append(place)
        return tree.Declare(name, value)

    # --- Branches -----------------------------------------------------------------------------

    def _if(self, scope: Scope, nesting: int) -> tree.Statement:
        condition = self.expression(scope, BOOL, _DEPTH)
        if scope.tables and self.chance(0.5):
            condition = self._with_table(scope, condition)
        then = self.body(scope, self.random.randrange(1, 4), nesting - 1)
        otherwise = self.body(scope, self.random.randrange(1, 4) * self.chance(0.5), nesting - 1)
        if self.chance(0.06):
            then.append(self._leave(scope))
        return tree.If(condition, then, otherwise)

    def _with_table(self, scope: Scope, condition: tree.Expression) -> tree.Expression:
        table = scope.tables.pop()
        applied: tree.Expression = tree.Applied(BOOL, table, self.random.choice(["hit", "miss"]))
        if self.chance(0.3):
            applied = tree.Unary(BOOL, "!", applied)
        if self.chance(0.25):
            return applied
        parts = [applied, condition]
        self.random.shuffle(parts)
        return tree.Binary(BOOL, self.random.choice(["&&", "||"]), *parts)

    def _leave(self, scope: Scope) -> tree.Statement:
        if scope.returns is not None:
            return tree.Return(self.expression(scope, scope.returns, 1))
        if scope.kind == "function" or self.chance(0.5):
            return tree.Return()
        return tree.Exit()

    def _switch(self, scope: Scope, nesting: int) -> tree.Statement:
        type_: Bits | Enum = self._compared(scope)
        if self.enums and self.chance(0.25):
            type_ = self.random.choice(self.enums)
        values = list({self.literal(type_).value for _ in range(self.random.randrange(1, 5))})
        cases = []
        while values:
            count = self.random.randrange(1, min(2, len(values)) + 1)
            cases.append(tree.Case(values[:count], self.body(scope, 2, nesting - 1)))
            del values[:count]
        if self.chance(0.7):
            cases.append(tree.Case([], self.body(scope, 1, nesting - 1)))
        return tree.Switch(self.expression(scope, type_, 1), cases)

    # --- Calls --------------------------------------------------------------------------------

    def _call_statement(self, scope: Scope, nesting: int) -> tree.Statement | None:
        if scope.nested and self.chance(0.7):
            callee = scope.nested.pop()
        elif scope.actions:
            callee = self.random.choice(scope.actions)
        else:
            return None
        arguments = self.arguments(scope, callee.parameters, 2)
        return None if arguments is None else tree.Call(callee, arguments)

    def _apply(self, scope: Scope, nesting: int) -> tree.Statement:
        table = scope.tables.pop()
        names = [each.action.name for each in table.actions]
        if self.chance(0.65) or nesting == 0:
            return tree.Apply(table)
        self.random.shuffle(names)
        chosen = names[: self.random.randrange(1, len(names) + 1)]
        cases = []
        while chosen:
            count = self.random.randrange(1, min(2, len(chosen)) + 1)
            cases.append(tree.Case(chosen[:count], self.body(scope, 2, nesting - 1)))
            del chosen[:count]
        if self.chance(0.5):
            cases.append(tree.Case([], self.body(scope, 1, nesting - 1)))
        return tree.SwitchAction(table, cases)

    def _count(self, scope: Scope, nesting: int) -> tree.Statement:
        counter = self.random.choice(scope.counters)
        return tree.Count(counter, self.expression(scope, Bits(counter.index_width), 1))

    def _execute(self, scope: Scope, nesting: int) -> tree.Statement | None:
        action = scope.registers.pop()
        type_ = action.register.type
        target = self.target(scope, type_)
        index = self.expression(scope, Bits(action.register.index_width), 1)
        value: tree.Expression = tree.Execute(type_, action, index)
        if target is None:
            return tree.Declare(self.names.new("v"), value)
        if self.chance(0.3):
            value = tree.Binary(type_, "^", value, self.leaf(scope, type_))
        return tree.Assign(target, value)

    def _meter(self, scope: Scope, nesting: int) -> tree.Statement:
        meter = scope.meters.pop()
        index = self.expression(scope, Bits(meter.index_width), 1)
        color = self.color_of(scope, meter, index)
        target = self.target(scope, color.type)
        if target is None:
            return tree.Declare(self.names.new("v"), color)
        return tree.Assign(target, color)

    # --- Headers ------------------------------------------------------------------------------

    def _validity(self, scope: Scope, nesting: int) -> tree.Statement:
        return tree.SetValid(self.random.choice(scope.headers)[0], self.chance(0.6))

    def _copy(self, scope: Scope, nesting: int) -> tree.Statement | None:
        target, type_ = self.random.choice(scope.headers)
        sources = [place for place, other in scope.headers if other is type_ and place != target]
        if not sources:
            return None
        return tree.CopyHeader(target, self.random.choice(sources), type_)

    def _fill(self, scope: Scope, nesting: int) -> tree.Statement:
        target, type_ = self.random.choice(scope.headers)
        fields = list(type_.fields)
        by_name = self.chance(0.4)
        if by_name:
            self.random.shuffle(fields)
        values = [self.expression(scope, each.type, 1) for each in fields]
        return tree.FillHeader(target, fields, values, by_name)

    def _move(self, scope: Scope, nesting: int) -> tree.Statement:
        stack = self.random.choice(scope.stacks)
        method = self.random.choice(["push_front", "pop_front"])
        return tree.MoveStack(stack, method, self.random.randrange(1, stack.size + 1))

    # --- Bodies of callables ------------------------------------------------------------------

    def parameters(self, count: int, data: int) -> list[tree.Parameter]:
        """With directions first, then data of the control plane."""
        made = []
        for number in range(count + data):
            type_ = self.any_type()
            direction = self.random.choice(["in", "out", "inout"]) if number < count else ""
            if direction and self.header_types and self.chance(0.25):
                type_ = self.random.choice(self.header_types)
            made.append(tree.Parameter(direction, self.names.new("p"), type_))
        return made

    def within(self, scope: Scope, parameters: list[tree.Parameter]) -> Scope:
        inner = scope.inner()
        for parameter in parameters:
            places = [tree.Place(parameter.type, parameter.name)]
            if isinstance(parameter.type, HeaderType):
                places = [
                    tree.Place(each.type, f"{parameter.name}.{each.name}")
                    for each in parameter.type.fields
                ]
            inner.readable += places
            if parameter.direction in ("out", "inout"):
                inner.writable += places
                if isinstance(parameter.type, HeaderType):
                    inner.headers.append((parameter.name, parameter.type))
        return inner

    def outs_first(self, scope: Scope, parameters: list[tree.Parameter]) -> list[tree.Statement]:
        """What is out has no value before; a header begins invalid, and p4soft's with zeros."""
        return [
            tree.Assign(tree.Place(p.type, p.name), self.literal(p.type))
            for p in parameters
            if p.direction == "out" and not isinstance(p.type, HeaderType)
        ]

    def action(self, scope: Scope, directed: int, data: int) -> tree.Callable:
        parameters = self.parameters(directed, data)
        inner = self.within(scope, parameters)
        inner.kind, inner.tables, inner.nested = "action", [], []
        body = self.outs_first(inner, parameters)
        body += self.body(inner, self.random.randrange(0, 4), 1)
        return tree.Callable("action", self.names.new("a"), parameters, body)

    def function(self, earlier: list[tree.Callable]) -> tree.Callable:
        parameters = self.parameters(self.random.randrange(1, 4), 0)
        returns = self.some_type()
        scope = self.within(Scope([], [], functions=list(earlier)), parameters)
        scope.kind, scope.returns = "function", returns
        body = self.outs_first(scope, parameters)
        body += self.body(scope, self.random.randrange(0, 3), 1)
        body.append(tree.Return(self.expression(scope, returns, 2)))
        return tree.Callable("function", self.names.new("f"), parameters, body, returns)

    # --- Registers ----------------------------------------------------------------------------

    def register_action(
        self, register: tree.Register, inputs: list[tree.Place]
    ) -> tree.RegisterAction:
        """One that fits a stateful unit: a comparison, a new value in each case, and as result the
        cell before or after.
        """
        type_ = register.type
        cell = tree.Place(type_, self.names.new("cell"))
        result = tree.Place(type_, self.names.new("rv"))
        number = tree.Literal(type_, self.random.randrange(0, 7))
        operand = self.random.choice([self.converted(self.random.choice(inputs), type_), number])

        def computed() -> tree.Statement:
            operator = self.random.choice(["+", "-", "|+|", "|-|", "&", "|", "^", "copy"])
            value = operand
            if operator != "copy":
                value = tree.Binary(type_, operator, cell, operand)
            return tree.Assign(cell, value)

        body: list[tree.Statement] = [computed()]
        if self.chance(0.6):
            compared = self.random.choice([operand, number])
            operator = self.random.choice(["==", "!=", "<", "<=", ">", ">="])
            condition = tree.Binary(BOOL, operator, cell, compared)
            body = [tree.If(condition, body, [computed()] if self.chance(0.5) else [])]
        body.insert(self.random.choice([0, len(body)]), tree.Assign(result, cell))
        name = self.names.new("ra")
        return tree.RegisterAction(name, register, cell.name, result.name, body)
