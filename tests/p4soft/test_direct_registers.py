"""DirectRegister: every entry of a table has a cell of its own. RegisterParam: a constant of
register actions that the control plane sets.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from p4_programs import program
from packet.targets import CommandFailedError, MemoryTarget
from refusals import check_refused

from p4soft.cli import translate

TABLE = "by_kind"
MAC = bytes(6)
# As in the vendor's example tna_register: its test expects that a packet finds `second` as it was,
# adds 1 to `first` and 100 to `second`.
PAIRS = program(
    "by_kind.apply();",
    top="struct pair_t { bit<32> first; bit<32> second; }\n",
    local="""
    DirectCounter<bit<64>>(CounterType_t.PACKETS) seen;
    DirectMeter(MeterType_t.PACKETS) meter;
    DirectRegister<pair_t>({5, 7}) cells;
    DirectRegisterAction<pair_t, bit<32>>(cells) add = {
        void apply(inout pair_t value, out bit<32> rv) {
            rv = value.second;
            value.first = value.first + 1;
            value.second = value.second + 100;
        }
    };
    action count(bit<8> mark) {
        hdr.data.c = add.execute();
        hdr.data.a = mark;
        hdr.data.b[7:0] = meter.execute();
        seen.count();
    }
    table by_kind {
        key = { hdr.data.kind: exact; }
        actions = { count; @defaultonly NoAction; }
        default_action = NoAction;
        counters = seen;
        meters = meter;
        registers = cells;
        size = 64;
    }
""",
)
FIRST, SECOND = "Ingress.cells.first", "Ingress.cells.second"


def write(switch: MemoryTarget, op: str, kind: int | None = None, **more: Any) -> None:
    key = {} if kind is None else {"key": {"hdr.data.kind": kind}}
    switch.command("table_write", updates=[{"op": op, "table": TABLE} | key | more])


def put(switch: MemoryTarget, op: str, kind: int, **cell: int) -> None:
    names = {"first": FIRST, "second": SECOND}
    data = {names[name]: value for name, value in cell.items()}
    write(switch, op, kind, action="count", data={"mark": 0x11} | data)


def found(switch: MemoryTarget, kind: int) -> int:
    """What a packet gets of its entry's cell."""
    ((_, out),) = switch.send(1, bytes([kind, 0, 0, 0]) + bytes(4) + MAC)
    return int.from_bytes(out[4:8], "big")


def cell(switch: MemoryTarget, kind: int) -> tuple[int, int]:
    wanted = [{"key": {"hdr.data.kind": kind}}]
    (entry,) = switch.command("table_read", table=TABLE, entries=wanted)["entries"]
    return entry["data"][FIRST], entry["data"][SECOND]


@pytest.fixture
def start(load: Callable[[str], MemoryTarget]) -> Iterator[Callable[[str], MemoryTarget]]:
    """What the test wrote is cleared behind it."""
    started: list[MemoryTarget] = []

    def of(text: str) -> MemoryTarget:
        started.append(load(text))
        return started[-1]

    yield of
    for switch in started:
        write(switch, "clear")


def test_packets_change_the_cell_of_their_entry(start: Any) -> None:
    """Three packets: 23 + 3 * 1 and 45 + 3 * 100; a packet of another entry changes none of it."""
    switch = start(PAIRS)
    put(switch, "insert", 1, first=23, second=45)
    put(switch, "insert", 2, first=1000, second=2000)
    assert [found(switch, 1) for _ in range(3)] == [45, 145, 245]
    assert found(switch, 2) == 2000
    assert cell(switch, 1) == (26, 345)
    assert cell(switch, 2) == (1001, 2100)


def test_a_cell_begins_with_the_initial_value(start: Any) -> None:
    switch = start(PAIRS)
    put(switch, "insert", 1)
    assert cell(switch, 1) == (5, 7)
    assert found(switch, 1) == 7
    put(switch, "insert", 2, second=9)  # the other field as it is at first
    assert cell(switch, 2) == (5, 9)
    columns = {"key": {"hdr.data.kind": [3, 4]}, "data": {"mark": [0, 0]}}
    write(switch, "insert_columns", action="count", **columns)
    assert cell(switch, 4) == (5, 7)


def test_a_cell_stays_when_its_entry_is_modified(start: Any) -> None:
    switch = start(PAIRS)
    put(switch, "insert", 1)
    found(switch, 1)
    write(switch, "modify", 1, action="count", data={"mark": 0x22})
    assert cell(switch, 1) == (6, 107)
    write(switch, "modify", 1, data={"cells.first": 40})  # a suffix names it, too
    assert cell(switch, 1) == (40, 107)


def test_an_entry_that_comes_again_has_a_fresh_cell(start: Any) -> None:
    switch = start(PAIRS)
    put(switch, "insert", 1)
    found(switch, 1)
    write(switch, "delete", 1)
    put(switch, "insert", 1)
    assert cell(switch, 1) == (5, 7)


def test_a_batch_that_fails_leaves_cells_as_they_were(start: Any) -> None:
    switch = start(PAIRS)
    put(switch, "insert", 1, first=1, second=2)
    key = {"table": TABLE, "key": {"hdr.data.kind": 1}}
    updates = [{"op": "modify", "data": {FIRST: 9}} | key, {"op": "delete"} | key, {"op": "no"}]
    with pytest.raises(CommandFailedError):
        switch.command("table_write", updates=updates)
    assert cell(switch, 1) == (1, 2)


def test_register_clear_brings_the_initial_values_back(start: Any) -> None:
    switch = start(PAIRS)
    put(switch, "insert", 1, first=1, second=2)
    switch.command("register_clear")
    assert cell(switch, 1) == (5, 7)


def test_counter_and_meter_beside_a_register_are_their_own(start: Any) -> None:
    switch = start(PAIRS)
    put(switch, "insert", 1)
    for _ in range(3):
        found(switch, 1)
    (entry,) = switch.command("table_read", table=TABLE)["entries"]
    assert entry["data"]["$COUNTER_SPEC_PKTS"] == 3
    assert entry["data"]["$METER_SPEC_CIR_PPS"] == 2**64 - 1
    assert entry["data"]["mark"] == 0x11


def test_a_value_too_wide_for_the_cell_is_refused(start: Any) -> None:
    switch = start(PAIRS)
    with pytest.raises(CommandFailedError, match=r"table pipe\.Ingress\.by_kind, .*cells\.first"):
        put(switch, "insert", 1, first=2**32)


def test_the_schema_has_the_fields_among_the_data(tmp_path: Path) -> None:
    """As the compiler numbers them: behind the parameters of the actions."""
    path = tmp_path / "pairs.p4"
    path.write_text(PAIRS)
    tables = json.loads(translate(path, [], {}).schema)["tables"]
    (table,) = [each for each in tables if each["name"] == "pipe.Ingress.by_kind"]
    fields = {each["singleton"]["name"]: each["singleton"] for each in table["data"]}
    assert (fields[FIRST]["id"], fields[SECOND]["id"]) == (2, 3)
    assert fields[FIRST]["type"] == {"type": "bytes", "width": 32}
    assert "SyncRegisters" in table["supported_operations"]
    assert not [each for each in tables if each["table_type"] == "Register"]


SIGNED = program(
    "by_kind.apply();",
    local="""
    DirectRegister<int<16>>() level;
    DirectRegisterAction<int<16>, int<16>>(level) lower = {
        void apply(inout int<16> value, out int<16> rv) {
            value = value - 3;
            rv = value;
        }
    };
    action down() { hdr.data.b = (bit<16>) lower.execute(); }
    action now() { hdr.data.b = (bit<16>) level.read(); }
    action to(bit<16> v) { level.write((int<16>) v); }
    table by_kind {
        key = { hdr.data.kind: exact; }
        actions = { down; now; to; }
        registers = level;
        const default_action = down();
        size = 8;
    }
""",
)


def level(switch: MemoryTarget, kind: int) -> int:
    ((_, out),) = switch.send(1, bytes([kind]) + bytes(13))
    return int.from_bytes(out[2:4], "big", signed=True)


def test_the_default_entry_has_a_cell_and_cells_may_be_signed(start: Any) -> None:
    switch = start(SIGNED)
    assert [level(switch, 9) for _ in range(2)] == [-3, -6]
    write(switch, "insert", 1, action="to", data={"v": 0xFFF0})
    level(switch, 1)  # writes -16
    write(switch, "modify", 1, action="now")
    assert level(switch, 1) == -16
    write(switch, "modify", 1, action="down")
    assert level(switch, 1) == -19


WITHOUT_TABLE = program(
    "hdr.data.c = step.execute();",
    top="DirectRegister<bit<32>>(2048) one;\n",
    local="""
    DirectRegisterAction<bit<32>, bit<32>>(one) step = {
        void apply(inout bit<32> value, out bit<32> rv) { rv = value; value = value + 1; }
    };
""",
)


NESTED = program(
    "t.apply();",
    local="""
    DirectRegister<bit<32>>(9) cells;
    DirectRegisterAction<bit<32>, bit<32>>(cells) step = {
        void apply(inout bit<32> value, out bit<32> rv) { rv = value; value = value + 1; }
    };
    action inner() { hdr.data.c = step.execute(); }
    action outer(bit<8> v) { hdr.data.a = v; inner(); }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { inner; outer; }
        default_action = outer(3);
        registers = cells;
        size = 4;
    }
""",
)


def test_an_action_of_the_table_may_call_the_one_that_uses_the_cell(load: Any) -> None:
    switch = load(NESTED)
    first = found(switch, 1)
    assert first >= 9
    assert found(switch, 1) == first + 1


def test_without_a_table_it_is_one_cell(load: Any) -> None:
    """As in p4c's sample tna_register_action_2."""
    switch = load(WITHOUT_TABLE)
    assert [found(switch, kind) for kind in (1, 2, 3)] == [2048, 2049, 2050]


# --- Parameters of actions ------------------------------------------------------------------------

# The vendor's example: adds test_asn to `first`, and 100 to `second` while that is below test_cdn.
PARAMETERS = program(
    "hdr.data.c = add.execute(hdr.data.a);",
    top="struct pair_t { bit<32> first; bit<32> second; }\n",
    local="""
    Register<pair_t, bit<8>>(4, {5, 7}) cells;
    RegisterParam<bit<32>>(1) asn;
    RegisterParam<bit<32>>(100000000) cdn;
    RegisterAction<pair_t, bit<8>, bit<32>>(cells) add = {
        void apply(inout pair_t value, out bit<32> rv) {
            rv = value.second;
            value.first = value.first + asn.read();
            if (value.second < cdn.read()) { value.second = value.second + 100; }
        }
    };
""",
)


def test_actions_compute_with_what_the_control_plane_says(load: Any) -> None:
    switch = load(PARAMETERS)
    for _ in range(3):
        found(switch, 1)
    assert switch.command("register_read", table="cells", count=1)["values"] == [[8, 307]]
    switch.command("register_write", table="asn", values=[10])
    switch.command("register_write", table="cdn", values=[100])
    for _ in range(2):
        found(switch, 1)
    assert switch.command("register_read", table="cells", count=1)["values"] == [[28, 307]]


def test_register_clear_leaves_parameters(load: Any) -> None:
    switch = load(PARAMETERS)
    switch.command("register_write", table="asn", values=[10])
    switch.command("register_clear")
    assert switch.command("register_read", table="asn")["values"] == [10]
    switch.command("register_clear", table="asn")
    assert switch.command("register_read", table="asn")["values"] == [1]
    switch.command("register_clear", table="cdn")


ATTACHED = """
    DirectRegister<bit<8>>() cells;
    DirectRegisterAction<bit<8>, bit<8>>(cells) step = {{
        void apply(inout bit<8> value) {{ value = value + {value}; }}
    }};
    action a() {{ {a} }}
    action b() {{ {b} }}
    table t {{ key = {{ hdr.data.kind: exact; }} actions = {{ a; }} {t} }}
    table u {{ key = {{ hdr.data.a: exact; }} actions = {{ b; }} {u} }}
"""


def attached(apply: str = "", **parts: str) -> str:
    given = {"value": "1", "a": "step.execute();", "b": "", "t": "registers = cells;", "u": ""}
    return program(f"t.apply(); u.apply(); {apply}", local=ATTACHED.format(**given | parts))


MISPLACED = {
    "outside of actions": (
        attached("/*^*/step.execute();", a=""),
        "'cells' belongs to table 't'; use it in an action of that table",
    ),
    "in an action of another table": (
        attached(a="", b="/*^*/step.execute();"),
        "'cells' belongs to table 't', but action 'b' is used by table 'u' too",
    ),
    "in an action without a table of it": (
        attached(t="", a="/*^*/step.execute();"),
        "'cells' is attached to no table; write `registers = cells;` in the table of this action",
    ),
    "in an action that another table's action calls": (
        attached(a="/*^*/step.execute();", b="a();").replace("t.apply(); ", ""),
        "'cells' belongs to table 't', but action 'a' is used by table 'u' too",
    ),
    "in an action that is called outside of actions": (
        attached("/*^*/a();", t="registers = cells; size = 4;").replace("t.apply(); ", ""),
        "it cannot be called directly",
    ),
    "attached twice": (
        attached(u="/*^*/registers = cells;"),
        "'cells' is attached to table 't' already",
    ),
    "of another extern": (
        attached(t="registers = /*^*/step;"),
        "registers is DirectRegisterAction<bit<8>, bit<8>>, expected a named DirectRegister",
    ),
    "five numbers that are no small constants": (
        program(
            "step.execute(0);",
            local="Register<bit<8>, bit<8>>(4) r;"
            + "".join(f"RegisterParam<bit<8>>(1) p{i};" for i in range(4))
            + """
    RegisterAction<bit<8>, bit<8>, bit<8>>(r) step = {
        void apply(inout bit<8> value) {
            if (value < p0.read()) { value = value + p1.read(); }
            else if (value == 100) { value = value + p2.read(); }
        }
    };
    RegisterAction<bit<8>, bit<8>, bit<8>>(r) other = {
        void apply(inout bit<8> value) { value = value /*^*/+ p3.read(); }
    };
""",
        ),
        "has no place for a RegisterParam beside 4 other constants",
    ),
    "a parameter outside of an action": (
        program("hdr.data.a = /*^*/p.read();", local="RegisterParam<bit<8>>(1) p;"),
        "'p' is read here; only an action of a register can read a RegisterParam",
    ),
}


@pytest.mark.parametrize("name", MISPLACED)
def test_what_has_no_place_is_refused(name: str, tmp_path: Path) -> None:
    text, message = MISPLACED[name]
    check_refused(text, message, tmp_path)
