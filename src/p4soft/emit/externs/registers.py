"""Register, DirectRegister, RegisterParam and the actions of registers.

A register's cells live in the program's class, those of a direct register in the entries of its
table; an action is a member function that gets a reference to the cell. The rules of the ASIC's
stateful units are checked before, in check.registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.constants import raw_bits
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance, cell_fields, cell_of_action
from p4soft.emit.cpp_types import cpp_constant, cpp_type, is_scalar, to_raw
from p4soft.emit.externs.base import Extern, control_name
from p4soft.emit.naming import identifier
from p4soft.emit.state import Emission
from p4soft.emit.text import Lines
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter


class Register(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        size, initial = [*instance.arguments, None][:2]
        _declare_cells(emission, instance, size, initial)
        _make_known(emission, instance)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        texts = emitter.arguments(call, target)
        return _read_or_write(emitter, target, instance, texts, texts["index"])


class DirectRegister(Extern):
    """Without a table it is one cell, as if the table had no keys; then nothing but the program
    knows it.
    """

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        if instance.table is None:
            _declare_cells(emission, instance, 1, (*instance.arguments, None)[0])

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        _require_its_entry(emitter, instance, call)
        return _read_or_write(emitter, target, instance, emitter.arguments(call, target), "0")


class RegisterParam(Extern):
    """A number that actions of registers read, and that only the control plane changes."""

    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        _declare_cells(emission, instance, 1, instance.arguments[0])
        _make_known(emission, instance)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if not emitter.in_register_action:
            raise P4Error(
                call.position,
                f"'{instance.path.rpartition('.')[2]}' is read here; only an action of a register "
                "can read a RegisterParam",
            )
        return f"{instance.identifier}_.at(0)"


class RegisterAction(Extern):
    def define(self, emitter: BlockEmitter, instance: ExternInstance, output: Lines) -> None:
        """The member function `execute_…`: the cell is `value`, the result is what `rv` holds."""
        method = instance.methods[0]
        register: ExternInstance = instance.arguments[0]
        result = instance.type.arguments[-1]
        value, *output_parameter = method.parameters
        assert method.body is not None
        emitter.lines = Lines()
        emitter.result = _result_name(output_parameter, result)
        emitter.in_register_action = True
        frame = f"[[maybe_unused]] {emitter.block.identifier}_frame& frame_, "  # type: ignore[union-attr]
        signature = f"{cpp_type(result)} execute_{instance.identifier}({frame}std::uint64_t index_)"
        with emitter.lines.braces(signature):
            cells = _cells(emitter, register)
            cell = cpp_type(cell_of_action(instance))
            at = f"{cells}.at(index_)"
            if cell != cpp_type(register.type.arguments[0]):  # C++ allows it for the other sign
                at = f"reinterpret_cast<{cell}&>({at})"
            emitter.lines.add(f"[[maybe_unused]] {cell}& {identifier(value.name)} = {at};")
            if emitter.result:
                emitter.lines.add(f"{cpp_type(result)} {emitter.result}{{}};")
            access = _access(emitter.emission, register, cells, "index_", instance.path)
            if output_parameter and is_scalar(result):
                raw = to_raw(emitter.result, result)
                access += f", [&] {{ return std::uint64_t{{{raw}}}; }}"
            emitter.lines.trace(f"const RegisterAccess access_({access});")
            with emitter.lines.braces(""):
                emitter.body(method.body)
            emitter.lines.add(f"return{emitter.empty_result()};")
        emitter.result = ""
        emitter.in_register_action = False
        output.append(emitter.lines)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if target.name != "execute":
            raise unsupported(call.position, f"{instance.type.name}.{target.name}", "execute")
        if instance.owner is not emitter.block:
            raise P4Error(
                call.position,
                f"'{instance.path.rpartition('.')[2]}' belongs to another block; "
                "execute it in the control that declares it",
            )
        text = f"execute_{instance.identifier}(frame_, {self.index(emitter, call, instance)})"
        if instance.type.arguments[-1] == types.VOID:
            emitter.lines.add(f"{text};")
            return ""
        result = emitter.temporary("output")
        emitter.lines.add(f"[[maybe_unused]] const auto {result} = {text};")
        return result

    def index(self, emitter: BlockEmitter, call: syntax.Call, instance: ExternInstance) -> str:
        """C++ text of the cell's number."""
        index = call.target.arguments[0]
        assert index is not None
        return emitter.value(index)


class DirectRegisterAction(RegisterAction):
    def index(self, emitter: BlockEmitter, call: syntax.Call, instance: ExternInstance) -> str:
        _require_its_entry(emitter, instance.arguments[0], call)
        return "0"


def initial_words(register: ExternInstance) -> list[int]:
    """What the cell of a direct register is at first, a word for each field."""
    cell = register.type.arguments[0]
    fields = [type_ for _, type_ in cell_fields(cell)]
    initial = (*register.arguments, None)[0]
    if initial is None:
        return [0] * len(fields)
    values = initial if isinstance(cell, types.Composite) else [initial]
    return [raw_bits(value, type_) for value, type_ in zip(values, fields, strict=True)]


def _declare_cells(emission: Emission, instance: ExternInstance, size: int, initial: Any) -> None:
    cell = instance.type.arguments[0]
    value = "" if initial is None else f", {_initial(initial, cell)}"
    type_ = f"Register<{_cell_arguments(cell)}>"
    emission.members.add(f"{type_} {instance.identifier}_{{{size}{value}}};")


def _make_known(emission: Emission, instance: ExternInstance) -> None:
    name = control_name(emission, instance.path)
    emission.setup.add(f'add_register("{name}", {instance.identifier}_);')


def _cell_arguments(cell: types.Type) -> str:
    """Template arguments: the cell's type, the width of its fields, and which these are."""
    widths = {types.width_of(type_) for _, type_ in cell_fields(cell)}
    members = ""
    if isinstance(cell, types.Composite):
        members = "".join(f", &{cpp_type(cell)}::{identifier(f)}" for f in cell.fields)
    return f"{cpp_type(cell)}, {widths.pop()}{members}"


def _initial(value: Any, cell: types.Type) -> str:
    if not isinstance(cell, types.Composite):
        return cpp_constant(value, cell)
    parts = [cpp_constant(v, t) for v, t in zip(value, cell.fields.values(), strict=True)]
    return f"{cpp_type(cell)}{{{', '.join(parts)}}}"


def _cells(emitter: BlockEmitter, register: ExternInstance) -> str:
    """The C++ variable that has the cells, in the scope at hand."""
    if register.table is None:
        return f"{register.identifier}_"
    entry = f"frame_.{register.table.identifier}_entry_"
    words = f"{entry}.words_from({register.table.cell_start})"
    arguments = _cell_arguments(register.type.arguments[0])
    emitter.lines.add(f"DirectCell<{arguments}> cell_({words});")
    return "cell_"


def _read_or_write(
    emitter: BlockEmitter,
    target: Target,
    register: ExternInstance,
    texts: dict[str, str],
    place: str,
) -> str:
    result = ""
    if target.name == "read":
        result = emitter.temporary("cell")
        emitter.lines.add(f"[[maybe_unused]] {cpp_type(register.type.arguments[0])} {result}{{}};")
    with emitter.lines.braces(""):
        cells = _cells(emitter, register)
        access = _access(emitter.emission, register, cells, place, target.name)
        emitter.lines.trace(f"const RegisterAccess access_({access});")
        cell = f"{cells}.at({place})"
        emitter.lines.add(f"{result} = {cell};" if result else f"{cell} = {texts['value']};")
    return result


def _access(emission: Emission, register: ExternInstance, cells: str, index: str, by: str) -> str:
    """What a trace says of an access, apart from the cell's values."""
    name = control_name(emission, register.path)
    return f'trace_, "{name}", {cells}, {index}, "{by}"'


def _require_its_entry(emitter: BlockEmitter, register: ExternInstance, call: syntax.Call) -> None:
    """A direct register of a table is that of the entry found; one without is for `apply`."""
    if register.table is not None:
        emitter.require_direct(register, call.position)
    elif emitter.action is not None:
        name = register.path.rpartition(".")[2]
        raise P4Error(
            call.position,
            f"'{name}' is attached to no table; write `registers = {name};` in the table of this "
            "action",
        )


def _result_name(output: list[syntax.Parameter], type_: types.Type) -> str:
    if output:
        return identifier(output[0].name)
    return "" if type_ == types.VOID else "result_"
