"""The rules of Tofino's stateful units: what a Register may hold and its actions may do.

One stateful unit serves one Register. It has four instructions (RegisterActions), each of which
must fit the unit (check.stateful_unit), and one access to its memory per packet and pass. A program
that breaks a rule would run here and be refused by the Tofino compiler, so it is refused here too.
"""

from __future__ import annotations

from contextlib import suppress

from p4soft.check import types
from p4soft.check.paths import PathEndedError, Paths
from p4soft.check.register_actions import fit
from p4soft.check.stateful_unit import Shared
from p4soft.elaborate import (
    BlockInstance,
    ExternInstance,
    Pipeline,
    cell_fields,
    cell_of_action,
)
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

MAX_ACTIONS = 4
_CELL_WIDTHS = (1, 8, 16, 32)
REGISTERS = ("Register", "DirectRegister")
ACTIONS = ("RegisterAction", "DirectRegisterAction")
_INGRESS = ("ingress_parser", "ingress", "ingress_deparser")


def check_registers(pipeline: Pipeline) -> None:
    """Raises P4Error at the first broken rule."""
    actions: dict[ExternInstance, list[ExternInstance]] = {}
    shared: dict[ExternInstance, Shared] = {}
    for instance in pipeline.externs():
        if instance.type.name in REGISTERS:
            _check_cell(instance)
            actions.setdefault(instance, [])
        elif instance.type.name in ACTIONS:
            register = instance.arguments[0]
            _check_action(instance, shared.setdefault(register, Shared()))
            actions.setdefault(register, []).append(instance)
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
            f"a {register.type.name} of {cell}",
            "bit<W> or int<W> of 1, 8, 16 or 32 bits, or a struct of two equal ones",
        )
    if register.type.name == "DirectRegister":
        return
    size = register.arguments[0]
    if size < 1:
        raise P4Error(register.position, f"register '{_name(register)}' has {size} cells")


def _check_action(action: ExternInstance, shared: Shared) -> None:
    cell, result = cell_of_action(action), action.type.arguments[-1]
    kind = action.type.name
    _check_agreement(action, cell)
    if not action.methods:
        raise P4Error(
            action.position,
            f"{kind} '{_name(action)}' has no body; expected "
            f"`= {{ void apply(inout {cell} value, out {result} rv) {{ ... }} }}`",
        )
    method = action.methods[0]
    signature = [(p.symbol.direction, types.underlying(p.symbol.type)) for p in method.parameters]
    out = ("out", types.underlying(result))
    if signature not in ([("inout", cell)], [("inout", cell), out]):
        raise P4Error(
            method.position,
            f"apply of {kind} '{_name(action)}' has other parameters than "
            f"(inout {cell} value) or (inout {cell} value, out {result} rv)",
        )
    if result != types.VOID and types.width_of(result) is None:
        raise unsupported(action.position, f"a {kind} that returns {result}", "bit<W>")
    fit(action, shared)


def _check_agreement(action: ExternInstance, cell: types.Type) -> None:
    """An action may take cells for numbers with, or without, a sign. (Of other cells of the same
    width the compiler would take any; what the unit then does is not said.)
    """
    register: ExternInstance = action.arguments[0]
    kept = types.underlying(register.type.arguments[0])
    numbers = isinstance(cell, (types.Bit, types.Int)) and isinstance(kept, (types.Bit, types.Int))
    if cell != kept and not (numbers and cell.width == kept.width > 1):  # type: ignore[union-attr]
        raise P4Error(
            action.position,
            f"{action.type.name} '{_name(action)}' is for cells of {cell}, register "
            f"'{_name(register)}' has cells of {register.type.arguments[0]}; expected the same, "
            "or numbers of the same width",
        )


# --- Who uses which -------------------------------------------------------------------------------


def _register_of(call: syntax.Node, block: BlockInstance) -> ExternInstance | None:
    """The register that a call reads or writes."""
    if not isinstance(call, syntax.Call) or call.target is None or call.target.kind != "method":
        return None
    base = call.target.base
    if not isinstance(base, syntax.Name) or not isinstance(base.type, types.Generic):
        return None
    if base.type.name not in (*REGISTERS, *ACTIONS):
        return None
    instance = block.find(base.symbol)
    return instance if base.type.name in REGISTERS else instance.arguments[0]


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

# What a packet may have accessed so far, and where.
Accessed = dict[ExternInstance, Position]


class Accesses(Paths[Accessed]):
    """An error where a packet may access a register again."""

    def check(self, block: BlockInstance) -> None:
        with suppress(PathEndedError):  # every path exits
            self.apply(block, {})

    def merged(self, states: list[Accessed]) -> Accessed:
        return {register: at for state in states for register, at in state.items()}

    def primitive(self, call: syntax.Call, block: BlockInstance, state: Accessed) -> Accessed:
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
