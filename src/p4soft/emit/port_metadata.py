"""The metadata of ports: a table of the runtime without actions, by ingress port."""

from __future__ import annotations

from typing import TYPE_CHECKING

from p4soft.check import types
from p4soft.check.port_metadata import MAX_BITS, layout
from p4soft.elaborate import PortMetadata
from p4soft.emit.cpp_types import cpp_type, from_raw
from p4soft.emit.externs.base import control_name
from p4soft.emit.naming import identifier
from p4soft.emit.state import Emission
from p4soft.emit.text import Lines

if TYPE_CHECKING:
    from p4soft.emit.block import BlockEmitter

PORTS = 288  # of Tofino 1, in all its pipes
PORT_BITS = 9


def declare(emission: Emission, metadata: PortMetadata) -> None:
    metadata.identifier = emission.names.take("port_metadata")
    table = f"{metadata.identifier}_"
    words = len(metadata.type.fields)
    emission.members.add(f"IndexedTable<ExactMatchIndex<1>> {table}{{{PORTS}, {words}, {{}}}};")
    name = control_name(emission, metadata.path)
    emission.setup.add(f'add_table("{name}", {table});')


def unpack(emitter: BlockEmitter, metadata: PortMetadata) -> str:
    """A value of the struct or header: zeros for a port without an entry. Takes the place of the
    metadata off the packet.
    """
    key, found, value = (emitter.temporary(what) for what in ("port", "found", "metadata"))
    lines = emitter.lines
    lines.add(f"if (!reader_.has({MAX_BITS // 8})) return kParserPartialHeader;")
    lines.add(f"reader_.take({MAX_BITS // 8});")
    _look_up(metadata, lines, key, found)
    lines.add(f"{cpp_type(metadata.type)} {value}{{}};")
    if metadata.type.is_header:
        lines.add(f"{value}.valid_ = true;")
    for word, (field, type_) in enumerate(metadata.type.fields.items()):
        raw = f"{found}.entry.data<1, {word}, {types.width_of(type_)}>()"
        lines.add(f"{value}.{identifier(field)} = {from_raw(raw, type_)};")
    return value


def arrive(metadata: PortMetadata, lines: Lines) -> None:
    """Before the parser. One that reads the bits of the port as they are finds them before the
    frame, but of a resubmitted packet its own data.
    """
    lines.add("ingress_port_ = packet.ingress_port;")
    if not metadata.is_read_as_bits:
        return
    offsets, _ = layout(metadata.type)
    with lines.braces("if (!packet.resubmitted)"):
        _look_up(metadata, lines, "port_", "found_")
        lines.add(f"std::uint8_t* const bits_ = packet.data - {MAX_BITS // 8};")
        if metadata.is_unpacked:
            lines.add(f"store_bits<0, {MAX_BITS}>(bits_, Unsigned<{MAX_BITS}>{{0}});")
        for word, (field, type_) in enumerate(metadata.type.fields.items()):
            width = types.width_of(type_)
            bits = f"found_.entry.data<1, {word}, {width}>()"
            lines.add(f"store_bits<{offsets[field]}, {width}>(bits_, {bits});")


def _look_up(metadata: PortMetadata, lines: Lines, key: str, found: str) -> None:
    """The entry of the port, or the default one: zeros."""
    lines.add(f"KeyWords<1> {key}{{}};")
    lines.add(f"put_key<0, {PORT_BITS}>({key}, to_bit<{PORT_BITS}>(ingress_port_));")
    lookup = f"{metadata.identifier}_.lookup({key})"
    lines.add(f"[[maybe_unused]] const Lookup {found} = {lookup};")
