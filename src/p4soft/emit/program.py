"""The whole C++ file of a program."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple, TypeGuard

from p4soft.check import types
from p4soft.check.symbols import Scope, TypeSymbol
from p4soft.elaborate import BlockInstance, Pipes, TableInstance
from p4soft.emit import port_metadata
from p4soft.emit.bfrt import schema
from p4soft.emit.block import BlockEmitter, name_instances
from p4soft.emit.cpp_types import define
from p4soft.emit.externs import handler_of
from p4soft.emit.externs.deparsers import selectors
from p4soft.emit.p4info import p4info
from p4soft.emit.parsers import ParserEmitter
from p4soft.emit.pipeline import EGRESS, INGRESS, emit_choice, emit_half
from p4soft.emit.state import Emission
from p4soft.emit.tables import TableEmitter
from p4soft.emit.text import Lines, raw_string
from p4soft.errors import P4Error
from p4soft.frontend import syntax
from p4soft.tree import walk


class Translation(NamedTuple):
    """The texts that a program becomes."""

    code: str  # C++
    schema: str  # bfrt.json
    p4info: str  # P4Info in protobuf's text format


def emit_program(name: str, program: syntax.Program, scope: Scope, pipes: Pipes) -> Translation:
    uses_exit = any(isinstance(node, syntax.Exit) for node in walk(program))
    emission = Emission(name, pipes.pipelines[0], uses_exit)
    blocks = Lines()
    halves = Lines()
    digests = 0
    for number, pipeline in enumerate(pipes.pipelines):
        at = replace(emission, pipeline=pipeline, number=number, first_digest=digests)
        _emit_pipeline(at, blocks)
        digests += len(pipeline.digests())
        for half in (INGRESS, EGRESS):
            emit_half(at, half, pipes, halves)
    if len(pipes.of_pipe) > 1:
        for half in (INGRESS, EGRESS):
            emit_choice(half, pipes, halves)
    for table, profile, selector in emission.attachments:
        emission.setup.add(f'add_implementation("{table}", "{profile}", "{selector}");')
    document = json.dumps(schema(pipes.pipelines), indent=2) + "\n"
    made = Translation("", document, p4info(pipes.pipelines[0], program, scope))
    return made._replace(code=str(_file(emission, program, scope, pipes, blocks, halves, made)))


def _emit_pipeline(emission: Emission, blocks: Lines) -> None:
    name_instances(emission)
    pipeline = emission.pipeline
    for extern in pipeline.externs():
        handler_of(extern.type.name, extern.position).declare(emission, extern)
    if pipeline.port_metadata is not None:
        port_metadata.declare(emission, pipeline.port_metadata)
    for block in pipeline.all_blocks()[::-1]:  # a block's children come after it
        _emit_block(emission, block, blocks)


def _emit_block(emission: Emission, block: BlockInstance, output: Lines) -> None:
    BlockEmitter(emission, block).emit_frame(output)
    if isinstance(block.declaration, syntax.Parser):
        ParserEmitter(emission, block).emit_parser(output)
        return
    for extern in block.externs:
        handler_of(extern.type.name, extern.position).define(
            BlockEmitter(emission, block), extern, output
        )
    if block.parent is None and _is_deparser(block):
        output.add(f"using {block.identifier}_writer = PacketWriter<{_capacity(block)}>;")
    for action in BlockEmitter(emission, block).used_actions():
        BlockEmitter(emission, block).emit_action(action, output)
    for table in block.tables:
        _check_entries(table)
        TableEmitter(emission, block).emit_table(table, output)
    BlockEmitter(emission, block).emit_apply(output)
    output.add("")


def _is_deparser(block: BlockInstance) -> bool:
    first = block.declaration.parameters[0].symbol.type
    return isinstance(first, types.Generic) and first.name == "packet_out"


def _capacity(deparser: BlockInstance) -> int:
    """Bytes, if every emit of the deparser and its parts happened."""
    bits = 0
    for block in deparser.with_descendants():
        for node in walk(block.declaration):
            if _is_emit(node):
                bits += types.most_bits(node.target.arguments[0].type)
    return bits // 8


def _is_emit(node: syntax.Node) -> TypeGuard[syntax.Call]:
    """Whether a node is `packet.emit(...)`; Mirror and Resubmit have an emit of their own."""
    if not isinstance(node, syntax.Call) or node.target is None or node.target.name != "emit":
        return False
    type_ = node.target.base.type
    return isinstance(type_, types.Generic) and type_.name == "packet_out"


def _check_entries(table: TableInstance) -> None:
    entries = table.declaration.entries or []
    if table.size is not None and len(entries) > table.size:
        raise P4Error(
            entries[table.size].position,
            f"table '{table.declaration.name}' has {len(entries)} entries, but its size is "
            f"{table.size}",
        )


def _composites(program: syntax.Program, scope: Scope) -> Iterator[types.Composite]:
    """Headers and structs, each behind those that it has fields of."""
    wide: set[types.Type] = set()
    for declaration in program.declarations:
        if not isinstance(declaration, syntax.Composite):
            continue
        symbol = scope.local(declaration.name)
        assert isinstance(symbol, TypeSymbol) and isinstance(symbol.type, types.Composite)
        for field in symbol.type.fields.values():
            if isinstance(field, types.Wide) and field not in wide:
                wide.add(field)
                yield field
        yield symbol.type


def _file(
    emission: Emission,
    program: syntax.Program,
    scope: Scope,
    pipes: Pipes,
    blocks: Lines,
    halves: Lines,
    made: Translation,
) -> Lines:
    lines = Lines()
    lines.add(f"// Generated by p4soft from {emission.name}.p4. Do not edit.")
    lines.add('#include "dataplane/generated_program.h"', '#include "dataplane/poison.h"')
    lines.add('#include "dataplane/trace.h"', "")
    lines.add("namespace turntable::dataplane {", "namespace {", "")
    with lines.braces("namespace p4"):
        for type_ in _composites(program, scope):
            define(type_, lines)
            lines.add("")
    lines.add("", f"constexpr char kSchema[] = {raw_string(made.schema)};")
    lines.add(f"constexpr char kP4Info[] = {raw_string(made.p4info)};", "")
    with lines.braces("class GeneratedPipeline final : public ProgramBase", "};"):
        lines.add("public:")
        with lines.braces(
            f'GeneratedPipeline() : ProgramBase("{emission.name}", kSchema, kP4Info)'
        ):
            lines.append(emission.setup)
        lines.append(halves)
        lines.add("", "private:")
        lines.append(emission.functions)
        lines.append(blocks)
        lines.append(emission.members)
        lines.add(
            "std::uint32_t packet_bytes_ = 0;  // of the packet being processed, for counters"
        )
        lines.add("Packet* packet_ = nullptr;  // being processed, for what deparsers ask for")
        if any(pipeline.port_metadata is not None for pipeline in pipes.pipelines):
            lines.add("std::uint16_t ingress_port_ = 0;  // of the packet being processed")
        deparsers = (
            pipeline.blocks[half.deparser]
            for pipeline in pipes.pipelines
            for half in (INGRESS, EGRESS)
        )
        chosen = {name for deparser in deparsers for name in selectors(deparser)}
        lines.add(*(f"std::uint8_t {name}_ = 0;" for name in sorted(chosen)))
        if emission.uses_exit:
            lines.add("bool exited_ = false;")
    lines.add("", "}  // namespace", "")
    with lines.braces('extern "C"'):
        lines.add("std::uint32_t turntable_program_abi() { return kProgramAbi; }")
        lines.add("Program* turntable_program_create() { return new GeneratedPipeline; }")
    lines.add("", "}  // namespace turntable::dataplane")
    return lines
