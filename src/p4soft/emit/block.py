"""Controls: frames, actions and apply. Parsers are in emit.parsers, tables in emit.tables.

A block's parameters and variables live in a frame on the stack, to which every function of the
block has a reference; the compiler inlines the functions and dissolves the frame.
"""

from __future__ import annotations

from typing import Any

from p4soft.check import types
from p4soft.check.aliases import touched
from p4soft.check.parser_positions import UNPACK
from p4soft.check.symbols import ActionSymbol, Target, VariableSymbol
from p4soft.check.tables import DIRECT
from p4soft.elaborate import BlockInstance, ExternInstance
from p4soft.emit import port_metadata
from p4soft.emit.arguments import is_unicast_port
from p4soft.emit.cpp_types import cpp_type, is_scalar
from p4soft.emit.externs import handler_of
from p4soft.emit.externs.deparsers import is_type_field
from p4soft.emit.naming import identifier
from p4soft.emit.state import Emission
from p4soft.emit.statements import StatementEmitter
from p4soft.emit.text import Lines
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.tree import calls_action, walk


class BlockEmitter(StatementEmitter):
    """Emits code that belongs to one block instance, or (block None) to none."""

    # --- Parameters and frames --------------------------------------------------------------------

    def parameter(self, symbol: VariableSymbol) -> str:
        """A parameter's declaration in a C++ signature or frame."""
        if isinstance(symbol.type, types.Generic):
            if symbol.type.name == "packet_in":
                return "PacketReader& reader_"
            if symbol.type.name == "packet_out":
                return f"{self.writer_type()}& writer_"
            raise unsupported(
                symbol.position, f"a parameter of type {symbol.type}", "packet_in and packet_out"
            )
        name = identifier(symbol.name)
        if symbol.direction in ("out", "inout"):
            return f"{cpp_type(symbol.type)}& {name}"
        if is_scalar(symbol.type):
            return f"{cpp_type(symbol.type)} {name}"
        return f"const {cpp_type(symbol.type)}& {name}"

    def writer_type(self) -> str:
        block = self.block
        while block is not None and block.parent is not None:
            block = block.parent
        assert block is not None
        return f"{block.identifier}_writer"

    def emit_frame(self, output: Lines) -> None:
        """The struct with the block's parameters and variables."""
        assert self.block is not None
        declaration = self.block.declaration
        with output.braces(f"struct {self.block.identifier}_frame", "};"):
            for parameter in declaration.parameters:
                if not isinstance(parameter.symbol.type, types.Generic):
                    output.add(f"{self.parameter(parameter.symbol)};")
            for statement in declaration.locals:
                if isinstance(statement, syntax.Variable):
                    output.add(
                        f"{cpp_type(statement.symbol.type)} {identifier(statement.name)}{{}};"
                    )
            for instance in self.block.externs:
                if self.in_parser and instance.type.name == "Checksum":
                    output.add(f"Checksum {instance.identifier}_{{}};")
            for table in self.block.tables:
                if table.data_start > 1:
                    output.add(f"Entry {table.identifier}_entry_{{}};")

    def signature(self, prefix: str) -> str:
        assert self.block is not None
        parameters = [self.parameter(p.symbol) for p in self.block.declaration.parameters]
        return f"{prefix}_{self.block.identifier}({', '.join(parameters)})"

    def open_frame(self) -> None:
        """At the start of apply: the frame, and the initial values of variables."""
        assert self.block is not None
        declaration = self.block.declaration
        names = [
            identifier(p.name)
            for p in declaration.parameters
            if not isinstance(p.symbol.type, types.Generic)
        ]
        if names or any(isinstance(s, syntax.Variable) for s in declaration.locals):
            fields = ", ".join(f".{name} = {name}" for name in names)
            self.lines.add(f"[[maybe_unused]] {self.block.identifier}_frame frame_{{{fields}}};")
        else:
            self.lines.add(f"[[maybe_unused]] {self.block.identifier}_frame frame_{{}};")
        for statement in declaration.locals:
            if isinstance(statement, syntax.Variable) and statement.initializer is not None:
                value = self.value(statement.initializer)
                self.lines.add(f"frame_.{identifier(statement.name)} = {value};")

    # --- Controls ---------------------------------------------------------------------------------

    def emit_apply(self, output: Lines) -> None:
        assert self.block is not None and isinstance(self.block.declaration, syntax.Control)
        body = self.block.declaration.body
        assert body is not None
        self.lines = Lines()
        with self.lines.braces(f"void {self.signature('apply')}"):
            self.open_frame()
            self.body(body)
        output.append(self.lines)

    def emit_action(self, symbol: ActionSymbol, output: Lines) -> None:
        """One action as a member function; `return` in it leaves the action only."""
        assert self.block is not None
        self.lines = Lines()
        self.action = symbol.declaration
        parameters = [f"[[maybe_unused]] {self.block.identifier}_frame& frame_"]
        parameters += [f"[[maybe_unused]] {self.parameter(p)}" for p in symbol.parameters]
        with self.lines.braces(f"void {self.action_name(symbol)}({', '.join(parameters)})"):
            self.body(symbol.declaration.body)
        self.action = None
        output.append(self.lines)

    def used_actions(self) -> list[ActionSymbol]:
        """The block's own actions, and those of the top level that it uses, callees first; not
        those that use what entries of a table have that is never applied.
        """
        assert self.block is not None
        found: dict[ActionSymbol, None] = {}

        def visit(symbol: ActionSymbol) -> None:
            if symbol not in found:
                for node in walk(symbol.declaration.body):
                    if calls_action(node):
                        visit(node.target.symbol)
                found[symbol] = None

        for node in walk(self.block.declaration):
            if isinstance(node, (syntax.Action, syntax.ActionReference)):
                if not self._is_unreached(node.symbol):
                    visit(node.symbol)
            elif calls_action(node):
                visit(node.target.symbol)
        return list(found)

    def _is_unreached(self, action: ActionSymbol) -> bool:
        assert self.block is not None
        calls = (node for node in walk(action.declaration.body) if isinstance(node, syntax.Call))
        for base in (call.target.base for call in calls if call.target is not None):
            used = self.block.find(base.symbol) if isinstance(base, syntax.Name) else None
            if isinstance(used, ExternInstance) and used.is_unreached:
                return True
        return False

    # --- Externs ----------------------------------------------------------------------------------

    def extern_method(self, call: syntax.Call, target: Target) -> str:
        base = target.base
        if not isinstance(base, syntax.Name):
            raise unsupported(
                call.position, "an instance made inside an expression", "named instances"
            )
        assert isinstance(base.type, types.Generic)
        handler = handler_of(base.type.name, call.position)
        instance: Any = None
        if not isinstance(base.symbol, VariableSymbol) or base.symbol.role == "constructor":
            assert base.symbol is not None
            instance = self.instance(base.symbol)
        return handler.call(self, call, target, instance)

    def extern_function(self, call: syntax.Call, target: Target) -> str:
        arguments = target.arguments
        if target.name == "verify":
            if not self.in_parser:
                raise P4Error(call.position, "verify belongs in a parser")
            self.lines.add(f"if (!{self.value(arguments[0])}) return kParserChecksum;")
            return ""
        if target.name in ("min", "max"):
            if not isinstance(types.underlying(call.type), (types.Bit, types.Int)):
                raise P4Error(call.position, f"{target.name} of {call.type}; expected numbers")
            left, right = self.arguments(call, target).values()
            return f"std::{target.name}({left}, {right})"
        if target.name == UNPACK:
            assert self.emission.pipeline.port_metadata is not None
            return port_metadata.unpack(self, self.emission.pipeline.port_metadata)
        if target.name == "invalidate":
            return self._invalidate(call, arguments[0])
        raise unsupported(
            call.position,
            f"the extern function {target.name}",
            f"verify, min, max, invalidate, {UNPACK}, sizeInBits, sizeInBytes",
        )

    def store(self, target: syntax.Expression, text: str) -> None:
        super().store(target, text)
        if is_type_field(target):
            self.lines.add(f"{target.name}_assigned_ = true;")
        self.written(target)

    def written(self, place: syntax.Expression) -> None:
        for alias in touched(self.emission.pipeline, self.gress, place):
            self.lines.add(f"{self.emission.alias(alias)}.follow();")

    def _invalidate(self, call: syntax.Call, place: syntax.Expression) -> str:
        if isinstance(place.type, types.Composite) and place.type.is_header:
            self.lines.add(f"{self.value(place)}.valid_ = false;")
        elif is_unicast_port(place):
            self.lines.add(f"{self.value(place)} = kNoEgressPort;")
            self.written(place)
        else:
            raise unsupported(
                call.position, "invalidate of this field", "headers and ucast_egress_port"
            )
        return ""

    def require_direct(self, instance: ExternInstance, position: Position) -> None:
        """A direct extern may be used only by actions of the one table it is attached to."""
        assert self.block is not None
        name = instance.path.rpartition(".")[2]
        if instance.table is None:
            attaching = next(p for p, kinds in DIRECT.items() if instance.type.name in kinds)
            raise P4Error(
                instance.position,
                f"'{name}' is attached to no table; write `{attaching} = {name};` in one",
            )
        owner = instance.table.declaration
        if self.action is None:
            raise P4Error(
                position,
                f"'{name}' belongs to table '{owner.name}'; use it in an action of that table",
            )
        running = self._callers(self.action)
        for table in self.block.tables:
            uses = any(
                reference.symbol.declaration in running for reference in table.declaration.actions
            )
            if uses and table is not instance.table:
                raise P4Error(
                    position,
                    f"'{name}' belongs to table '{owner.name}', but action '{self.action.name}' "
                    "is used by table "
                    f"'{table.declaration.name}' too; give each table its own action",
                )
        assert isinstance(self.block.declaration, syntax.Control)
        for node in walk(self.block.declaration.body):
            if calls_action(node) and node.target.symbol.declaration in running:
                raise P4Error(
                    node.position,
                    f"action '{self.action.name}' uses '{name}', which belongs to table "
                    f"'{owner.name}'; it cannot be called directly",
                )

    def _callers(self, action: syntax.Action) -> list[syntax.Action]:
        """The actions that run an action: itself, and those that call one of them."""
        found = [action]
        for other in self.used_actions():  # callees come first
            calls = [node for node in walk(other.declaration.body) if calls_action(node)]
            if any(call.target.symbol.declaration in found for call in calls):
                found.append(other.declaration)
        return found

    # --- Functions --------------------------------------------------------------------------------

    def emit_function(self, function: syntax.Function) -> str:
        # What it uses of the top level is the pipeline's, and aliases are those of one half.
        half = f"_{self.gress}" if self.emission.pipeline.aliases else ""
        name = f"function{self.emission.number or ''}{half}_{function.name}"
        if name not in self.emission.functions_done:
            self.emission.functions_done.add(name)
            emitter = BlockEmitter(self.emission, None, self.gress)
            signature = function.symbol
            parameters = ", ".join(emitter.parameter(p) for p in signature.parameters)
            assert function.body is not None
            with emitter.lines.braces(f"{cpp_type(signature.returns)} {name}({parameters})"):
                emitter.body(function.body)
            self.emission.functions.append(emitter.lines)
        return name


def name_instances(emission: Emission) -> None:
    """Gives every block, table and extern its C++ identifier."""
    for extern in emission.pipeline.globals:
        extern.identifier = emission.names.take(extern.path)
    for block in emission.pipeline.all_blocks():
        name_block(emission, block)


def name_block(emission: Emission, block: BlockInstance) -> None:
    block.identifier = emission.names.take(block.path)
    for extern in block.externs:
        extern.identifier = emission.names.take(extern.path)
    for table in block.tables:
        table.identifier = emission.names.take(table.path)
    for value_set in block.value_sets:
        value_set.identifier = emission.names.take(value_set.path)
