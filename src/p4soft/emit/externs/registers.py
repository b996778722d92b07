"""Register and RegisterAction.

A register's cells live in the program's class; an action is a member function that gets a reference
to the cell. The rules of the ASIC's stateful units are checked before, in check.registers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from p4soft.check import types
from p4soft.check.registers import cell_fields
from p4soft.check.symbols import Target
from p4soft.elaborate import ExternInstance
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
        cell = instance.type.arguments[0]
        widths = {types.width_of(type_) for _, type_ in cell_fields(cell)}
        members = ""
        if isinstance(cell, types.Composite):
            members = "".join(f", &{cpp_type(cell)}::{identifier(f)}" for f in cell.fields)
        type_ = f"Register<{cpp_type(cell)}, {widths.pop()}{members}>"
        size, initial = [*instance.arguments, None][:2]
        value = "" if initial is None else f", {_initial(initial, cell)}"
        emission.members.add(f"{type_} {instance.identifier}_{{{size}{value}}};")
        name = control_name(emission, instance.path)
        emission.setup.add(f'add_register("{name}", {instance.identifier}_);')

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        texts = emitter.arguments(call, target)
        place = texts["index"]
        cell = f"{instance.identifier}_.at({place})"
        access = _access(emitter.emission, instance, place, target.name)
        if target.name == "write":
            with emitter.lines.braces(""):
                emitter.lines.trace(f"const RegisterAccess access_({access});")
                emitter.lines.add(f"{cell} = {texts['value']};")
            return ""
        result = emitter.temporary("cell")
        emitter.lines.add(f"[[maybe_unused]] const auto {result} = {cell};")
        emitter.lines.trace(f"{{ const RegisterAccess access_({access}); }}")
        return result


def _access(emission: Emission, register: ExternInstance, index: str, by: str) -> str:
    """What a trace says of an access, apart from the cell's values."""
    name = control_name(emission, register.path)
    return f'trace_, "{name}", {register.identifier}_, {index}, "{by}"'


def _initial(value: Any, cell: types.Type) -> str:
    if not isinstance(cell, types.Composite):
        return cpp_constant(value, cell)
    parts = [cpp_constant(v, t) for v, t in zip(value, cell.fields.values(), strict=True)]
    return f"{cpp_type(cell)}{{{', '.join(parts)}}}"


class RegisterAction(Extern):
    def define(self, emitter: BlockEmitter, instance: ExternInstance, output: Lines) -> None:
        """The member function `execute_…`: the cell is `value`, the result is what `rv` holds."""
        method = instance.methods[0]
        register: ExternInstance = instance.arguments[0]
        cell, result = register.type.arguments[0], instance.type.arguments[2]
        value, *output_parameter = method.parameters
        assert method.body is not None
        emitter.lines = Lines()
        emitter.result = _result_name(output_parameter, result)
        frame = f"[[maybe_unused]] {emitter.block.identifier}_frame& frame_, "  # type: ignore[union-attr]
        signature = f"{cpp_type(result)} execute_{instance.identifier}({frame}std::uint64_t index_)"
        with emitter.lines.braces(signature):
            emitter.lines.add(
                f"[[maybe_unused]] {cpp_type(cell)}& {identifier(value.name)} = "
                f"{register.identifier}_.at(index_);",
            )
            if emitter.result:
                emitter.lines.add(f"{cpp_type(result)} {emitter.result}{{}};")
            access = _access(emitter.emission, register, "index_", instance.path)
            if output_parameter and is_scalar(result):
                raw = to_raw(emitter.result, result)
                access += f", [&] {{ return std::uint64_t{{{raw}}}; }}"
            emitter.lines.trace(f"const RegisterAccess access_({access});")
            with emitter.lines.braces(""):
                emitter.body(method.body)
            emitter.lines.add(f"return{emitter.empty_result()};")
        emitter.result = ""
        output.append(emitter.lines)

    def call(self, emitter: BlockEmitter, call: syntax.Call, target: Target, instance: Any) -> str:
        if target.name != "execute":
            raise unsupported(call.position, f"RegisterAction.{target.name}", "execute")
        index = target.arguments[0]
        assert index is not None
        if instance.owner is not emitter.block:
            raise P4Error(
                call.position,
                f"'{instance.path.rpartition('.')[2]}' belongs to another block; "
                "execute it in the control that declares it",
            )
        text = f"execute_{instance.identifier}(frame_, {emitter.value(index)})"
        if instance.type.arguments[2] == types.VOID:
            emitter.lines.add(f"{text};")
            return ""
        result = emitter.temporary("output")
        emitter.lines.add(f"[[maybe_unused]] const auto {result} = {text};")
        return result


def _result_name(output: list[syntax.Parameter], type_: types.Type) -> str:
    if output:
        return identifier(output[0].name)
    return "" if type_ == types.VOID else "result_"
