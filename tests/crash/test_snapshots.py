"""Snapshots of a rack of real nodes under load: cuts are consistent, and what interrupts one leaves
nothing behind. TURNTABLE_LONG=1 makes them long."""

from __future__ import annotations

import os
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import NodeError

from .cut import Record, Records, judge, merged, read_snapshot, read_writes
from .network import CPU_PORT
from .rack import AGENT, CONTROLLER, SERVER_NODES, SOFTSWITCH, Rack, Setup, eventually

LONG = bool(os.environ.get("TURNTABLE_LONG"))
SNAPSHOTS, ANSWERS_BETWEEN = (100, 4_000) if LONG else (6, 400)
CASE1, LOAD = "04", "03"  # operations of control frames
OPERATION_AT = 14
LATEST, ADMITTED, SUPERSEDED = 0, 2, 3
DELETED = 0x8000
VALUE_WORDS = 32

StartRack = Callable[[Setup], Rack]


def slots(rack: Rack) -> Iterator[tuple[int, int]]:
    """(key, slot) of all that the switch caches."""
    for entry in rack.call(SOFTSWITCH, "table_read", table="cache_lookup")["entries"]:
        key = {name: int(str(value), 0) for name, value in entry["key"].items()}
        high = key["keyhihihi"] << 16 | key["keyhihilo"]
        low = key["keyhilo"]
        assert key["keylolo"] == key["keylohi"] == 0
        yield high << 32 | low, int(str(entry["data"]["slot"]), 0)


def register(rack: Rack, name: str) -> list[int]:
    return rack.call(SOFTSWITCH, "register_read", table=f"{name}.cells")["values"]


def records_in_slots(rack: Rack) -> Records:
    """What the registers hold (docs/kvcache.md §2 and §4)."""
    cells, lengths = register(rack, "slot_seq"), register(rack, "vallen")
    words = [register(rack, f"values.value_{i}") for i in range(VALUE_WORDS)]
    records = {}
    for key, slot in slots(rack):
        state, number = cells[slot] >> 30, cells[slot] & 0x3FFFFFFF
        if state == LATEST or (state == SUPERSEDED and number != 0):
            length = lengths[slot]
            padded = (length + 7) // 8 * 8
            bytes_ = b"".join(struct.pack(">I", word[slot]) for word in words)
            value = None if length == DELETED else bytes_[128 - padded :][:length]
            records[key] = Record(number, value)
    return records


def cut_of(rack: Rack, snapshot: dict[str, Any]) -> Records:
    """Of the last complete snapshot: the switch's part and the servers'."""
    identity, of_switch = read_snapshot(Path(snapshot["path"]))
    assert (identity, len(of_switch)) == (snapshot["id"], snapshot["records"])
    parts = [of_switch]
    for name in SERVER_NODES:
        path = rack.directory / f"{name}.snapshot"
        rack.call(name, "snapshot_records", token=identity, path=str(path))
        assert read_snapshot(path)[0] == identity
        parts.append(read_snapshot(path)[1])
    return merged(parts)


def impair_control_frames(rack: Rack, direction: str, operation: str | None) -> None:
    """Loses all control frames of an operation; None: no longer."""
    match = {"offset": OPERATION_AT, "value": operation, "mask": "ff"}
    rules = [{"action": "drop", "match": match, "every": 1}] if operation else []
    rack.call(SOFTSWITCH, "impair", port=CPU_PORT, direction=direction, rules=rules)


def hold_admissions(rack: Rack) -> None:
    """None is under way, and none begins: the agent may lose control frames.

    A report of a hot key that is on its way through controller and server comes back refused.
    """
    rack.settings(admission=False)
    eventually(lambda: rack.call(AGENT, "stats")["in_transit"] == 0, "no admission under way")


def flag_is_set(rack: Rack) -> bool:
    default = rack.call(SOFTSWITCH, "table_read", table="snapshot")["default"]
    return default["action"].endswith("in_snapshot")


def test_without_traffic_the_cut_is_what_slots_and_stores_hold(start_rack: StartRack) -> None:
    rack = start_rack(Setup())
    rack.begin_clients()
    rack.wait_for_answers(3_000)
    # Keys that come and go are seldom written in the switch: those that are there stay, until one
    # was.
    hold_admissions(rack)
    eventually(lambda: bool(records_in_slots(rack)), "a write to a cached key")
    rack.end_clients()
    expected = records_in_slots(rack)
    snapshot = rack.call(CONTROLLER, "snapshot")
    assert read_snapshot(Path(snapshot["path"]))[1] == expected
    assert expected
    # All that was acknowledged is in it.
    writes = list(read_writes(rack.history))
    judgement = judge(cut_of(rack, snapshot), writes)
    assert (judgement.later, judgement.wrong) == (0, [])
    assert judgement.included == len(writes) > 0


def test_cuts_under_load_include_what_came_before(start_rack: StartRack) -> None:
    rack = start_rack(Setup())
    rack.begin_clients()
    cuts = []
    for _ in range(SNAPSHOTS):
        rack.wait_for_answers(ANSWERS_BETWEEN)
        cuts.append(cut_of(rack, rack.call(CONTROLLER, "snapshot")))
    rack.wait_for_answers(ANSWERS_BETWEEN)
    statistics = rack.end_clients()
    assert statistics["wrong_values"] == statistics["wrong_node"] == 0
    writes = list(read_writes(rack.history))
    for cut in cuts:
        judgement = judge(cut, writes)
        assert (judgement.violations[:3], judgement.wrong[:3]) == ([], [])
        assert judgement.included > 0
        assert judgement.later > 0
    agent = rack.call(AGENT, "stats")
    assert agent["evicted"] > 0
    assert agent["snapshots"]["taken"] == SNAPSHOTS
    assert agent["snapshots"]["case1_reports"] > SNAPSHOTS


def test_a_lost_report_gives_a_snapshot_up_and_the_next_goes_on(start_rack: StartRack) -> None:
    rack = start_rack(Setup())
    rack.begin_clients()
    rack.wait_for_answers(500)
    before = rack.call(CONTROLLER, "snapshot")
    hold_admissions(rack)
    impair_control_frames(rack, "tx", CASE1)
    # The snapshot lasts until the frames that load slots pass again.
    impair_control_frames(rack, "rx", LOAD)
    failure = BackgroundSnapshot(rack)
    eventually(lambda: flag_is_set(rack), "the point")
    rack.wait_for_answers(500)
    impair_control_frames(rack, "rx", None)
    assert "CASE1 reports" in failure.reason()
    assert not flag_is_set(rack)
    assert read_snapshot(Path(before["path"]))[0] == before["id"]
    impair_control_frames(rack, "tx", None)
    after = cut_of(rack, rack.call(CONTROLLER, "snapshot"))
    rack.wait_for_answers(500)
    rack.end_clients()
    judgement = judge(after, read_writes(rack.history))
    assert (judgement.violations[:3], judgement.wrong[:3]) == ([], [])
    assert rack.call(CONTROLLER, "stats")["snapshots"]["failed"] == 1


@pytest.mark.parametrize("killed", [AGENT, CONTROLLER])
def test_what_is_killed_during_a_snapshot_leaves_no_flag(
    start_rack: StartRack, killed: str
) -> None:
    rack = start_rack(Setup())
    rack.begin_clients()
    rack.wait_for_answers(500)
    first = rack.call(CONTROLLER, "snapshot")
    hold_admissions(rack)
    impair_control_frames(rack, "rx", LOAD)
    under_way = BackgroundSnapshot(rack)
    eventually(lambda: flag_is_set(rack), "the point")
    rack.kill(killed)
    if killed == AGENT:
        assert "agent" in under_way.reason()
        impair_control_frames(rack, "rx", None)
        rack.start_agent()
        rack.configure_agent(fresh=False)
    else:
        under_way.reason()
        impair_control_frames(rack, "rx", None)
        rack.start_controller()
    eventually(lambda: not flag_is_set(rack), "the flag is cleared")
    connected = lambda: rack.call(CONTROLLER, "stats")["agent_connected"]  # noqa: E731
    eventually(connected, "the controller has its agent")
    eventually(lambda: len(rack.call(CONTROLLER, "stats")["servers"]) == 4, "all servers are back")
    assert read_snapshot(Path(first["path"]))[0] == first["id"]
    rack.wait_for_answers(200)
    second = rack.call(CONTROLLER, "snapshot")
    assert second["id"] > first["id"]
    cut = cut_of(rack, second)
    rack.wait_for_answers(200)
    rack.end_clients()
    judgement = judge(cut, read_writes(rack.history))
    assert (judgement.violations[:3], judgement.wrong[:3]) == ([], [])


class BackgroundSnapshot:
    """A snapshot that is asked for while the test does other things, and fails."""

    def __init__(self, rack: Rack) -> None:
        self._reason: str | None = None
        self._thread = threading.Thread(target=self._take, args=(rack,))
        self._thread.start()

    def _take(self, rack: Rack) -> None:
        try:
            rack.call(CONTROLLER, "snapshot")
        except NodeError as error:
            self._reason = error.message
        except (OSError, ValueError) as error:  # the controller is gone
            self._reason = str(error)

    def reason(self) -> str:
        self._thread.join()
        assert self._reason is not None, "the snapshot was taken"
        return self._reason
