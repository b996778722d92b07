"""Entries of tables. Rules and codes: P4Runtime 1.4, "TableEntry" and "Write RPC"."""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client, code

MAC = b"\x02\x00\x00\x00\x00\x05"
EXACT = {"exact": {"value": MAC}}


def frame(ether_type: int = 0x0800, source: bytes = b"\x02\x00\x00\x00\x00\x01") -> bytes:
    return MAC + source + ether_type.to_bytes(2, "big") + bytes(46)


def forward(client: Client, port: bytes = b"\x02", match: Any = None) -> Any:
    return client.entry("forward", client.action("send", port=port), dst_addr=match or EXACT)


def refused(client: Client, update: Any) -> int:
    """The code of the one update's error."""
    with pytest.raises(CallError) as failed:
        client.write(update)
    assert failed.value.code.name == "UNKNOWN", failed.value
    (number,) = failed.value.codes()
    return number


def test_an_entry_sends_packets(client: Client, switch: SoftswitchTarget) -> None:
    assert switch.send(1, frame()) == []
    client.write(client.update("INSERT", table_entry=forward(client)))
    ((port, sent),) = switch.send(1, frame())
    assert (port, sent[:6]) == (2, MAC)
    client.write(client.update("MODIFY", table_entry=forward(client, b"\x03")))
    assert [port for port, _ in switch.send(1, frame())] == [3]
    client.write(client.update("DELETE", table_entry=forward(client)))
    assert switch.send(1, frame()) == []


def test_what_is_read_is_what_was_written(client: Client) -> None:
    """Read-write symmetry, of each kind of match."""
    written = [
        forward(client),
        client.entry(
            "prefixes",
            client.action("mark", value=b"\x07"),
            dst_addr={"lpm": {"value": b"\x02\x00\x00\x00\x00\x00", "prefix_len": 8}},
        ),
        client.entry(
            "ranges",
            client.action("mark", value=b"\x08"),
            priority=5,
            ether_type={"range": {"low": b"\x10", "high": b"\x01\x00"}},
            src_addr={"ternary": {"value": b"\x01", "mask": b"\x03"}},
        ),
        client.entry("ranges", client.action("mark", value=b"\x00"), priority=1),
    ]
    written[0].metadata = b"mine"
    written[1].controller_metadata = 77
    client.write(*(client.update("INSERT", table_entry=entry) for entry in written))
    read = [entry for entry in client.entries() if not entry.is_const]
    assert sorted(e.SerializeToString() for e in read) == sorted(
        e.SerializeToString() for e in written
    )


def test_the_highest_priority_wins(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    for priority, value in ((3, b"\x33"), (9, b"\x99"), (5, b"\x55")):
        entry = client.entry("ranges", client.action("mark", value=value), priority=priority)
        client.write(client.update("INSERT", table_entry=entry))
    ((_, sent),) = switch.send(1, frame())
    assert sent[11] == 0x99


def test_a_modified_entry_has_what_is_written_alone(client: Client) -> None:
    entry = forward(client)
    entry.metadata = b"first"
    client.write(client.update("INSERT", table_entry=entry))
    client.write(client.update("MODIFY", table_entry=forward(client, b"\x03")))
    (read,) = client.entries("forward")
    assert (read.metadata, read.action.action.params[0].value) == (b"", b"\x03")


def test_a_modification_without_an_action_keeps_it(client: Client) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    noted = client.entry("forward", dst_addr=EXACT)
    noted.metadata = b"new"
    client.write(client.update("MODIFY", table_entry=noted))
    (read,) = client.entries("forward")
    assert (read.metadata, read.action) == (b"new", forward(client).action)


def test_an_unknown_kind_of_update_is_refused(client: Client) -> None:
    for kind in (0, 4, 99):
        update = client.update("INSERT", table_entry=forward(client))
        update.type = kind
        assert refused(client, update) == code("INVALID_ARGUMENT")


def test_errors_are_of_each_update(client: Client) -> None:
    """All are tried; each has its error, in order."""
    client.write(client.update("INSERT", table_entry=forward(client)))
    other = {"exact": {"value": b"\x09"}}
    with pytest.raises(CallError) as failed:
        client.write(
            client.update("INSERT", table_entry=forward(client)),
            client.update("INSERT", table_entry=forward(client, match=other)),
            client.update(
                "DELETE", table_entry=forward(client, match={"exact": {"value": b"\x0a"}})
            ),
        )
    assert failed.value.codes() == [code("ALREADY_EXISTS"), 0, code("NOT_FOUND")]
    assert len(list(client.entries("forward"))) == 2


@pytest.mark.parametrize("atomicity", [1, 2])  # ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC
def test_all_or_nothing(client: Client, atomicity: int) -> None:
    other = {"exact": {"value": b"\x09"}}
    with pytest.raises(CallError) as failed:
        client.write(
            client.update("INSERT", table_entry=forward(client, match=other)),
            client.update("DELETE", table_entry=forward(client)),
            atomicity=atomicity,
        )
    assert failed.value.codes() == [code("ABORTED"), code("NOT_FOUND")]
    assert list(client.entries("forward")) == []


def test_a_table_that_is_full_says_so(client: Client) -> None:
    for priority in range(1, 5):
        entry = client.entry("ranges", client.action("mark", value=b"\x01"), priority=priority)
        client.write(client.update("INSERT", table_entry=entry))
    entry = client.entry("ranges", client.action("mark", value=b"\x01"), priority=5)
    assert refused(client, client.update("INSERT", table_entry=entry)) == code("RESOURCE_EXHAUSTED")


WRONG: dict[str, tuple[str, dict[str, Any], str]] = {
    "no key": ("forward", {}, "INVALID_ARGUMENT"),
    "too large": ("forward", {"dst_addr": {"exact": {"value": b"\x01" + MAC}}}, "OUT_OF_RANGE"),
    "empty": ("forward", {"dst_addr": {"exact": {"value": b""}}}, "OUT_OF_RANGE"),
    "another kind": (
        "forward",
        {"dst_addr": {"lpm": {"value": MAC, "prefix_len": 48}}},
        "INVALID_ARGUMENT",
    ),
    "prefix of nothing": (
        "prefixes",
        {"dst_addr": {"lpm": {"value": b"\x00", "prefix_len": 0}}},
        "INVALID_ARGUMENT",
    ),
    "prefix too long": (
        "prefixes",
        {"dst_addr": {"lpm": {"value": b"\x00", "prefix_len": 49}}},
        "INVALID_ARGUMENT",
    ),
    "bits behind the prefix": (
        "prefixes",
        {"dst_addr": {"lpm": {"value": b"\x01", "prefix_len": 8}}},
        "INVALID_ARGUMENT",
    ),
    "a priority where none may be": (
        "forward",
        {"dst_addr": EXACT, "priority": 1},
        "INVALID_ARGUMENT",
    ),
    "no priority": ("ranges", {"priority": 0}, "INVALID_ARGUMENT"),
    "a priority of too many bits": ("ranges", {"priority": 1 << 24}, "INVALID_ARGUMENT"),
    "a range of everything": (
        "ranges",
        {"priority": 1, "ether_type": {"range": {"low": b"\x00", "high": b"\xff\xff"}}},
        "INVALID_ARGUMENT",
    ),
    "a range the wrong way round": (
        "ranges",
        {"priority": 1, "ether_type": {"range": {"low": b"\x02", "high": b"\x01"}}},
        "INVALID_ARGUMENT",
    ),
    "a mask of nothing": (
        "ranges",
        {"priority": 1, "src_addr": {"ternary": {"value": b"\x00", "mask": b"\x00"}}},
        "INVALID_ARGUMENT",
    ),
    "bits outside the mask": (
        "ranges",
        {"priority": 1, "src_addr": {"ternary": {"value": b"\x03", "mask": b"\x01"}}},
        "INVALID_ARGUMENT",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_keys_are_refused(client: Client, name: str) -> None:
    table, match, expected = WRONG[name]
    action = (
        client.action("send", port=b"\x01")
        if table == "forward"
        else client.action("mark", value=b"\x01")
    )
    entry = client.entry(table, action, **match)
    assert refused(client, client.update("INSERT", table_entry=entry)) == code(expected)
    assert list(client.entries(table)) == []


def test_wrong_actions_are_refused(client: Client) -> None:
    def insert(action: Any) -> int:
        entry = client.entry("forward", action, dst_addr=EXACT)
        return refused(client, client.update("INSERT", table_entry=entry))

    assert insert(client.action("mark", value=b"\x01")) == code("INVALID_ARGUMENT")
    assert insert(client.action("send")) == code("INVALID_ARGUMENT")
    assert insert(client.action("send", port=b"\x02\x00")) == code("INVALID_ARGUMENT")
    twice = client.action("send", port=b"\x01")
    twice.params.add(param_id=1, value=b"\x02")
    assert insert(twice) == code("INVALID_ARGUMENT")
    unknown = client.action("send", port=b"\x01")
    unknown.params.add(param_id=9, value=b"\x02")
    assert insert(unknown) == code("INVALID_ARGUMENT")
    assert insert(None) == code("INVALID_ARGUMENT")
    assert insert(client.proto.Action(action_id=0x01FFFFFF)) == code("INVALID_ARGUMENT")


def test_an_unknown_table_is_not_found(client: Client) -> None:
    entry = client.proto.TableEntry(table_id=0x0200FFFF)
    assert refused(client, client.update("INSERT", table_entry=entry)) == code("NOT_FOUND")


def test_the_default_entry_can_only_be_modified(client: Client, switch: SoftswitchTarget) -> None:
    entry = client.entry("forward", client.action("send", port=b"\x03"))
    entry.is_default_action = True
    assert refused(client, client.update("INSERT", table_entry=entry)) == code("INVALID_ARGUMENT")
    assert refused(client, client.update("DELETE", table_entry=entry)) == code("INVALID_ARGUMENT")
    client.write(client.update("MODIFY", table_entry=entry))
    assert [port for port, _ in switch.send(1, frame())] == [3]
    (read,) = client.entries("forward", is_default_action=True)
    assert read == entry
    reset = client.entry("forward")
    reset.is_default_action = True
    client.write(client.update("MODIFY", table_entry=reset))
    assert switch.send(1, frame()) == []


def test_constants_stay(client: Client) -> None:
    (constant,) = client.entries("constants")
    assert constant.is_const
    assert constant.match[0].exact.value == b"\x12\x34"
    constant.is_const = False
    for kind in ("INSERT", "MODIFY", "DELETE"):
        update = client.update(kind, table_entry=constant)
        assert refused(client, update) == code("PERMISSION_DENIED")
    constant.ClearField("action")  # what is left is nothing that could be modified
    update = client.update("MODIFY", table_entry=constant)
    assert refused(client, update) == code("PERMISSION_DENIED")
    default = client.entry("ranges", client.action("mark", value=b"\x01"))
    default.is_default_action = True
    update = client.update("MODIFY", table_entry=default)
    assert refused(client, update) == code("PERMISSION_DENIED")


def test_reads_are_filtered(client: Client) -> None:
    for priority, value in ((1, b"\x01"), (2, b"\x02")):
        entry = client.entry("ranges", client.action("mark", value=value), priority=priority)
        client.write(client.update("INSERT", table_entry=entry))
    other = client.entry("ranges", client.action("NoAction"), priority=3)
    other.metadata = b"x"
    client.write(client.update("INSERT", table_entry=other))
    assert [e.priority for e in client.entries("ranges", priority=2)] == [2]
    assert [e.priority for e in client.entries("ranges", metadata=b"x")] == [3]
    action = {"action": {"action_id": client.id_of("actions", "NoAction")}}
    assert [e.priority for e in client.entries("ranges", action=action)] == [3]
    assert list(client.entries("forward", match=forward(client).match)) == []


def test_direct_counters(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    switch.send(1, frame())
    (without,) = client.entries("forward")
    assert not without.HasField("counter_data")
    (entry,) = client.entries("forward", counter_data=client.proto.CounterData())
    # A frame's bytes have its check sequence, as on the chip.
    assert (entry.counter_data.packet_count, entry.counter_data.byte_count) == (1, 60 + 4)
    place = client.entry("forward", dst_addr=EXACT)
    counter = client.proto.DirectCounterEntry(table_entry=place)
    counter.data.packet_count, counter.data.byte_count = 7, 700
    client.write(client.update("MODIFY", direct_counter_entry=counter))
    asked = client.proto.Entity(
        direct_counter_entry=client.proto.DirectCounterEntry(table_entry=place)
    )
    assert [each.direct_counter_entry for each in client.read(asked)] == [counter]


def counted(client: Client, table: str, **filters: Any) -> tuple[Any, int]:
    """The one entry, and the packets that it has counted."""
    (entry,) = client.entries(table, counter_data=client.proto.CounterData(), **filters)
    return entry, entry.counter_data.packet_count


def test_the_default_entrys_counter_runs_on(client: Client, switch: SoftswitchTarget) -> None:
    """A MODIFY without counter_data does not change the counter, one with it sets it."""
    switch.send(1, frame())
    assert counted(client, "forward", is_default_action=True)[1] == 1
    entry = client.entry("forward", client.action("send", port=b"\x03"))
    entry.is_default_action = True
    client.write(client.update("MODIFY", table_entry=entry))
    switch.send(1, frame())
    assert counted(client, "forward", is_default_action=True)[1] == 2
    entry.counter_data.packet_count = 7
    client.write(client.update("MODIFY", table_entry=entry))
    switch.send(1, frame())
    assert counted(client, "forward", is_default_action=True)[1] == 8


def test_the_default_entrys_counter_alone_is_modified(client: Client) -> None:
    entry = client.entry("forward", client.action("send", port=b"\x03"))
    entry.is_default_action = True
    client.write(client.update("MODIFY", table_entry=entry))
    name = client.entry("forward")
    name.is_default_action = True
    counter = client.proto.DirectCounterEntry(table_entry=name)
    counter.data.packet_count, counter.data.byte_count = 9, 900
    client.write(client.update("MODIFY", direct_counter_entry=counter))
    wanted = client.proto.DirectCounterEntry(table_entry=name)
    read = client.read(client.proto.Entity(direct_counter_entry=wanted))
    assert [each.direct_counter_entry for each in read] == [counter]
    assert list(client.entries("forward", is_default_action=True)) == [entry]


def test_a_default_entry_that_is_reset_begins_anew(client: Client) -> None:
    entry = client.entry("forward", client.action("send", port=b"\x03"))
    entry.is_default_action, entry.metadata, entry.counter_data.packet_count = True, b"mine", 7
    client.write(client.update("MODIFY", table_entry=entry))
    entry.ClearField("action")
    assert refused(client, client.update("MODIFY", table_entry=entry)) == code("INVALID_ARGUMENT")
    entry.ClearField("counter_data")
    client.write(client.update("MODIFY", table_entry=entry))
    read, packets = counted(client, "forward", is_default_action=True)
    assert (read.action.action, read.metadata, packets) == (client.action("discard"), b"", 0)


def test_counters_of_constants_are_modified(client: Client, switch: SoftswitchTarget) -> None:
    place = client.entry("known", ether_type={"exact": {"value": b"\x12\x35"}})
    place.counter_data.packet_count = 5
    client.write(client.update("MODIFY", table_entry=place))
    switch.send(1, frame(0x1235))
    entry, packets = counted(client, "known")
    assert (entry.is_const, packets) == (True, 6)
    place.action.CopyFrom(entry.action)  # forbidden, even if it is the same
    update = client.update("MODIFY", table_entry=place)
    assert refused(client, update) == code("PERMISSION_DENIED")
    place.ClearField("action")
    counter = client.proto.DirectCounterEntry(table_entry=place)
    counter.data.packet_count = 3
    client.write(client.update("MODIFY", direct_counter_entry=counter))
    assert counted(client, "known")[1] == 3


def test_the_counter_of_a_constant_default_entry_is_modified(client: Client) -> None:
    name = client.entry("known")
    name.is_default_action = True
    counter = client.proto.DirectCounterEntry(table_entry=name)
    counter.data.packet_count = 4
    client.write(client.update("MODIFY", direct_counter_entry=counter))
    assert counted(client, "known", is_default_action=True)[1] == 4
    name.counter_data.packet_count = 4
    update = client.update("MODIFY", table_entry=name)
    assert refused(client, update) == code("PERMISSION_DENIED")


def test_a_counter_of_no_entry_is_not_found(client: Client) -> None:
    place = client.entry("forward", dst_addr=EXACT)
    counter = client.proto.DirectCounterEntry(table_entry=place)
    with pytest.raises(CallError) as failed:
        client.read(client.proto.Entity(direct_counter_entry=counter))
    assert failed.value.codes() == [code("NOT_FOUND")]
    update = client.update("MODIFY", direct_counter_entry=counter)
    assert refused(client, update) == code("NOT_FOUND")


def test_many_entries_come_in_several_messages(client: Client) -> None:
    updates = [
        client.update(
            "INSERT",
            table_entry=forward(client, match={"exact": {"value": b"\x01" + i.to_bytes(2, "big")}}),
        )
        for i in range(5000)
    ]
    client.write(*updates)
    assert len(list(client.entries("forward"))) == 5000
