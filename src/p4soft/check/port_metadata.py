"""Port metadata: what the control plane has written down for the port a packet came from.

The parser of ingress takes them by port_metadata_unpack, or the bits as they are by an extract.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from p4soft.check import types
from p4soft.check.parser_positions import UNPACK, reads_port_metadata
from p4soft.check.types import BOOL, Bit, Composite, Int
from p4soft.elaborate import BlockInstance, Pipeline, PortMetadata
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

MAX_BITS = 64  # of a port, Tofino 1
# As the compiler describes them where no parser unpacks them.
_BITS = Composite("struct", "port metadata", {"$DEFAULT_FIELD": Bit(MAX_BITS)})
_PORT = "ingress_intrinsic_metadata_t"


def find_port_metadata(program: syntax.Program, pipeline: Pipeline) -> None:
    """Sets pipeline.port_metadata. Raises P4Error."""
    top = pipeline.blocks["ingress_parser"]
    parsers = top.with_descendants()
    elsewhere: list[syntax.Statement] = [
        each
        for each in program.declarations
        if not isinstance(each, (syntax.Parser, syntax.Control))
    ]
    elsewhere += [block.declaration for block in pipeline.all_blocks() if block not in parsers]
    for call in _unpackings(elsewhere):
        raise P4Error(call.position, f"{UNPACK} belongs in the parser of ingress")
    found = _unpacked([parser.declaration for parser in parsers])
    read_as_bits = reads_port_metadata(top)
    if found is not None or read_as_bits:
        path = f"{top.path}.$PORT_METADATA"
        pipeline.port_metadata = PortMetadata(
            path, _port_key(top), found or _BITS, found is not None, read_as_bits
        )


def _unpacked(parsers: list[syntax.Parser | syntax.Control]) -> Composite | None:
    """The one type of port metadata that parsers unpack, if they do."""
    found: Composite | None = None
    for call in _unpackings(parsers):
        type_ = _checked(call.type, call.position)
        if found is not None and found is not type_:
            raise unsupported(
                call.position,
                f"a second type of port metadata, {type_} beside {found}",
                "one for all calls",
            )
        found = type_
    return found


def _unpackings(nodes: Any) -> Iterator[syntax.Call]:
    for node in walk(nodes):
        if isinstance(node, syntax.Call) and node.target is not None:
            target = node.target
            if target.kind == "extern_function" and target.name == UNPACK:
                yield node


def _checked(type_: types.Type | None, position: Position) -> Composite:
    if not isinstance(type_, Composite) or type_.is_flexible:
        raise P4Error(position, f"port metadata are {type_}; expected a struct or header")
    for name, field in type_.fields.items():
        base = types.underlying(field)
        if not isinstance(base, (Bit, Int)) and base != BOOL:
            raise P4Error(
                position,
                f"field '{name}' of {type_} is {field}; expected bit<W>, int<W>, bool or a "
                "serializable enum",
            )
    _, bits = layout(type_)
    if bits > MAX_BITS:
        raise P4Error(
            position,
            f"port metadata of {bits} bits, each field in whole bytes; Tofino has {MAX_BITS} for "
            "each port",
        )
    return type_


def layout(type_: Composite) -> tuple[dict[str, int], int]:
    """Where each field begins among the bits of a port, as the compiler packs them, and their end:
    a field ends at the end of a byte, but for those marked @padding, which have their own bits.
    """
    offsets: dict[str, int] = {}
    end = 0
    for name, field in type_.fields.items():
        width = types.width_of(field) or 0
        is_padding = (name, "padding") in type_.marks
        if not is_padding:
            end += (-width - end) % 8
        offsets[name] = end
        end += width
        if not is_padding:
            end += -end % 8
    return offsets, end


def _port_key(parser: BlockInstance) -> str:
    """As the compiler names it, after the parser's parameter."""
    for parameter in parser.declaration.parameters:
        type_ = parameter.symbol.type
        if isinstance(type_, Composite) and type_.name == _PORT:
            return f"{parameter.name}.ingress_port"
    return "ig_intr_md.ingress_port"
