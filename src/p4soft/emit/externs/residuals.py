"""Residual checksums: `Checksum.subtract_all_and_deposit` and `get` of parsers.

On the ASIC a checksum unit subtracts every header that the parser takes after the call, and writes
the residue when the parser has ended: what is added or subtracted behind the call counts.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, TypeGuard

from p4soft.check import types
from p4soft.elaborate import BlockInstance
from p4soft.emit.naming import expression_text
from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter

DEPOSIT = "subtract_all_and_deposit"


def is_residual(statement: syntax.Statement) -> bool:
    """`field = sum.get();`: on the ASIC it is the same as `sum.subtract_all_and_deposit(field);`"""
    return isinstance(statement, syntax.Assignment) and _is_call(statement.value, "Checksum", "get")


def open_residuals(emitter: BlockEmitter, parser: syntax.Parser) -> None:
    """Emits what deposits the residues of the parser's Checksums."""
    symbols = {
        node.target.base.symbol: None
        for node in walk(parser.states)
        if _is_call(node, "Checksum", "get", DEPOSIT)
    }
    for symbol in symbols:
        name = emitter.instance(symbol).identifier
        emitter.lines.add(f"ResidualChecksum {name}_residue_{{frame_.{name}_, reader_}};")


def deposit(emitter: BlockEmitter, call: syntax.Call, field: syntax.Expression) -> None:
    """Emits that the residue goes to `field` when the parser ends."""
    assert emitter.block is not None and isinstance(call.target.base, syntax.Name)
    if emitter.block.parent is not None:
        raise unsupported(
            call.position,
            f"Checksum.{call.target.name} in a subparser",
            "in a parser of the pipeline",
        )
    if not isinstance(field, syntax.Member) or types.underlying(field.type) != types.Bit(16):
        raise P4Error(
            field.position, "the residue of a checksum goes to a bit<16> of metadata or a header"
        )
    if call.target.name == "get":
        _require_last_header(emitter.block, call)
    instance = emitter.instance(call.target.base.symbol)
    emitter.lines.add(f"{instance.identifier}_residue_.deposit({emitter.value(field)});")


def _require_last_header(parser: BlockInstance, call: syntax.Call) -> None:
    """The Tofino compiler lets `get` begin behind the header of the last field subtracted in its
    state, so what the state has extracted since would be subtracted as well.
    """
    assert isinstance(parser.declaration, syntax.Parser)
    for state in parser.declaration.states or []:
        nodes = list(walk(state.statements))
        if not any(node is call for node in nodes):
            continue
        extracted, subtracted = "", ""
        for node in itertools.takewhile(lambda node: node is not call, nodes):
            if _is_call(node, "packet_in", "extract"):
                extracted = _taken(node.target.arguments[0])
            elif _is_call(node, "Checksum", "subtract"):
                headers = [_header_of(part) for part in walk(node.target.arguments[0])]
                subtracted = next(filter(None, reversed(headers)), subtracted)
        if extracted and subtracted and extracted != subtracted:
            raise unsupported(
                call.position,
                f"Checksum.get after a field of {subtracted} was subtracted behind {extracted}",
                f"{DEPOSIT}, which says itself from where on headers are subtracted",
            )


def _taken(extracted: syntax.Expression) -> str:
    """What the header that is extracted is called from then on."""
    if isinstance(extracted, syntax.Member) and isinstance(extracted.base.type, types.Stack):
        return f"{expression_text(extracted.base)}.last"
    return expression_text(extracted)


def _is_header(type_: types.Type | None) -> bool:
    return isinstance(type_, types.Composite) and type_.is_header


def _header_of(node: syntax.Node) -> str:
    """The header that an expression is, or is a field of; "" for others."""
    for part in (node, node.base) if isinstance(node, syntax.Member) else (node,):
        if isinstance(part, syntax.Expression) and _is_header(part.type):
            return expression_text(part)
    return ""


def _is_call(node: syntax.Node, extern: str, *methods: str) -> TypeGuard[syntax.Call]:
    if not isinstance(node, syntax.Call) or node.target is None or node.target.base is None:
        return False
    type_ = node.target.base.type
    return isinstance(type_, types.Generic) and type_.name == extern and node.target.name in methods
