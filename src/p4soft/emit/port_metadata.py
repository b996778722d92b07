"""The metadata of ports: a table of the runtime without actions, by ingress port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4soft.check import types
from p4soft.check.port_metadata import MAX_BITS
from p4soft.elaborate import PortMetadata
from p4soft.emit.cpp_types import cpp_type, from_raw
from p4soft.emit.externs.base import control_name
from p4soft.emit.naming import identifier
from p4soft.emit.state import Emission

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter

PORTS = 288  # of Tofino 1, in all its pipes
PORT_BITS = 9


def declare(emission: Emission, metadata: PortMetadata) -> None:
    words = len(metadata.type.fields)
    emission.members.add(
        f"IndexedTable<ExactMatchIndex<1>> port_metadata_{{{PORTS}, {words}, false}};",
        "std::uint16_t ingress_port_ = 0;  // of the packet being processed",
    )
    name = control_name(emission, metadata.path)
    emission.setup.add(f'add_table("{name}", port_metadata_);')


def unpack(emitter: BlockEmitter, metadata: PortMetadata) -> str:
    """A value of the struct or header: zeros for a port without an entry. Takes the place of the
    metadata off the packet.
    """
    key, found, value = (emitter.temporary(what) for what in ("port", "found", "metadata"))
    lines = emitter.lines
    lines.add(f"if (!reader_.has({MAX_BITS // 8})) return kParserPartialHeader;")
    lines.add(f"reader_.take({MAX_BITS // 8});")
    lines.add(f"KeyWords<1> {key}{{}};")
    lines.add(f"put_key<0, {PORT_BITS}>({key}, to_bit<{PORT_BITS}>(ingress_port_));")
    lines.add(f"[[maybe_unused]] const Lookup {found} = port_metadata_.lookup({key});")
    lines.add(f"{cpp_type(metadata.type)} {value}{{}};")
    if metadata.type.is_header:
        lines.add(f"{value}.valid_ = true;")
    for word, (field, type_) in enumerate(metadata.type.fields.items()):
        raw = f"{found}.entry.data<1, {word}, {types.width_of(type_)}>()"
        lines.add(f"{value}.{identifier(field)} = {from_raw(raw, type_)};")
    return value
