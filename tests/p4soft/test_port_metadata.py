"""What the control plane has written down for a packet's port: unpacked, or extracted as it is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from p4_programs import PARSER, program
from packet.targets import CommandFailedError, MemoryTarget

from p4soft.cli import translate

TABLE = "IngressParser.$PORT_METADATA"
PROGRAM = program(
    "hdr.data.b = md.m16; hdr.data.a = md.m8; if (md.flag) { hdr.data.c = 1; }",
    top="""
enum bit<8> role_t { HOST = 1, SWITCH = 2 }
struct port_t { bit<16> number; role_t role; bool trusted; }
""",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        port_t port = port_metadata_unpack<port_t>(pkt);
        md.m16 = port.number;
        md.m8 = (bit<8>)port.role;
        md.flag = port.trusted;
        pkt.extract(hdr.data);
        transition accept;
    }
""",
)


OF_A_HEADER = program(
    "hdr.extra = md.port; hdr.data.a = 1;",
    metadata="""
struct headers_t { data_h data; extra_h extra; }
struct metadata_t { extra_h port; }
""",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        md.port = port_metadata_unpack<extra_h>(pkt);
        pkt.extract(hdr.data);
        transition accept;
    }
""",
)


@pytest.fixture
def switch(load: Any) -> Iterator[MemoryTarget]:
    switch = load(PROGRAM)
    yield switch
    write(switch, "clear")


def write(switch: MemoryTarget, op: str, port: int | None = None, **data: Any) -> None:
    update: dict[str, Any] = {"op": op, "table": TABLE}
    if port is not None:
        update |= {"key": {"ig_intr_md.ingress_port": port}}
    if data:
        update |= {"data": data}
    switch.command("table_write", updates=[update])


def seen(switch: MemoryTarget, port: int) -> tuple[int, int, int]:
    """Number, role and trust of the port, as the program saw them."""
    ((_, frame),) = switch.send(port, bytes(14) + b"rest")
    return int.from_bytes(frame[2:4], "big"), frame[1], int.from_bytes(frame[4:8], "big")


def test_a_port_without_an_entry_has_zeros(switch: MemoryTarget) -> None:
    assert seen(switch, 1) == (0, 0, 0)


def test_each_port_has_its_own(switch: MemoryTarget) -> None:
    write(switch, "insert", 1, number=0xABCD, role=2, trusted=True)
    write(switch, "insert", 9, number=7, role=1, trusted=False)
    assert [seen(switch, port) for port in (1, 9, 2)] == [(0xABCD, 2, 1), (7, 1, 0), (0, 0, 0)]
    write(switch, "modify", 1, number=1, role=1, trusted=False)
    assert seen(switch, 1) == (1, 1, 0)
    write(switch, "delete", 1)
    assert seen(switch, 1) == (0, 0, 0)


def test_a_header_of_metadata_is_valid(load: Any) -> None:
    switch = load(OF_A_HEADER)
    write(switch, "upsert", 1, x=0x1234, y=0x5678)
    ((_, frame),) = switch.send(1, bytes(14) + b"rest")
    assert frame[14:] == bytes.fromhex("12345678") + b"rest"


def test_entries_read_back_without_an_action(switch: MemoryTarget) -> None:
    write(switch, "upsert", 3, number=5, role=1, trusted=True)
    read = switch.command("table_read", table=TABLE)
    assert read["entries"] == [
        {
            "key": {"ig_intr_md.ingress_port": 3},
            "data": {"number": 5, "role": 1, "trusted": 1},
        }
    ]
    assert read["default"] is None
    with pytest.raises(CommandFailedError, match=r"data role of table \S+ is missing"):
        write(switch, "insert", 4, number=5, trusted=True)


def test_the_schema_is_the_compilers(switch: MemoryTarget) -> None:
    """As p4c's addPortMetadata makes it: no actions, all data mandatory."""
    table = switch.command("table_info", table=TABLE)["schema"]
    assert (table["table_type"], table["size"]) == ("PortMetadata", 288)
    (key,) = table["key"]
    assert (key["match_type"], key["mandatory"]) == ("Exact", True)
    assert key["type"] == {"type": "bytes", "width": 9}
    data = [(field["mandatory"], field["singleton"]["name"]) for field in table["data"]]
    assert data == [(True, "number"), (True, "role"), (True, "trusted")]
    assert "action_specs" not in table


PORT = """
header port_h { bit<16> first; bit<24> second; bit<16> third; bit<8> fourth; }
struct headers_t { data_h data; }
struct metadata_t { port_h port; }
"""
# The second pass finds what was resubmitted in the place of the metadata.
EXTRACTING = program(
    """
        hdr.data.b = md.port.first;
        hdr.data.c = (bit<32>)md.port.second;
        hdr.data.mac = (bit<48>)md.port.third;
        hdr.data.a = md.port.fourth;
        if (hdr.data.kind == 2 && ig_intr_md.resubmit_flag == 0) { ig_dprsr_md.resubmit_type = 1; }
""",
    metadata=PORT,
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) { 1: again; 0: first; }
    }
    state again { pkt.extract(md.port); transition data; }
    state first { pkt.extract(md.port); transition data; }
    state data { pkt.extract(hdr.data); transition accept; }
""",
    deparser_local="    Resubmit() resubmit;\n",
    deparser="""
        if (ig_dprsr_md.resubmit_type == 1) { resubmit.emit<port_h>({0xABCD, 1, 2, 3}); }
        pkt.emit(hdr);
""",
)


def extracted(switch: MemoryTarget, port: int, kind: int = 1) -> tuple[int, ...]:
    ((_, frame),) = switch.send(port, bytes([kind]) + bytes(13))
    ends = ((2, 4), (4, 8), (8, 14), (1, 2))
    return tuple(int.from_bytes(frame[begin:end], "big") for begin, end in ends)


def test_a_parser_may_extract_the_bits_as_they_are(load: Any) -> None:
    switch = load(EXTRACTING)
    assert extracted(switch, 1) == (0, 0, 0, 0)
    write(switch, "insert", 1, **{"$DEFAULT_FIELD": 0x1122_334455_6677_88})
    assert extracted(switch, 1) == (0x1122, 0x334455, 0x6677, 0x88)
    assert extracted(switch, 2) == (0, 0, 0, 0)
    assert extracted(switch, 1, kind=2) == (0xABCD, 1, 2, 3)
    write(switch, "modify", 1, **{"$DEFAULT_FIELD": 7})
    assert extracted(switch, 1) == (0, 0, 0, 7)
    write(switch, "delete", 1)
    assert extracted(switch, 1) == (0, 0, 0, 0)


# Looks at the bits as they are, and unpacks them.
BOTH = program(
    """
        hdr.data.mac = md.bits[63:16];
        hdr.data.b = md.bits[15:0];
        hdr.data.a = (bit<8>)md.port.number[8:1];
        hdr.data.c = md.port.value;
""",
    metadata="""
struct port_t { bit<9> number; bool flag; bit<32> value; }
struct headers_t { data_h data; }
struct metadata_t { bit<64> bits; port_t port; }
""",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        md.bits = pkt.lookahead<bit<64>>();
        md.port = port_metadata_unpack<port_t>(pkt);
        pkt.extract(hdr.data);
        transition accept;
    }
""",
)


def test_bits_and_unpacked_fields_agree(load: Any) -> None:
    """The compiler packs each field (canPackDataIntoPhase0) in whole bytes, at their end: 0x01ff,
    0x01, 0x89abcdef, and zeros behind.
    """
    switch = load(BOTH)
    frame = bytes([1]) + bytes(13)
    write(switch, "insert", 1, number=0x1FF, flag=True, value=0x89ABCDEF)
    ((_, got),) = switch.send(1, frame)
    assert got[8:14] + got[2:4] == bytes.fromhex("01ff 01 89abcdef 00")
    assert (got[1], got[4:8]) == (0xFF, bytes.fromhex("89abcdef"))
    ((_, got),) = switch.send(2, frame)
    assert got == frame
    write(switch, "delete", 1)


def test_the_schema_of_bits_as_they_are_is_the_compilers(load: Any) -> None:
    table = load(EXTRACTING).command("table_info", table=TABLE)["schema"]
    (field,) = table["data"]
    assert (field["mandatory"], field["singleton"]["name"]) == (False, "$DEFAULT_FIELD")
    assert field["singleton"]["type"] == {"type": "bytes", "width": 64}


PART = """
parser Part(packet_in pkt, out ingress_intrinsic_metadata_t intrinsic) {
    state start { pkt.extract(intrinsic); %s transition accept; }
}
"""
BEHIND_PART = """
    state start { part.apply(pkt, ig_intr_md); %s transition accept; }
"""


def parts(inner: str, outer: str) -> str:
    parser = BEHIND_PART % outer
    return program(top=PART % inner, metadata=PORT, parser=parser, parser_local="Part() part;")


def instead_of_advance(statement: str) -> str:
    parser = PARSER.replace("pkt.advance(PORT_METADATA_SIZE);", statement)
    return program(metadata=PORT, parser=parser)


READING = {
    "extract": instead_of_advance("pkt.extract(md.port);"),
    "lookahead": instead_of_advance("bit<8> x = pkt.lookahead<bit<8>>(); pkt.advance(64);"),
    "behind a part": parts("", "pkt.extract(md.port);"),
}
PASSING = {
    "advance": program(),
    "advance in a part": parts("pkt.advance(64);", "pkt.extract(hdr.data);"),
    "resubmit data": EXTRACTING.replace(
        "state first { pkt.extract(md.port);", "state first { pkt.advance(64);"
    ),
}


def tables_of(text: str, directory: Path) -> list[str]:
    path = directory / "port.p4"
    path.write_text(text)
    return [table["name"] for table in json.loads(translate(path, [], {}).schema)["tables"]]


@pytest.mark.parametrize("name", READING)
def test_a_parser_that_reads_the_bits_has_the_table(name: str, tmp_path: Path) -> None:
    assert tables_of(READING[name], tmp_path) == [f"pipe.{TABLE}"]


@pytest.mark.parametrize("name", PASSING)
def test_a_parser_that_passes_over_the_bits_has_none(name: str, tmp_path: Path) -> None:
    assert tables_of(PASSING[name], tmp_path) == []
