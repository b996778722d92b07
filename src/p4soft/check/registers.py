"""The rules of Tofino's stateful units: what a Register may hold and its actions may do.

One stateful ALU serves one Register. It has four instructions (RegisterActions), each with two
comparisons, and one access to its memory per packet and pass (Tofino reference §5.2). A program
that breaks a rule would run here and be refused by the Tofino compiler, so it is refused here too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from p4soft.check import types
from p4soft.check.symbols import ActionSymbol
from p4soft.elaborate import BlockInstance, ExternInstance, Pipeline
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

MAX_ACTIONS = 4
MAX_COMPARISONS = 2
_CELL_WIDTHS = (1, 8, 16, 32)
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")
_INGRESS = ("ingress_parser", "ingress", "ingress_deparser")


def cell_fields(cell: types.Type) -> list[tuple[str, types.Type]]:
    """The one or two values of a cell: name ('f1' for a plain value, as in the SDE) and type."""
    if isinstance(cell, types.Composite):
        return list(cell.fields.items())
    return [("f1", cell)]


def check_registers(pipeline: Pipeline) -> None:
    """Raises P4Error at the first broken rule."""
    actions: dict[ExternInstance, list[ExternInstance]] = {}
    for instance in pipeline.externs():
        if instance.type.name == "Register":
            _check_cell(instance)
            actions.setdefault(instance, [])
        elif instance.type.name == "RegisterAction":
            _check_action(instance)
            actions.setdefault(instance.arguments[0], []).append(instance)
    for register, attached in actions.items():
        if len(attached) > MAX_ACTIONS:
            raise P4Error(
                attached[MAX_ACTIONS].position,
                f"this is RegisterAction {MAX_ACTIONS + 1} of register '{_name(register)}'; a "
                f"stateful unit of Tofino has {MAX_ACTIONS} instructions",
            )
    _check_directions(pipeline)
    for block in ("ingress", "egress"):
        Accesses().check(pipeline.blocks[block])


def _name(instance: ExternInstance) -> str:
    return instance.path.rpartition(".")[2]


# --- Cells and actions ----------------------------------------------------------------------------


def _check_cell(register: ExternInstance) -> None:
    cell = register.type.arguments[0]
    fields = [types.underlying(type_) for _, type_ in cell_fields(cell)]
    allowed = all(isinstance(f, (types.Bit, types.Int)) and f.width in _CELL_WIDTHS for f in fields)
    pair = isinstance(cell, types.Composite)
    if not allowed or (pair and (cell.is_header or len(fields) != 2 or fields[0] != fields[1])):  # type: ignore[union-attr]
        raise unsupported(
            register.position,
            f"a Register of {cell}",
            "bit<W> or int<W> of 1, 8, 16 or 32 bits, or a struct of two equal ones",
        )
    size = register.arguments[0]
    if size < 1:
        raise P4Error(register.position, f"register '{_name(register)}' has {size} cells")


def _check_action(action: ExternInstance) -> None:
    register: ExternInstance = action.arguments[0]
    cell, result = register.type.arguments[0], action.type.arguments[2]
    if not action.methods:
        raise P4Error(
            action.position,
            f"RegisterAction '{_name(action)}' has no body; expected "
            f"`= {{ void apply(inout {cell} value, out {result} rv) {{ ... }} }}`",
        )
    method = action.methods[0]
    signature = [(p.symbol.direction, p.symbol.type) for p in method.parameters]
    if signature not in ([("inout", cell)], [("inout", cell), ("out", result)]):
        raise P4Error(
            method.position,
            f"apply of RegisterAction '{_name(action)}' has other parameters than "
            f"(inout {cell} value) or (inout {cell} value, out {result} rv)",
        )
    if result != types.VOID and types.width_of(result) is None:
        raise unsupported(action.position, f"a RegisterAction that returns {result}", "bit<W>")
    assert method.body is not None
    comparisons: dict[Any, Position] = {}
    for node in walk(method.body):
        if isinstance(node, syntax.Binary) and node.operator in _COMPARISONS and node.value is None:
            comparisons.setdefault(_shape(node), node.position)
        elif isinstance(node, syntax.Call) and node.target.kind in ("method", "table", "control"):
            raise P4Error(
                node.position, "a RegisterAction cannot call this; compute it before and pass it in"
            )
        elif isinstance(node, syntax.Binary) and node.operator in ("*", "/", "%"):
            raise P4Error(
                node.position, f"a stateful unit of Tofino cannot compute '{node.operator}'"
            )
    if len(comparisons) > MAX_COMPARISONS:
        raise P4Error(
            list(comparisons.values())[MAX_COMPARISONS],
            f"RegisterAction '{_name(action)}' needs {len(comparisons)} comparisons; a stateful "
            f"unit of Tofino has {MAX_COMPARISONS}",
        )


def _shape(node: Any) -> Any:
    """Equal for expressions that are written alike."""
    if isinstance(node, syntax.Node):
        fields = (f.name for f in dataclasses.fields(node) if f.init and "position" not in f.name)
        return (type(node).__name__, *(_shape(getattr(node, name)) for name in fields))
    return tuple(map(_shape, node)) if isinstance(node, list) else node


# --- Who uses which -------------------------------------------------------------------------------


def _register_of(call: syntax.Node, block: BlockInstance) -> ExternInstance | None:
    """The register that a call reads or writes."""
    if not isinstance(call, syntax.Call) or call.target is None or call.target.kind != "method":
        return None
    base = call.target.base
    if not isinstance(base, syntax.Name) or not isinstance(base.type, types.Generic):
        return None
    if base.type.name not in ("Register", "RegisterAction"):
        return None
    instance = block.find(base.symbol)
    return instance if base.type.name == "Register" else instance.arguments[0]


def _check_directions(pipeline: Pipeline) -> None:
    """A register lies in a stage of ingress or of egress, and only controls reach it."""
    users: dict[ExternInstance, str] = {}
    for name, top in pipeline.blocks.items():
        side = "ingress" if name in _INGRESS else "egress"
        for block in top.with_descendants():
            for node in walk(block.declaration):
                register = _register_of(node, block)
                if register is None:
                    continue
                if name not in ("ingress", "egress"):
                    raise P4Error(
                        node.position, "a register is used here; only controls can, not (de)parsers"
                    )
                if users.setdefault(register, side) != side:
                    raise P4Error(
                        node.position,
                        f"register '{_name(register)}' is used in ingress and in egress; it lies "
                        "in one of them",
                    )


# --- One access per packet ------------------------------------------------------------------------

State = dict[ExternInstance, Position]  # what a packet may have accessed so far, and where


class _PathEndedError(Exception):
    """No path goes on after this statement."""


class Accesses:
    """Follows all paths through a control; an error where a packet may access a register again."""

    def __init__(self) -> None:
        self._returned: list[list[State]] = []  # per body being followed

    def check(self, block: BlockInstance) -> None:
        with suppress(_PathEndedError):  # every path exits
            self._apply(block, {})

    def _apply(self, block: BlockInstance, state: State) -> State:
        assert isinstance(block.declaration, syntax.Control)
        return self._body(block.declaration.body, block, state)

    def _body(self, body: syntax.Statement | None, block: BlockInstance, state: State) -> State:
        """After a body that `return` leaves. Raises _PathEndedError if every path exits."""
        self._returned.append([])
        try:
            ends = [self._statement(body, block, state)]
        except _PathEndedError:
            ends = []
        ends += self._returned.pop()
        return _merged(ends)

    def _statement(
        self, statement: syntax.Statement | None, block: BlockInstance, state: State
    ) -> State:
        if isinstance(statement, syntax.Block):
            for inner in statement.statements:
                state = self._statement(inner, block, state)
        elif isinstance(statement, syntax.If):
            state = self._expression(statement.condition, block, state)
            branches = (statement.then, statement.otherwise)
            state = self._any(lambda branch, s: self._statement(branch, block, s), branches, state)
        elif isinstance(statement, syntax.Switch):
            state = self._switch(statement, block, state)
        elif isinstance(statement, syntax.Return):
            self._returned[-1].append(self._expression(statement.value, block, state))
            raise _PathEndedError
        elif isinstance(statement, syntax.Exit):
            raise _PathEndedError
        elif statement is not None:
            state = self._expression(statement, block, state)
        return state

    def _switch(self, switch: syntax.Switch, block: BlockInstance, state: State) -> State:
        """A case over action_run is reached only after its action."""
        if not isinstance(switch.subject.type, types.ActionRun):
            state = self._expression(switch.subject, block, state)
            bodies = [case.body for case in switch.cases if case.body is not None]
            return self._any(lambda b, s: self._statement(b, block, s), [*bodies, None], state)
        table = switch.subject.type.table

        def path(reference: syntax.ActionReference, before: State) -> State:
            after = self._action(reference.symbol, block, before)
            return self._statement(_case_of(switch, reference.name), block, after)

        return self._any(path, table.actions, state)

    def _expression(self, node: syntax.Node | None, block: BlockInstance, state: State) -> State:
        """Calls inside an expression or simple statement; `? :` evaluates one side."""
        if isinstance(node, syntax.Conditional):
            state = self._expression(node.condition, block, state)
            sides = (node.then, node.otherwise)
            return self._any(lambda side, s: self._expression(side, block, s), sides, state)
        for child in _children(node):
            state = self._expression(child, block, state)
        return self._call(node, block, state) if isinstance(node, syntax.Call) else state

    def _call(self, call: syntax.Call, block: BlockInstance, state: State) -> State:
        target = call.target
        if target is None:
            return state
        if target.kind == "table":
            actions = target.symbol.declaration.actions
            return self._any(lambda a, s: self._action(a.symbol, block, s), actions, state)
        if target.kind == "action":
            return self._action(target.symbol, block, state)
        if target.kind == "control":
            return self._apply(block.find(target.symbol), state)
        register = _register_of(call, block)
        if register is None:
            return state
        if register in state:
            raise P4Error(
                call.position,
                f"a packet can access register '{_name(register)}' here and at "
                f"{state[register].line}:{state[register].column}; a stateful unit of Tofino "
                "allows one access per packet and pass: make the two exclusive, or recirculate",
            )
        return {**state, register: call.position}

    def _action(self, symbol: ActionSymbol, block: BlockInstance, state: State) -> State:
        return self._body(symbol.declaration.body, block, state)

    def _any(self, follow: Any, choices: Any, state: State) -> State:
        """After one of several alternatives."""
        ends = []
        for choice in choices:
            try:
                ends.append(follow(choice, state))
            except _PathEndedError:
                continue
        return _merged(ends) if choices else state


def _merged(ends: list[State]) -> State:
    if not ends:
        raise _PathEndedError
    return {register: at for end in ends for register, at in end.items()}


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


def _children(node: syntax.Node | None) -> Iterator[syntax.Node]:
    if node is None:
        return
    for item in dataclasses.fields(node):
        value = getattr(node, item.name) if item.init else None
        if isinstance(value, syntax.Node):
            yield value
        elif isinstance(value, list):
            yield from (part for part in value if isinstance(part, syntax.Node))
