"""port_metadata_unpack: what the control plane has written down for the port a packet came from."""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.types import BOOL, Bit, Composite, Int
from p4soft.elaborate import BlockInstance, Pipeline, PortMetadata
from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.tree import walk

FUNCTION = "port_metadata_unpack"
MAX_BITS = 64  # of a port, Tofino 1
_PORT = "ingress_intrinsic_metadata_t"


def find_port_metadata(pipeline: Pipeline) -> None:
    """Sets pipeline.port_metadata. Raises P4Error."""
    top = pipeline.blocks["ingress_parser"]
    parsers = top.with_descendants()
    for block in pipeline.all_blocks():
        for node in walk(block.declaration):
            if not isinstance(node, syntax.Call) or node.target is None:
                continue
            if node.target.kind != "extern_function" or node.target.name != FUNCTION:
                continue
            if block not in parsers:
                raise P4Error(node.position, f"{FUNCTION} belongs in the parser of ingress")
            type_ = _checked(node.type, node.position)
            found = pipeline.port_metadata
            if found is not None and found.type is not type_:
                raise unsupported(
                    node.position,
                    f"a second type of port metadata, {type_} beside {found.type}",
                    "one for all calls",
                )
            if found is None:
                path = f"{top.path}.$PORT_METADATA"
                pipeline.port_metadata = PortMetadata(path, _port_key(top), type_)


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
    bits = types.width_of(type_) or 0
    if bits > MAX_BITS:
        raise P4Error(
            position, f"port metadata of {bits} bits; Tofino has {MAX_BITS} for each port"
        )
    return type_


def _port_key(parser: BlockInstance) -> str:
    """As the compiler names it, after the parser's parameter."""
    for parameter in parser.declaration.parameters:
        type_ = parameter.symbol.type
        if isinstance(type_, Composite) and type_.name == _PORT:
            return f"{parameter.name}.ingress_port"
    return "ig_intr_md.ingress_port"
