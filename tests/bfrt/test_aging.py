"""Idle time-outs: hit states, times to live, and who hears that one has run out."""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client
from .test_tables import FRAME, INVALID, MAC, failing, to

TABLE = "watched"
IDLE, ACTIVE = "ENTRY_IDLE", "ENTRY_ACTIVE"
POLL, NOTIFY = 0, 1


@pytest.fixture
def watcher(connect: Any) -> Client:
    """Hears of idle and active entries."""
    made: Client = connect(1)
    made.open(enable_idletimeout_notifications=True, enable_entry_active_notifications=True)
    made.bind()
    made.insert("forward", to(MAC), "send", {"port": 2})
    return made


def attribute(client: Client, table: str = TABLE, **fields: Any) -> Any:
    update = client.proto.Update(type="INSERT")
    written = update.entity.table_attribute
    written.table_id = client.table(table)["id"]
    written.idle_table.SetInParent()
    for name, value in fields.items():
        setattr(written.idle_table, name, value)
    return update


def read_attribute(client: Client) -> Any:
    entity = client.proto.Entity()
    entity.table_attribute.table_id = client.table(TABLE)["id"]
    entity.table_attribute.idle_table.SetInParent()
    return client.read_entities([entity]).entities[0].table_attribute.idle_table


def data(client: Client) -> dict[str, Any]:
    (entry,) = client.read(TABLE, to(MAC))
    found: dict[str, Any] = entry.data
    return found


def test_states_are_updated_by_the_operation(watcher: Client, switch: SoftswitchTarget) -> None:
    watcher.write_updates([attribute(watcher, enable=True, idle_table_mode=POLL)])
    watcher.insert(TABLE, to(MAC), "mark", {"value": 3})
    assert data(watcher) == {"value": 3, "$ENTRY_TTL": 0, "$ENTRY_HIT_STATE": IDLE}
    switch.send(1, FRAME)
    watcher.operate(TABLE, "UpdateHitState")
    assert data(watcher)["$ENTRY_HIT_STATE"] == ACTIVE
    watcher.operate(TABLE, "UpdateHitState")
    assert data(watcher)["$ENTRY_HIT_STATE"] == IDLE
    watcher.modify(TABLE, to(MAC), None, {"$ENTRY_HIT_STATE": ACTIVE})
    assert data(watcher)["$ENTRY_HIT_STATE"] == ACTIVE


def test_an_entry_is_told_of_when_it_is_idle_and_when_it_is_hit_again(
    watcher: Client, switch: SoftswitchTarget
) -> None:
    kinds = watcher.proto.IdleTimeoutNotification
    notifying = attribute(watcher, enable=True, idle_table_mode=NOTIFY, ttl_query_interval=1000)
    watcher.write_updates([notifying])
    watcher.insert(TABLE, to(MAC), "mark", {"value": 3, "$ENTRY_TTL": 2000})
    assert data(watcher)["$ENTRY_TTL"] <= 2000
    idle = watcher.message().idle_timeout_notification
    assert idle.type == kinds.ENTRY_IDLE
    assert watcher.plain(idle.table_entry).key == to(MAC)
    switch.send(1, FRAME)
    active = watcher.message().idle_timeout_notification
    assert active.type == kinds.ENTRY_ACTIVE
    assert watcher.plain(active.table_entry).key == to(MAC)


def test_the_attribute_is_read_as_it_was_written(watcher: Client) -> None:
    given = {"enable": True, "idle_table_mode": NOTIFY, "ttl_query_interval": 2000}
    watcher.write_updates([attribute(watcher, **given, max_ttl=9000, min_ttl=1000)])
    read = read_attribute(watcher)
    assert (read.enable, read.idle_table_mode, read.ttl_query_interval) == (True, NOTIFY, 2000)
    assert (read.max_ttl, read.min_ttl) == (9000, 1000)
    # Who polls is told nothing, and has no intervals: as the vendor's test of tna_idletimeout.
    watcher.write_updates(
        [attribute(watcher, enable=True, idle_table_mode=POLL, ttl_query_interval=2000)]
    )
    read = read_attribute(watcher)
    assert (read.enable, read.idle_table_mode, read.ttl_query_interval) == (True, POLL, 0)
    watcher.write_updates([attribute(watcher, enable=False)])
    assert not read_attribute(watcher).enable


def test_in_poll_mode_there_are_no_times(watcher: Client) -> None:
    """As an SDE; its example tna_idletimeout reads them."""
    given = {"enable": True, "idle_table_mode": POLL, "ttl_query_interval": 5000}
    watcher.write_updates([attribute(watcher, **given, max_ttl=9000, min_ttl=1000)])
    read = read_attribute(watcher)
    assert (read.enable, read.idle_table_mode) == (True, POLL)
    assert (read.ttl_query_interval, read.max_ttl, read.min_ttl) == (0, 0, 0)


def test_a_table_that_does_not_age_has_no_such_attribute(watcher: Client) -> None:
    wrong = attribute(watcher, "forward", enable=True)
    assert failing(watcher, wrong).codes() == [INVALID]
    with pytest.raises(CallError):
        watcher.operate("prefixes", "UpdateHitState")
