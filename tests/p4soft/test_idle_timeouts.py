"""Tables with idle_timeout: whether, and how long ago, a packet hit each entry.

What is expected is what the vendor's test of tna_idletimeout expects: an entry begins idle, is
active once it has been hit before the states are updated, and idle again after an update without a
hit; a time to live (ms) runs down, begins anew with each hit, and is told of once when it has run
out.
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

START = 10**12  # of the clock, ns
MS = 10**6
IDLE, ACTIVE = "ENTRY_IDLE", "ENTRY_ACTIVE"
DIRECT = program(
    "t.apply();",
    local="""
    action set(bit<8> v) { hdr.data.a = v; }
    table t {
        key = { hdr.data.kind: exact; hdr.data.b: ternary; }
        actions = { set; NoAction; }
        const default_action = NoAction;
        size = 16;
        idle_timeout = true;
    }
""",
)
INDIRECT = program(
    "t.apply();",
    local="""
    ActionProfile(8) members;
    action set(bit<8> v) { hdr.data.a = v; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { set; NoAction; }
        const default_action = NoAction;
        size = 16;
        idle_timeout = true;
        implementation = members;
    }
""",
)


def write(switch: MemoryTarget, op: str, kind: int | None = None, **more: Any) -> None:
    update: dict[str, Any] = {"op": op, "table": "t"}
    if kind is not None:
        update["key"] = {"hdr.data.kind": kind}
    switch.command("table_write", updates=[update | more])


def insert(switch: MemoryTarget, kind: int, **data: Any) -> None:
    names = {"ttl": "$ENTRY_TTL", "state": "$ENTRY_HIT_STATE"}
    given = {names[name]: value for name, value in data.items()}
    write(switch, "insert", kind, action="set", data={"v": 7} | given)


def hit(switch: MemoryTarget, kind: int, at_ns: int = START) -> int:
    ((_, out),) = switch.send(1, bytes([kind]) + bytes(13), now_ns=at_ns)
    return out[1]


def data(switch: MemoryTarget, kind: int, at_ns: int = START) -> dict[str, Any]:
    (entry,) = [
        each
        for each in switch.command("table_read", table="t", now_ns=at_ns)["entries"]
        if each["key"]["hdr.data.kind"] == kind
    ]
    found: dict[str, Any] = entry["data"]
    return found


def state(switch: MemoryTarget, kind: int) -> str:
    found: str = data(switch, kind)["$ENTRY_HIT_STATE"]
    return found


def events(switch: MemoryTarget, at_ns: int) -> list[tuple[int, str]]:
    told = switch.command("aging_events", table="t", now_ns=at_ns)["events"]
    return [(event["key"]["hdr.data.kind"], event["state"]) for event in told]


def idle_times(switch: MemoryTarget, at_ns: int, **args: Any) -> dict[int, int]:
    entries = switch.command("aging_read", table="t", now_ns=at_ns, **args)["entries"]
    return {each["key"]["hdr.data.kind"]: each["idle_ns"] for each in entries}


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


def test_a_hit_between_two_looks_is_told_though_the_time_has_run_out_again(
    start: Callable[[str], MemoryTarget],
) -> None:
    """The vendor's IdleTimeoutBoundaryTest has times to live that are shorter than a look takes."""
    switch = start(DIRECT)
    insert(switch, 1, ttl=100)
    assert events(switch, START) == []
    assert events(switch, START + 150 * MS) == [(1, IDLE)]
    hit(switch, 1, START + 200 * MS)
    assert events(switch, START + 400 * MS) == [(1, ACTIVE)]
    assert events(switch, START + 401 * MS) == [(1, IDLE)]
    assert events(switch, START + 900 * MS) == []


def test_how_long_an_entry_was_not_hit_is_read(start: Any) -> None:
    """To the nanosecond, with and without a time to live, and told of or not."""
    switch = start(DIRECT)
    insert(switch, 1)
    insert(switch, 2, ttl=1)
    assert idle_times(switch, START) == {1: 0, 2: 0}
    assert idle_times(switch, START + 7) == {1: 7, 2: 7}
    events(switch, START + 5 * MS)
    hit(switch, 2, START + 6 * MS)
    assert idle_times(switch, START + 6 * MS + 1) == {1: 6 * MS + 1, 2: 1}
    assert idle_times(switch, START + 6 * MS + 1, idle_ns=2) == {1: 6 * MS + 1}
    switch.command("table_write", updates=[{"op": "modify", "table": "t", **place(1)}])
    assert idle_times(switch, START + 9 * MS)[1] == 9 * MS, "runs on when it gets another action"


def place(kind: int) -> dict[str, Any]:
    key = {"hdr.data.kind": kind}
    return {"key": key, "action": "set", "data": {"v": 1}}


def test_hit_states_are_those_of_the_last_update(start: Any) -> None:
    switch = start(DIRECT)
    insert(switch, 1)
    insert(switch, 2)
    assert state(switch, 1) == IDLE
    assert hit(switch, 1) == 7
    assert state(switch, 1) == IDLE  # not updated
    switch.command("aging_update", table="t")
    assert (state(switch, 1), state(switch, 2)) == (ACTIVE, IDLE)
    switch.command("aging_update", table="t")
    assert state(switch, 1) == IDLE


def test_a_hit_state_may_be_written(start: Any) -> None:
    switch = start(DIRECT)
    insert(switch, 1, state=ACTIVE)
    assert state(switch, 1) == ACTIVE
    switch.command("aging_update", table="t")
    assert state(switch, 1) == IDLE
    write(switch, "modify", 1, data={"$ENTRY_HIT_STATE": ACTIVE})
    assert state(switch, 1) == ACTIVE
    assert hit(switch, 1) == 7  # its action is what it was


def test_a_time_to_live_runs_down_from_the_last_hit(start: Any) -> None:
    switch = start(DIRECT)
    insert(switch, 1, ttl=1000)
    assert data(switch, 1)["$ENTRY_TTL"] == 1000
    hit(switch, 1, START)
    assert data(switch, 1, START + 300 * MS)["$ENTRY_TTL"] == 700
    assert data(switch, 1, START + 5000 * MS)["$ENTRY_TTL"] == 0
    hit(switch, 1, START + 5000 * MS)
    assert data(switch, 1, START + 5100 * MS)["$ENTRY_TTL"] == 900


def test_an_idle_entry_is_told_once_and_again_when_it_is_active(start: Any) -> None:
    """With 1000 ms: idle from 1000 ms after the first question, or after the last hit."""
    switch = start(DIRECT)
    insert(switch, 1, ttl=1000)
    insert(switch, 2)  # without a time to live: never
    assert events(switch, START) == []
    assert events(switch, START + 999 * MS) == []
    assert events(switch, START + 1000 * MS) == [(1, IDLE)]
    assert events(switch, START + 9000 * MS) == []
    hit(switch, 1, START + 9100 * MS)
    assert events(switch, START + 9200 * MS) == [(1, ACTIVE)]
    assert events(switch, START + 10099 * MS) == []
    assert events(switch, START + 10100 * MS) == [(1, IDLE)]


def test_a_new_time_to_live_begins_anew(start: Any) -> None:
    switch = start(DIRECT)
    insert(switch, 1, ttl=1000)
    hit(switch, 1, START)
    write(switch, "modify", 1, data={"$ENTRY_TTL": 400})
    assert events(switch, START + 2000 * MS) == []
    assert events(switch, START + 2400 * MS) == [(1, IDLE)]


def test_an_entry_keeps_its_age_when_its_action_is_modified(start: Any) -> None:
    switch = start(DIRECT)
    insert(switch, 1, ttl=1000)
    hit(switch, 1, START)
    write(switch, "modify", 1, action="set", data={"v": 8})
    assert data(switch, 1, START + 100 * MS)["$ENTRY_TTL"] == 900
    assert hit(switch, 1) == 8


def test_the_clock_of_packets_may_begin_again(start: Any) -> None:
    """It has 48 bits: 3.3 days."""
    switch = start(DIRECT)
    insert(switch, 1, ttl=1000)
    hit(switch, 1, 2**48 - 100 * MS)
    assert data(switch, 1, 200 * MS)["$ENTRY_TTL"] == 700


def test_entries_beside_an_action_profile_age_too(start: Any) -> None:
    switch = start(INDIRECT)
    member = {"key": {"$ACTION_MEMBER_ID": 5}, "action": "set", "data": {"v": 9}}
    switch.command("table_write", updates=[{"op": "upsert", "table": "members"} | member])
    named = {"$ACTION_MEMBER_ID": 5, "$ENTRY_TTL": 1000}
    write(switch, "insert", 1, data=named)
    assert hit(switch, 1, START) == 9
    assert data(switch, 1, START) == named | {"$ENTRY_HIT_STATE": IDLE}
    assert events(switch, START + 1000 * MS) == [(1, IDLE)]
    write(switch, "modify", 1, data={"$ENTRY_TTL": 500})
    assert data(switch, 1)["$ENTRY_TTL"] == 500
    assert hit(switch, 1) == 9
    with pytest.raises(CommandFailedError, match="has no member 6"):
        write(switch, "modify", 1, data={"$ACTION_MEMBER_ID": 6, "$ENTRY_TTL": 500})


def test_what_is_no_state_is_refused(start: Any) -> None:
    switch = start(DIRECT)
    with pytest.raises(CommandFailedError, match='expected "ENTRY_IDLE" or "ENTRY_ACTIVE"'):
        insert(switch, 1, state="ENTRY_ASLEEP")


def test_a_table_without_it_does_not_age(load: Any) -> None:
    switch = load(DIRECT.replace("idle_timeout = true;", "idle_timeout = false;"))
    for command in ("aging_update", "aging_events"):
        with pytest.raises(CommandFailedError, match="do not age; add `idle_timeout = true`"):
            switch.command(command, table="t")


def test_the_schema_is_as_the_compilers(tmp_path: Path) -> None:
    """Ids of bf-p4c's TDDataFieldIds: 65536 + 7 and + 8."""
    path = tmp_path / "aging.p4"
    path.write_text(DIRECT)
    made = translate(path, [], {})
    (table,) = json.loads(made.schema)["tables"]
    fields = {each["singleton"]["name"]: each["singleton"] for each in table["data"]}
    assert fields["$ENTRY_TTL"]["id"] == 65543
    assert fields["$ENTRY_TTL"]["type"] == {"type": "uint32", "default_value": 0}
    assert fields["$ENTRY_HIT_STATE"]["id"] == 65544
    assert fields["$ENTRY_HIT_STATE"]["type"] == {"type": "string", "choices": [IDLE, ACTIVE]}
    assert table["supported_operations"] == ["UpdateHitState"]
    assert "IdleTimeout" in table["attributes"]
    assert "idle_timeout_behavior: NOTIFY_CONTROL" in made.p4info


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            DIRECT.replace("idle_timeout = true", "idle_timeout = /*^*/1"),
            "idle_timeout is int; expected a constant, true or false",
        ),
        (
            program(
                "t.apply();",
                local="action a() {} table t { actions = { a; } idle_timeout = /*^*/true; }",
            ),
            "table 't' has no keys, so no entries that could age",
        ),
    ],
)
def test_what_cannot_age_is_refused(text: str, message: str, tmp_path: Path) -> None:
    check_refused(text, message, tmp_path)
