"""Idle time-outs. Rules and codes: P4Runtime 1.4, "Idle-timeout" and "Table Idle Timeout
Notification".
"""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client, code
from .test_sessions import key
from .test_tables import EXACT, forward, frame, refused

TIMEOUT_NS = 300_000_001  # no whole number of milliseconds
NEVER_NS = 2**63 - 1


def watched(client: Client, timeout_ns: int, match: Any = EXACT) -> Any:
    entry = client.entry("watched", client.action("mark", value=b"\x07"), dst_addr=match)
    entry.idle_timeout_ns = timeout_ns
    entry.metadata = b"mine"
    return entry


def elapsed_ns(client: Client) -> int:
    time = client.proto.TableEntry.IdleTimeout()
    (entry,) = client.entries("watched", time_since_last_hit=time)
    number: int = entry.time_since_last_hit.elapsed_ns
    return number


def test_primaries_hear_of_an_entry_each_time_that_it_runs_out(
    client: Client, switch: SoftswitchTarget
) -> None:
    never, without = watched(client, NEVER_NS, key(1)), watched(client, 0, key(2))
    entry = watched(client, TIMEOUT_NS)
    client.write(*(client.update("INSERT", table_entry=each) for each in (never, without, entry)))
    switch.send(1, frame())
    expected = client.proto.TableEntry()
    expected.CopyFrom(entry)
    expected.ClearField("action")
    before = 0
    for _ in range(3):
        told = client.next().idle_timeout_notification
        assert list(told.table_entry) == [expected], "neither of the others"
        assert told.timestamp >= before + 1
        before = told.timestamp
    client.write(client.update("DELETE", table_entry=never))
    client.write(client.update("DELETE", table_entry=without))
    idle_ns = elapsed_ns(client)
    assert idle_ns >= 3 * TIMEOUT_NS
    switch.send(1, frame())
    assert elapsed_ns(client) < idle_ns
    client.write(client.update("MODIFY", table_entry=watched(client, NEVER_NS)))
    assert [each.idle_timeout_ns for each in client.entries("watched")] == [NEVER_NS]


def test_a_time_out_is_read_as_it_was_written(client: Client) -> None:
    client.write(client.update("INSERT", table_entry=watched(client, TIMEOUT_NS)))
    (found,) = client.entries("watched")
    assert found == watched(client, TIMEOUT_NS), "time_since_last_hit was not asked for"
    client.write(client.update("INSERT", table_entry=forward(client)))
    asked = client.proto.TableEntry.IdleTimeout()
    found = {
        each.table_id: each.HasField("time_since_last_hit")
        for each in client.entries(time_since_last_hit=asked)
    }
    assert found[client.id_of("tables", "watched")]
    assert not found[client.id_of("tables", "forward")]


def test_what_cannot_be_is_refused(client: Client) -> None:
    for change in ({"idle_timeout_ns": -1}, {"time_since_last_hit": {}}, {"default": True}):
        entry = watched(client, TIMEOUT_NS)
        if change.pop("default", None):
            entry = client.entry("watched", client.action("mark", value=b"\x07"))
            entry.idle_timeout_ns, entry.is_default_action = 1, True
        entry.MergeFrom(client.proto.TableEntry(**change))
        kind = "MODIFY" if entry.is_default_action else "INSERT"
        assert refused(client, client.update(kind, table_entry=entry)) == code("INVALID_ARGUMENT")
    other = forward(client)
    other.idle_timeout_ns = 1
    assert refused(client, client.update("INSERT", table_entry=other)) == code("INVALID_ARGUMENT")
    time = client.proto.TableEntry.IdleTimeout()
    for filters in ({"table": "forward"}, {"table": "watched", "is_default_action": True}):
        with pytest.raises(CallError) as failed:
            list(client.entries(time_since_last_hit=time, **filters))
        assert failed.value.codes() == [code("INVALID_ARGUMENT")]
