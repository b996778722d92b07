"""Registers, counters, meters, digests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client
from .conftest import Server
from .test_tables import FRAME, INVALID, UNIMPLEMENTED, failing

INITIAL = 7  # of the register `hits`


def cell(client: Client, index: int, **how: Any) -> list[int]:
    (entry,) = client.read("hits", {"$REGISTER_INDEX": index}, **how)
    values: list[int] = entry.data["Ingress.hits.f1"]
    return values


def test_a_register_has_a_value_for_each_pipe(client: Client) -> None:
    assert cell(client, 3) == [INITIAL, INITIAL]
    assert cell(client, 3, pipe=1) == [INITIAL]
    with pytest.raises(CallError) as failed:
        cell(client, 3, pipe=2)
    assert failed.value.codes() == [INVALID]


@pytest.mark.parametrize("pipes", [1, 4])
def test_the_number_of_pipes_is_settable(
    build_dir: Path, switch: SoftswitchTarget, server: Server, proto: SimpleNamespace, pipes: int
) -> None:
    binary = build_dir / "bin" / "bfrt-server"
    other = Server(binary, switch.directory, "--pipes", str(pipes), name=f"pipes{pipes}")
    try:
        client = Client(other.address, proto)
        client.open()
        client.bind()
        assert len(cell(client, 3)) == pipes
        configuration = client.read("tf1.dev.device_configuration", from_hw=False)
        assert configuration[0].data["num_pipes"] == pipes
        client.close()
    finally:
        other.close()


@pytest.mark.parametrize("kind", ["INSERT", "MODIFY", "INSERT_OR_MODIFY"])
def test_a_register_is_written(client: Client, kind: str) -> None:
    client.write(kind, "hits", {"$REGISTER_INDEX": 4}, data={"f1": 0x01020304})
    assert cell(client, 4) == [0x01020304] * 2
    assert cell(client, 4, from_hw=False) == [0x01020304] * 2


def test_a_register_is_not_written_in_one_pipe_of_two(client: Client) -> None:
    entry = client.entry("hits", {"$REGISTER_INDEX": 4}, data={"f1": 1})
    assert failing(client, client.update("INSERT", entry), pipe=0).codes() == [UNIMPLEMENTED]


def test_packets_change_the_device_and_not_the_copy(
    client: Client, switch: SoftswitchTarget
) -> None:
    switch.send(1, FRAME)
    assert cell(client, 0, from_hw=False) == [INITIAL] * 2
    assert cell(client, 0) == [INITIAL + 1] * 2
    assert cell(client, 0, from_hw=False) == [INITIAL + 1] * 2
    switch.send(1, FRAME)
    assert cell(client, 0, from_hw=False) == [INITIAL + 1] * 2
    client.operate("hits", "Sync")
    assert cell(client, 0, from_hw=False) == [INITIAL + 2] * 2


def test_a_pair_has_two_fields_of_each_pipe(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("pairs", {"$REGISTER_INDEX": 1}, data={"first": 10, "second": 20})
    switch.send(1, FRAME)
    (entry,) = client.read("pairs", {"$REGISTER_INDEX": 1})
    assert entry.data == {"Ingress.pairs.first": [11, 11], "Ingress.pairs.second": [20, 20]}


def test_cells_are_written_in_batches_and_read_in_batches(client: Client) -> None:
    updates = [
        client.update("INSERT", client.entry("hits", {"$REGISTER_INDEX": i}, data={"f1": i * i}))
        for i in [5, 6, 7, 200, 8, 9, 5]
    ]
    client.write_updates(updates)
    flags = client.proto.TableFlags(from_hw=True)
    entities = [
        client.proto.Entity(
            table_entry=client.entry("hits", {"$REGISTER_INDEX": i}, table_flags=flags)
        )
        for i in [9, 200, 5, 5]
    ]
    answer = client.read_entities(entities)
    plain = [client.plain(entity.table_entry) for entity in answer.entities]
    assert [(e.key["$REGISTER_INDEX"], e.data["Ingress.hits.f1"][0]) for e in plain] == [
        (9, 81), (200, 40000), (5, 25), (5, 25),
    ]  # fmt: skip
    assert len(client.read("hits")) == 256


def test_a_register_is_reset_as_a_whole_to_its_initial_value(client: Client) -> None:
    client.insert("hits", {"$REGISTER_INDEX": 4}, data={"f1": 1})
    one = client.update("DELETE", client.entry("hits", {"$REGISTER_INDEX": 4}))
    assert failing(client, one).codes() == [UNIMPLEMENTED]
    client.delete("hits")
    assert cell(client, 4, from_hw=False) == [INITIAL] * 2


@pytest.mark.parametrize(
    ("key", "data"),
    [
        ({"$REGISTER_INDEX": 256}, {"f1": 1}),
        ({"$REGISTER_INDEX": b"\x01"}, {"f1": 1}),
        ({}, {"f1": 1}),
        ({"$REGISTER_INDEX": 1}, {"f1": b"\x01"}),
        ({"$REGISTER_INDEX": 1}, {}),
    ],
)
def test_wrong_cells_are_refused(client: Client, key: Any, data: Any) -> None:
    entry = client.entry("hits", key, data=data)
    assert failing(client, client.update("INSERT", entry)).codes() == [INVALID]


def counted(client: Client, **how: Any) -> tuple[int, int]:
    (entry,) = client.read("seen", {"$COUNTER_INDEX": 0}, **how)
    return entry.data["$COUNTER_SPEC_PKTS"], entry.data["$COUNTER_SPEC_BYTES"]


def test_counters_are_read_synchronised_and_written(
    client: Client, switch: SoftswitchTarget
) -> None:
    switch.send(1, FRAME)
    assert counted(client, from_hw=False) == (0, 0)
    client.operate("seen", "Sync")
    assert counted(client, from_hw=False)[0] == 1
    client.modify(
        "seen", {"$COUNTER_INDEX": 0}, data={"$COUNTER_SPEC_PKTS": 0, "$COUNTER_SPEC_BYTES": 0}
    )
    assert counted(client) == (0, 0)
    client.insert(
        "seen", {"$COUNTER_INDEX": 0}, data={"$COUNTER_SPEC_PKTS": 5, "$COUNTER_SPEC_BYTES": 9}
    )
    switch.send(1, FRAME)
    packets, octets = counted(client)
    assert packets == 6
    assert octets == 9 + len(FRAME) + 4  # and the check sequence
    client.delete("seen")
    assert counted(client) == (0, 0)


def test_an_operation_that_a_table_has_not_is_unimplemented(client: Client) -> None:
    with pytest.raises(CallError) as failed:
        client.operate("prefixes", "SyncCounters")
    assert failed.value.codes() == [UNIMPLEMENTED]


# What a Tofino 1 has where nobody set a limit, as open-p4studio's test of tna_meter_lpf_wred says.
NO_LIMITS = {
    "$METER_SPEC_CIR_KBPS": 5195848221,
    "$METER_SPEC_PIR_KBPS": 5195848221,
    "$METER_SPEC_CBS_KBITS": 4380866642,
    "$METER_SPEC_PBS_KBITS": 4380866642,
}
LIMITS = {
    "$METER_SPEC_CIR_KBPS": 1,
    "$METER_SPEC_PIR_KBPS": 1,
    "$METER_SPEC_CBS_KBITS": 1,
    "$METER_SPEC_PBS_KBITS": 1,
}


def test_a_meter_colours_packets(client: Client, switch: SoftswitchTarget) -> None:
    key = {"$METER_INDEX": 0}
    (unlimited,) = client.read("limits", key)
    assert unlimited.data == NO_LIMITS
    client.insert("limits", key, data=LIMITS)
    assert client.read("limits", key)[0].data == LIMITS
    for _ in range(20):  # 1 kbit/s, and bursts of 125 bytes
        switch.send(1, FRAME)
    assert cell(client, 0)[0] < INITIAL + 20  # red ones are not counted
    client.insert("limits", key, data=unlimited.data)
    before = cell(client, 0)[0]
    switch.send(1, FRAME)
    assert cell(client, 0)[0] == before + 1


def test_limits_of_part_of_a_kilobit_are_rounded_up(
    client: Client, switch: SoftswitchTarget
) -> None:
    data = dict.fromkeys(LIMITS, 1.592)  # 199 bytes, which only the control socket can say
    switch.command("meter_write", table="limits", index=5, data=data)
    (read,) = client.read("limits", {"$METER_INDEX": 5})
    assert set(read.data.values()) == {2}


def test_a_meter_needs_all_its_limits(client: Client) -> None:
    some = dict(list(LIMITS.items())[:3])
    entry = client.entry("limits", {"$METER_INDEX": 0}, data=some)
    assert failing(client, client.update("INSERT", entry)).codes() == [INVALID]


@pytest.fixture
def drained(client: Client, switch: SoftswitchTarget) -> Client:
    """No digest waits from other tests."""
    while True:
        switch.send(1, bytes(14) + bytes(46))
        if _digests(client, 1)[-1] == (0, 1):
            break
    return client


def _digests(client: Client, count: int) -> list[tuple[int, int]]:
    """At least so many, as (source, port)."""
    found: list[tuple[int, int]] = []
    while len(found) < count:
        message = client.message()
        for data in message.digest.data:
            source, port = (int.from_bytes(each.stream, "big") for each in data.fields)
            found.append((source, port))
    return found


def test_digests_come_to_the_bound_client(drained: Client, switch: SoftswitchTarget) -> None:
    frames = [bytes(6) + bytes([0, 0, 0, 0, 1, i]) + bytes(48) for i in range(3)]
    for port, frame in enumerate(frames, start=1):
        switch.send(port, frame)
    assert _digests(drained, 3) == [(0x100, 1), (0x101, 2), (0x102, 3)]


def test_digests_name_their_filter(
    drained: Client, switch: SoftswitchTarget, connect: Callable[[int], Client]
) -> None:
    switch.send(1, FRAME)
    message = drained.message()
    assert message.digest.digest_id == 0x0B000001
    assert message.digest.target.pipe_id == 0
    assert [each.field_id for each in message.digest.data[0].fields] == [1, 2]
    assert [len(each.stream) for each in message.digest.data[0].fields] == [6, 2]
