"""Conditions that constructor parameters decide: what no packet reaches is left out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from p4_programs import program
from packet.targets import MemoryTarget

# As in open-p4studio's example selector_resize: two tables of one name, of which an instance has
# the one that it applies.
TOP = """
control Lookup(inout headers_t hdr)(bool is_ternary, bit<8> level) {
    action mark(bit<8> value) { hdr.data.a = value; }
    @name("chosen") table chosen_e {
        key = { hdr.data.kind: exact; }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction;
        size = 16;
    }
    @name("chosen") table chosen_t {
        key = { hdr.data.kind: ternary; }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction;
        size = 16;
    }
    table high {
        key = { hdr.data.b: exact; }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction;
        size = 16;
    }
    table unused {
        key = { hdr.data.c: exact; }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction;
        size = 16;
    }
    apply {
        if (is_ternary) { chosen_t.apply(); } else { chosen_e.apply(); }
        if (!is_ternary && level == 2 || level == 3) { high.apply(); }
        if (is_ternary && hdr.data.b == 0) { hdr.data.mac = 7; }
    }
}
"""
PROGRAM = program(
    "two.apply(hdr); three.apply(hdr);",
    top=TOP,
    local="Lookup(false, 2) two;\n    Lookup(true, 2) three;",
)
Load = Callable[[str], MemoryTarget]


@pytest.fixture
def switch(load: Load) -> MemoryTarget:
    return load(PROGRAM)


def test_an_instance_has_the_tables_that_it_can_reach(switch: MemoryTarget) -> None:
    found = {
        table["name"].removeprefix("pipe.Ingress."): table["key"][0]["match_type"]
        for table in switch.command("schema")["tables"]
    }
    assert found == {
        "two.chosen": "Exact",
        "two.high": "Exact",
        "three.chosen": "Ternary",
    }


def test_each_instance_takes_its_own_way(switch: MemoryTarget) -> None:
    def insert(table: str, key: Any, value: int) -> dict[str, Any]:
        return {
            "op": "insert", "table": f"Ingress.{table}", "key": key, "action": "mark",
            "data": {"value": value},
        }  # fmt: skip

    switch.command(
        "table_write",
        updates=[
            insert("two.chosen", {"hdr.data.kind": 1}, 0x11),
            insert("two.high", {"hdr.data.b": 5}, 0x22),
            insert("three.chosen", {"hdr.data.kind": {"value": 0x80, "mask": 0x80}}, 0x33),
        ],
    )

    def answer(kind: int, b: int) -> tuple[int, int]:
        """Fields a and mac."""
        frame = bytes([kind, 0]) + b.to_bytes(2, "big") + bytes(10)
        [(_, data)] = switch.send(1, frame)
        return data[1], int.from_bytes(data[8:14], "big")

    assert answer(1, 1) == (0x11, 0)
    assert answer(1, 5) == (0x22, 0)
    assert answer(0x81, 1) == (0x33, 0)
    assert answer(0, 0) == (0, 7)


def test_both_ways_apply_one_table(load: Load) -> None:
    """Neither way is another table's, so the packet passes it once."""
    top = """
control Once(inout headers_t hdr)(bool early) {
    action mark() { hdr.data.a = hdr.data.a + 1; }
    table marks { actions = { mark; } default_action = mark; }
    apply {
        if (early) { marks.apply(); }
        hdr.data.b = 9;
        if (!early) { marks.apply(); }
    }
}
"""
    switch = load(program("first.apply(hdr);", top=top, local="Once(true) first;"))
    [(_, data)] = switch.send(1, bytes(14))
    assert data[:4] == bytes([0, 1, 0, 9])


COUNTED = """
control Counted(inout headers_t hdr) {
    Counter<bit<32>, bit<8>>(256, CounterType_t.PACKETS) packets;
    action mark() { hdr.data.a = hdr.data.a + 1; packets.count(0); }
    table marks { actions = { mark; } default_action = mark; }
    apply { marks.apply(); }
}
"""


def test_a_control_goes_where_no_packet_comes_to_it(load: Load) -> None:
    """With its tables and externs, as in the Tofino compiler's bfrt.json of these lines."""
    local = "Counted() never;\n    Counted() out_of_reach;\n    Counted() always;"
    apply = "if (false) { out_of_reach.apply(hdr); } always.apply(hdr);"
    switch = load(program(apply, top=COUNTED, local=local))
    names = {table["name"] for table in switch.command("schema")["tables"]}
    assert names == {"pipe.Ingress.always.packets", "pipe.Ingress.always.marks"}
    [(_, data)] = switch.send(1, bytes(14))
    assert data[1] == 1


DIRECT = {
    "counters": ("DirectCounter<bit<32>>(CounterType_t.PACKETS) cells;", "cells.count();"),
    "meters": ("DirectMeter(MeterType_t.BYTES) cells;", "hdr.data.b[7:0] = cells.execute();"),
    "filters": ("DirectLpf<bit<16>>() cells;", "hdr.data.b = cells.execute(hdr.data.b);"),
    "registers": (
        "DirectRegister<bit<16>>() cells;"
        "DirectRegisterAction<bit<16>, bit<16>>(cells) add = {"
        "    void apply(inout bit<16> value, out bit<16> rv) { value = value + 1; rv = value; }"
        "};",
        "hdr.data.b = add.execute();",
    ),
}


@pytest.mark.parametrize("kind", DIRECT)
def test_direct_externs_go_with_a_table_that_is_never_applied(load: Load, kind: str) -> None:
    declared, use = DIRECT[kind]
    table = f"key = {{ hdr.data.kind: exact; }} actions = {{ use; }} {kind} = cells;"
    switch = load(
        program(
            "if (false) { t.apply(); } hdr.data.a = 1;",
            local=f"{declared} action use() {{ {use} }}table t {{ {table} default_action = use; }}",
        )
    )
    assert switch.command("schema")["tables"] == []
    ((_, frame),) = switch.send(1, bytes(14))
    assert frame[:4] == bytes([0, 1, 0, 0])


# Found by P4Smith.
def test_a_table_that_is_applied_in_the_key_of_another_is_there(load: Load) -> None:
    local = """
    action set(bit<8> v) { hdr.data.a = v; }
    table inner {
        key = { hdr.data.kind: exact; }
        actions = { NoAction; }
        const entries = { 1: NoAction(); }
        size = 2;
    }
    table outer {
        key = { (inner.apply().hit ? 8w5 : 8w6): exact @name("way"); }
        actions = { set; NoAction; }
        const entries = { 5: set(10); 6: set(20); }
        size = 2;
    }
    """
    target = load(program("outer.apply();", local=local))
    assert [target.send(1, bytes([kind]) + bytes(13))[0][1][1] for kind in (1, 2)] == [10, 20]
