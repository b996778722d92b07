"""Lpf and Wred: averages of a packet field over time. Expected values are worked out in the tests:
with a time constant t, the distance to the input falls by the factor e = 2.71828 each t.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from p4_programs import program
from packet.targets import CommandFailedError
from refusals import check_refused

from p4soft.cli import translate

START = 10**12  # of the clock, ns
TYPE, GAIN, DECAY, SCALE = (
    f"$LPF_SPEC_{name}"
    for name in ("TYPE", "GAIN_TIME_CONSTANT_NS", "DECAY_TIME_CONSTANT_NS", "OUT_SCALE_DOWN_FACTOR")
)
TIME, LOW, HIGH, MOST = (
    f"$WRED_SPEC_{name}"
    for name in ("TIME_CONSTANT_NS", "MIN_THRESH_CELLS", "MAX_THRESH_CELLS", "MAX_PROBABILITY")
)
INDEXED = program(
    """
    if (hdr.data.kind == 1) { hdr.data.b = lpf.execute(hdr.data.b, hdr.data.a); }
    else if (hdr.data.kind == 2) { hdr.data.a = wred.execute(hdr.data.b, hdr.data.a); }
    """,
    local="Lpf<bit<16>, bit<8>>(4) lpf; Wred<bit<16>, bit<8>>(4, 7, 200) wred;",
)
DIRECT = program(
    "t.apply(); u.apply();",
    local="""
    DirectLpf<bit<16>>() lpf;
    DirectWred<bit<16>>(7, 200) wred;
    DirectCounter<bit<64>>(CounterType_t.PACKETS) seen;
    ActionProfile(8) members;
    action average(bit<8> mark) {
        hdr.data.b = lpf.execute(hdr.data.b);
        hdr.data.mac[7:0] = mark;
        seen.count();
    }
    action choose() { hdr.data.a = wred.execute(hdr.data.c[15:0]); }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { average; NoAction; }
        default_action = NoAction;
        implementation = members;
        filters = lpf;
        counters = seen;
        size = 8;
    }
    table u {
        key = { hdr.data.kind: exact; }
        actions = { choose; NoAction; }
        default_action = NoAction;
        filters = wred;
        size = 8;
    }
""",
)


def send(switch: Any, kind: int, value: int, at_ns: int = START, index: int = 0) -> bytes:
    frame = bytes([kind, index]) + value.to_bytes(2, "big") + value.to_bytes(4, "big") + bytes(6)
    ((_, out),) = switch.send(1, frame, now_ns=at_ns)
    return bytes(out)


def averaged(switch: Any, value: int, at_ns: int, kind: int = 1) -> int:
    return int.from_bytes(send(switch, kind, value, at_ns)[2:4], "big")


@pytest.fixture
def indexed(load: Any) -> Any:
    switch = load(INDEXED)
    for table in ("lpf", "wred"):
        switch.command("filter_write", table=table, data=None)
    return switch


def test_samples_are_followed_with_two_time_constants(indexed: Any) -> None:
    """100; after 1000 ns of gain time 1000: 200 - 100 / e = 163.2; after 500 ns of decay time 500:
    0 + 163.2 / e = 60.04.
    """
    spec = {TYPE: "SAMPLE", GAIN: 1000.0, DECAY: 500.0, SCALE: 0}
    indexed.command("filter_write", table="lpf", index=0, data=spec)
    assert averaged(indexed, 100, START) == 100
    assert averaged(indexed, 200, START + 1000) == 163
    assert averaged(indexed, 0, START + 1500) == 60


def test_a_rate_is_a_sum_that_decays_and_may_be_scaled_down(indexed: Any) -> None:
    """100; 100 / e + 100 = 136.8; 136.8 / e + 100 = 150.3; scaled by 2^3: 137 / 8 = 17."""
    spec = {TYPE: "RATE", GAIN: 1000.0, DECAY: 1000.0, SCALE: 0}
    indexed.command("filter_write", table="lpf", index=0, data=spec)
    assert [averaged(indexed, 100, START + 1000 * i) for i in range(3)] == [100, 137, 150]
    indexed.command("filter_write", table="lpf", index=0, data={SCALE: 3})  # begins anew
    assert [averaged(indexed, 100, START + 1000 * i) for i in range(2)] == [12, 17]


def test_a_result_wider_than_the_field_is_its_largest_value(indexed: Any) -> None:
    spec = {TYPE: "RATE", GAIN: 0.0, DECAY: 1e9, SCALE: 0}
    indexed.command("filter_write", table="lpf", index=0, data=spec)
    averaged(indexed, 0xFFFF, START)
    assert averaged(indexed, 0xFFFF, START + 1) == 0xFFFF


def test_a_filter_that_nobody_told_anything_gives_the_value_back(indexed: Any) -> None:
    assert [averaged(indexed, value, START + value) for value in (9, 3, 7)] == [9, 3, 7]
    assert send(indexed, 2, 1000)[1] == 200  # and drops nothing


def test_packets_are_dropped_by_the_average(indexed: Any) -> None:
    """Without a time constant the average is the value. Below 50 none is dropped, from 150 on all;
    at 100 the probability is 0.5 * (100 - 50) / (150 - 50) = 0.25: of 2000 packets 500, and 6
    standard deviations of sqrt(2000 * 0.25 * 0.75) = 19.4 to either side.
    """
    spec = {TIME: 0.0, LOW: 50, HIGH: 150, MOST: 0.5}
    indexed.command("filter_write", table="wred", index=1, data=spec)

    def dropped(value: int, count: int) -> int:
        results = [send(indexed, 2, value, index=1)[1] for _ in range(count)]
        assert set(results) <= {7, 200}
        return results.count(7)

    assert dropped(49, 50) == 0
    assert dropped(150, 50) == 50
    assert 384 <= dropped(100, 2000) <= 616


def test_filters_are_read_as_they_were_written(indexed: Any) -> None:
    lpf = {TYPE: "RATE", GAIN: 1000.5, DECAY: 20.0, SCALE: 4}
    indexed.command("filter_write", table="lpf", index=2, data=lpf)
    cells = indexed.command("filter_read", table="lpf")["filters"]
    assert [cell["index"] for cell in cells] == [0, 1, 2, 3]
    assert cells[2]["data"] == lpf
    # As the vendor's test expects them after a reset.
    assert cells[1]["data"] == {TYPE: "SAMPLE", GAIN: 0, DECAY: 0, SCALE: 0}
    (wred,) = indexed.command("filter_read", table="wred", index=0)["filters"]
    assert wred["data"] == {TIME: 0, LOW: 0xFF000000, HIGH: 0xFF000000, MOST: 0}
    indexed.command("settings_reset")
    cells = indexed.command("filter_read", table="lpf")["filters"]
    assert cells[2]["data"] == cells[1]["data"]


@pytest.mark.parametrize(
    ("table", "data", "message"),
    [
        ("lpf", {TYPE: "BOTH"}, 'expected "RATE" or "SAMPLE"'),
        ("lpf", {GAIN: -1.0}, "expected a number from 0 to"),
        ("wred", {MOST: 1.5}, "expected a number from 0 to 1"),
        ("wred", {TYPE: "RATE"}, "is no field of this filter"),
        ("wred", 5, "expected an object from names to values, or null"),
    ],
)
def test_wrong_settings_are_refused(indexed: Any, table: str, data: Any, message: str) -> None:
    with pytest.raises(CommandFailedError, match=message):
        indexed.command("filter_write", table=table, index=0, data=data)


def test_an_index_outside_is_refused_and_a_packets_finds_a_fresh_cell(indexed: Any) -> None:
    with pytest.raises(CommandFailedError, match="index 4 is not below its size 4"):
        indexed.command("filter_write", table="lpf", index=4, data=None)
    assert int.from_bytes(send(indexed, 1, 77, index=9)[2:4], "big") == 77


def test_each_entry_has_its_own(load: Any) -> None:
    """Of a table with an action profile, too, beside a counter."""
    switch = load(DIRECT)
    member = {"key": {"$ACTION_MEMBER_ID": 5}, "action": "average", "data": {"mark": 0x42}}
    spec = {TYPE: "SAMPLE", GAIN: 1000.0, DECAY: 500.0, SCALE: 0}
    updates = [{"op": "insert", "table": "members"} | member]
    for kind in (1, 2):
        named = {"$ACTION_MEMBER_ID": 5} | (spec if kind == 1 else {})
        key = {"hdr.data.kind": kind}
        updates.append({"op": "insert", "table": "t", "key": key, "data": named})
    wred = {TIME: 0.0, LOW: 50, HIGH: 150, MOST: 0.5}
    key = {"hdr.data.kind": 3}
    updates.append({"op": "insert", "table": "u", "key": key, "action": "choose", "data": wred})
    switch.command("table_write", updates=updates)
    assert averaged(switch, 100, START) == 100
    assert averaged(switch, 200, START + 1000) == 163
    assert averaged(switch, 200, START + 2000, kind=2) == 200
    assert send(switch, 1, 0)[13] == 0x42  # the member's data
    assert send(switch, 3, 150)[1] == 7
    assert send(switch, 3, 49)[1] == 200
    entries = switch.command("table_read", table="t")["entries"]
    assert {entry["key"]["hdr.data.kind"]: entry["data"] for entry in entries} == {
        1: {"$ACTION_MEMBER_ID": 5, "$COUNTER_SPEC_PKTS": 3} | spec,
        2: {
            "$ACTION_MEMBER_ID": 5,
            "$COUNTER_SPEC_PKTS": 1,
            TYPE: "SAMPLE",
            GAIN: 0,
            DECAY: 0,
            SCALE: 0,
        },
    }
    switch.command("settings_reset")
    entries = switch.command("table_read", table="t")["entries"]
    assert [entry["data"][GAIN] for entry in entries] == [0, 0]


def test_the_schema_is_the_compilers(tmp_path: Path) -> None:
    """Ids of BFRuntimeDataFieldIds, which go on behind TD_DATA_END = 65536 + 22."""
    path = tmp_path / "filters.p4"
    path.write_text(INDEXED)
    tables = {each["name"]: each for each in json.loads(translate(path, [], {}).schema)["tables"]}
    lpf, wred = tables["pipe.Ingress.lpf"], tables["pipe.Ingress.wred"]
    assert (lpf["table_type"], wred["table_type"]) == ("Lpf", "Wred")
    assert [(key["name"], key["id"]) for key in lpf["key"] + wred["key"]] == [
        ("$LPF_INDEX", 65560),
        ("$WRED_INDEX", 65561),
    ]
    numbers = [each["singleton"]["id"] for each in lpf["data"] + wred["data"]]
    assert numbers == list(range(65567, 65575))


def test_what_cannot_be_averaged_is_refused(tmp_path: Path) -> None:
    wide = program(local="Lpf<bit<48>, bit<8>>(4) /*^*/wide;")
    check_refused(wide, "Lpf of bit<48>; expected bit<W> of at most 32 bits", tmp_path)
    alone = program(
        local="DirectWred<bit<16>>(1, 0) /*^*/alone;"
        "action use() { hdr.data.a = alone.execute(hdr.data.b); }"
        "table t { actions = { use; } }"
    )
    check_refused(alone, "write `filters = alone;` in one", tmp_path)
