"""Calls of actions, tables, controls, functions and builtins; extern methods go to emit.externs."""

from __future__ import annotations

from typing import Any

from p4soft.check import types
from p4soft.check.symbols import ActionSymbol, Target, VariableSymbol
from p4soft.elaborate import BlockInstance
from p4soft.emit.cpp_types import cpp_type, is_scalar
from p4soft.emit.expressions import ExpressionEmitter
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax


class CallEmitter(ExpressionEmitter):
    def extern_method(self, call: syntax.Call, target: Target) -> str:
        raise NotImplementedError

    def extern_function(self, call: syntax.Call, target: Target) -> str:
        raise NotImplementedError

    def emit_function(self, function: syntax.Function) -> str:
        raise NotImplementedError

    def call(self, call: syntax.Call) -> str:
        target = call.target
        if target.kind == "method":
            return self.extern_method(call, target)
        if target.kind == "extern_function":
            return self.extern_function(call, target)
        if target.kind == "builtin":
            return self._builtin(call, target)
        if target.kind == "table":
            return self._table(target)
        if target.kind == "action":
            return self._action(call, target)
        if target.kind in ("control", "parser"):
            return self._block_apply(call, target)
        if target.kind == "function":
            return self._function(call, target)
        raise unsupported(call.position, "a new instance as a value", "named instances")

    def check_exit(self) -> None:
        """After anything that may have executed `exit`."""
        if self.emission.uses_exit and not self.in_parser:
            self.lines.add(f"if (exited_) return{self.empty_result()};")

    def empty_result(self) -> str:
        """What follows `return` where the program returns no value."""
        return f" {self.result}" if self.result else ""

    # --- Builtins ---------------------------------------------------------------------------------

    def _builtin(self, call: syntax.Call, target: Target) -> str:
        assert target.base is not None
        base = self.value(target.base)
        if target.name == "isValid":
            return f"{base}.valid_"
        if target.name == "setValid":
            self.lines.add(f"{base}.set_valid();")
        elif target.name == "setInvalid":
            self.lines.add(f"{base}.valid_ = false;")
        else:
            self.lines.add(f"{base}.{target.name}({target.arguments[0].value});")
        return ""

    # --- Tables, actions, blocks ------------------------------------------------------------------

    def _table(self, target: Target) -> str:
        assert self.block is not None
        table = self.block.table(target.symbol.declaration)
        result = self.temporary("applied")
        self.lines.add(
            f"[[maybe_unused]] const Applied {result} = table_{table.identifier}(frame_);"
        )
        self.check_exit()
        return result

    def _action(self, call: syntax.Call, target: Target) -> str:
        symbol = target.symbol
        assert isinstance(symbol, ActionSymbol)
        self.pass_arguments(self.action_name(symbol), ["frame_"], target, "")
        self.check_exit()
        return ""

    def action_name(self, symbol: ActionSymbol) -> str:
        """Actions of the top level are emitted once for every block that uses them."""
        assert self.block is not None
        return f"action_{self.block.identifier}_{symbol.name}"

    def _block_apply(self, call: syntax.Call, target: Target) -> str:
        instance: BlockInstance = self.instance(target.symbol)
        if not self.in_parser:
            self.pass_arguments(f"apply_{instance.identifier}", [], target, "")
            self.check_exit()
            return ""
        error = self.temporary("error")
        self.pass_arguments(
            f"parse_{instance.identifier}", [], target, f"const std::uint16_t {error} = "
        )
        self.lines.add(f"if ({error} != kParserOk) return {error};")
        return ""

    def _function(self, call: syntax.Call, target: Target) -> str:
        name = self.emit_function(target.symbol.declaration)
        assert call.type is not None
        if call.type == types.VOID:
            self.pass_arguments(name, [], target, "")
            return ""
        result = self.temporary("result")
        self.pass_arguments(
            name, [], target, f"[[maybe_unused]] const {cpp_type(call.type)} {result} = "
        )
        return result

    # --- Arguments --------------------------------------------------------------------------------

    def pass_arguments(
        self,
        function: str,
        first: list[str],
        target: Target,
        prefix: str,
        last: list[str] | None = None,
    ) -> None:
        """Calls with P4's copy-in copy-out for scalars; headers and structs go by reference."""
        texts = list(first)
        copy_back: list[tuple[syntax.Expression, str]] = []
        for parameter, argument in zip(target.parameters, target.arguments, strict=True):
            texts.append(self._argument(parameter, argument, copy_back))
        self._check_aliases(target)
        self.lines.add(f"{prefix}{function}({', '.join([*texts, *(last or [])])});")
        for place, temporary in copy_back:
            self.store(place, temporary)

    def _argument(
        self, parameter: VariableSymbol, argument: syntax.Expression | None, copy_back: list[Any]
    ) -> str:
        by_reference = parameter.direction in ("out", "inout")
        if isinstance(parameter.type, types.Generic):  # packet_in, packet_out
            assert argument is not None
            return self.value(argument)
        if argument is None or isinstance(argument, syntax.DefaultExpression):
            temporary = self.temporary("unused")
            self.lines.add(f"{cpp_type(parameter.type)} {temporary}{{}};")
            return temporary
        if not by_reference or not is_scalar(parameter.type):
            return self.value(argument)
        temporary = self.temporary("copy")
        initial = self.value(argument) if parameter.direction == "inout" else "{}"
        self.lines.add(f"{cpp_type(parameter.type)} {temporary} = {initial};")
        copy_back.append((argument, temporary))
        return temporary

    def _check_aliases(self, target: Target) -> None:
        """References and copies mean the same only if no two arguments overlap where one is
        written.
        """
        places: list[tuple[str, bool]] = []
        for parameter, argument in zip(target.parameters, target.arguments, strict=True):
            if (
                argument is None
                or is_scalar(parameter.type)
                or isinstance(parameter.type, types.Generic)
            ):
                continue
            if not isinstance(argument, (syntax.Name, syntax.Member, syntax.Index)):
                continue
            text, written = self.value(argument), parameter.direction != "in"
            for other, other_written in places:
                overlap = (
                    text == other or text.startswith(other + ".") or other.startswith(text + ".")
                )
                if overlap and (written or other_written):
                    raise P4Error(
                        argument.position,
                        "this argument overlaps with another one of the same call that is "
                        "written; copy it to a "
                        f"variable first ('{parameter.name}')",
                    )
            places.append((text, written))
