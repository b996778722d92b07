"""Calls of actions, tables, controls, functions and builtins; extern methods go to emit.externs."""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.symbols import ActionSymbol, Target
from p4soft.elaborate import BlockInstance
from p4soft.emit.arguments import ArgumentEmitter
from p4soft.emit.cpp_types import cpp_type
from p4soft.errors import unsupported
from p4soft.frontend import syntax


class CallEmitter(ArgumentEmitter):
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
        self.pass_arguments(self.action_name(symbol), target, call.arguments, first=["frame_"])
        self.check_exit()
        return ""

    def action_name(self, symbol: ActionSymbol) -> str:
        """Actions of the top level are emitted once for every block that uses them."""
        assert self.block is not None
        return f"action_{self.block.identifier}_{symbol.name}"

    def _block_apply(self, call: syntax.Call, target: Target) -> str:
        instance: BlockInstance = self.instance(target.symbol)
        if not self.in_parser:
            self.pass_arguments(f"apply_{instance.identifier}", target, call.arguments)
            self.check_exit()
            return ""
        error = self.temporary("error")
        result = f"const std::uint16_t {error} = "
        self.pass_arguments(f"parse_{instance.identifier}", target, call.arguments, result=result)
        self.lines.add(f"if ({error} != kParserOk) return {error};")
        return ""

    def _function(self, call: syntax.Call, target: Target) -> str:
        name = self.emit_function(target.symbol.declaration)
        assert call.type is not None
        if call.type == types.VOID:
            self.pass_arguments(name, target, call.arguments)
            return ""
        variable = self.temporary("result")
        result = f"[[maybe_unused]] const {cpp_type(call.type)} {variable} = "
        self.pass_arguments(name, target, call.arguments, result=result)
        return variable
