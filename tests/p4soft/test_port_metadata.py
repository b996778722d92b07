"""port_metadata_unpack: what the control plane has written down for a packet's port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from p4_programs import program
from packet.targets import CommandFailedError, MemoryTarget

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
