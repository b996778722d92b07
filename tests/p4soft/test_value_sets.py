"""Value sets: cases of a parser's select whose values the control plane gives."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from p4_programs import program
from packet.targets import CommandFailedError, MemoryTarget

KINDS, PAIRS = "IngressParser.kinds", "IngressParser.pairs"
PROGRAM = program(
    "hdr.data.a = md.m8;",
    top="enum bit<16> pair_kind_t { ONE = 1 }\nstruct pair_t { pair_kind_t b; bit<8> low; }\n",
    parser_local="value_set<bit<8>>(2) kinds;\n    value_set<pair_t>(4) pairs;",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition select(hdr.data.kind) {
            7: seven;
            kinds: marked;
            default: second;
        }
    }
    state second {
        transition select(hdr.data.b, hdr.data.c[7:0]) {
            pairs: paired;
            (5, _): five;
            _: accept;
        }
    }
    state seven { md.m8 = 1; transition accept; }
    state marked { md.m8 = 2; transition accept; }
    state paired { md.m8 = 3; transition accept; }
    state five { md.m8 = 4; transition accept; }
""",
)


@pytest.fixture
def switch(load: Any) -> Iterator[MemoryTarget]:
    switch = load(PROGRAM)
    yield switch
    for table in (KINDS, PAIRS):
        write(switch, table, op="clear")


def write(switch: MemoryTarget, table: str, op: str = "insert", **update: Any) -> None:
    switch.command("table_write", updates=[{"op": op, "table": table, **update}])


def key(**fields: tuple[int, int]) -> dict[str, Any]:
    return {name: {"value": value, "mask": mask} for name, (value, mask) in fields.items()}


def state(switch: MemoryTarget, kind: int, b: int = 0, c: int = 0) -> int:
    """The mark of the state that the parser passed."""
    rest = b.to_bytes(2, "big") + c.to_bytes(4, "big") + bytes(6)
    ((_, frame),) = switch.send(1, bytes([kind, 0]) + rest)
    return frame[1]


def test_an_empty_set_matches_nothing(switch: MemoryTarget) -> None:
    assert [state(switch, kind) for kind in (0, 7, 9)] == [0, 1, 0]


def test_values_are_compared_under_their_mask(switch: MemoryTarget) -> None:
    write(switch, KINDS, key=key(f1=(0x40, 0xF0)))
    kinds = (0x3F, 0x40, 0x4F, 0x50)
    assert [state(switch, kind) for kind in kinds] == [0, 2, 2, 0]
    write(switch, KINDS, op="delete", key=key(f1=(0x40, 0xF0)))
    assert state(switch, 0x40) == 0


def test_cases_count_in_the_order_of_the_source(switch: MemoryTarget) -> None:
    write(switch, KINDS, key=key(f1=(7, 0xFF)))
    write(switch, PAIRS, key=key(b=(5, 0xFFFF)))
    assert state(switch, 7) == 1  # its case comes before the set
    assert state(switch, 0, b=5) == 3  # its case comes after it


def test_all_fields_of_a_struct_are_compared(switch: MemoryTarget) -> None:
    write(switch, PAIRS, key=key(b=(0x0800, 0xFFFF), low=(6, 0xFF)))
    found = [state(switch, 0, b, c) for b, c in ((0x0800, 6), (0x0800, 7), (0x0801, 6))]
    assert found == [3, 0, 0]


def test_a_set_is_full_at_its_size(switch: MemoryTarget) -> None:
    for value in (1, 2):
        write(switch, KINDS, key=key(f1=(value, 0xFF)))
    with pytest.raises(CommandFailedError, match="is full at 2 entries"):
        write(switch, KINDS, key=key(f1=(3, 0xFF)))
    assert [state(switch, kind) for kind in (1, 2, 3)] == [2, 2, 0]


def test_entries_are_keys_alone(switch: MemoryTarget) -> None:
    write(switch, KINDS, key=key(f1=(1, 0xFF)))
    read = switch.command("table_read", table=KINDS)
    assert read["entries"] == [{"key": {"f1": {"value": 1, "mask": 255}}, "data": {}}]
    assert read["default"] is None
    with pytest.raises(CommandFailedError, match='leave "action" out'):
        write(switch, KINDS, key=key(f1=(2, 0xFF)), action="NoAction")
    with pytest.raises(CommandFailedError, match="no default entry"):
        write(switch, KINDS, op="set_default", action="NoAction")
    with pytest.raises(CommandFailedError, match="exists already"):
        write(switch, KINDS, key=key(f1=(1, 0xFF)))


def test_the_schema_is_the_compilers(switch: MemoryTarget) -> None:
    """As p4c's own test of its bfrt.json asks of a value set (BfrtPvs)."""
    table = switch.command("table_info", table=PAIRS)["schema"]
    assert (table["table_type"], table["size"], table["data"]) == ("ParserValueSet", 4, [])
    fields = [(field["id"], field["name"], field["match_type"]) for field in table["key"]]
    assert fields == [(1, "b", "Ternary"), (2, "low", "Ternary")]
    assert [field["type"] for field in table["key"]] == [
        {"type": "bytes", "width": 16},
        {"type": "bytes", "width": 8},
    ]
    assert "action_specs" not in table
