"""Counters and registers. Rules and codes: P4Runtime 1.4, "CounterEntry" and "RegisterEntry"."""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client, code
from .test_tables import frame, refused


def counters(client: Client, index: int | None = None) -> list[Any]:
    wanted = client.proto.CounterEntry(counter_id=client.id_of("counters", "seen"))
    if index is not None:
        wanted.index.index = index
    return [each.counter_entry for each in client.read(client.proto.Entity(counter_entry=wanted))]


def registers(client: Client, name: str, index: int | None = None) -> list[Any]:
    wanted = client.proto.RegisterEntry(register_id=client.id_of("registers", name))
    if index is not None:
        wanted.index.index = index
    return [each.register_entry for each in client.read(client.proto.Entity(register_entry=wanted))]


def test_counters(client: Client, switch: SoftswitchTarget) -> None:
    switch.send(1, frame())
    every = counters(client)
    assert [entry.index.index for entry in every] == list(range(16))
    assert (every[0].data.packet_count, every[0].data.byte_count) == (1, 60 + 4)
    every[3].data.packet_count, every[3].data.byte_count = 5, 500
    client.write(client.update("MODIFY", counter_entry=every[3]))
    assert counters(client, 3) == [every[3]]


def test_registers(client: Client, switch: SoftswitchTarget) -> None:
    switch.send(1, frame())
    (hit,) = registers(client, "hits", 0)
    assert hit.data.bitstring == b"\x08"  # the program begins with 7
    assert [e.index.index for e in registers(client, "hits")] == list(range(256))
    hit.index.index, hit.data.bitstring = 200, b"\x01\x00\x00\x00"
    client.write(client.update("MODIFY", register_entry=hit))
    assert registers(client, "hits", 200) == [hit]
    (pair,) = registers(client, "pairs", 2)
    for member, value in zip(pair.data.struct.members, (b"\x05", b"\x06"), strict=True):
        member.bitstring = value
    client.write(client.update("MODIFY", register_entry=pair))
    assert registers(client, "pairs", 2) == [pair]


def test_wrong_cells_are_refused(client: Client) -> None:
    (cell,) = registers(client, "hits", 0)
    assert refused(client, client.update("INSERT", register_entry=cell)) == code("INVALID_ARGUMENT")
    assert refused(client, client.update("DELETE", register_entry=cell)) == code("INVALID_ARGUMENT")
    cell.data.bitstring = b"\x01\x00\x00\x00\x00"
    assert refused(client, client.update("MODIFY", register_entry=cell)) == code("OUT_OF_RANGE")
    cell.data.bitstring, cell.index.index = b"\x01", 256
    assert refused(client, client.update("MODIFY", register_entry=cell)) == code("OUT_OF_RANGE")
    cell.index.index = -1
    assert refused(client, client.update("MODIFY", register_entry=cell)) == code("INVALID_ARGUMENT")
    with pytest.raises(CallError) as failed:
        registers(client, "hits", 256)
    assert failed.value.codes() == [code("OUT_OF_RANGE")]


def test_without_an_index_all_cells_are_written(client: Client) -> None:
    cell = client.proto.RegisterEntry(register_id=client.id_of("registers", "hits"))
    cell.data.bitstring = b"\x05"
    client.write(client.update("MODIFY", register_entry=cell))
    assert {each.data.bitstring for each in registers(client, "hits")} == {b"\x05"}
    every = client.proto.CounterEntry(counter_id=client.id_of("counters", "seen"))
    every.data.packet_count = 3
    client.write(client.update("MODIFY", counter_entry=every))
    assert [each.data.packet_count for each in counters(client)] == [3] * 16
    every.ClearField("data")  # leaves them as they are
    client.write(client.update("MODIFY", counter_entry=every))
    assert [each.data.packet_count for each in counters(client)] == [3] * 16


def test_a_request_that_fails_leaves_the_others_their_answer(client: Client) -> None:
    right = client.proto.CounterEntry(counter_id=client.id_of("counters", "seen"))
    wrong = client.proto.CounterEntry(counter_id=1)
    with pytest.raises(CallError) as failed:
        client.read(
            client.proto.Entity(counter_entry=wrong), client.proto.Entity(counter_entry=right)
        )
    assert failed.value.codes() == [code("NOT_FOUND"), 0]


def test_what_is_not_served_says_so(client: Client) -> None:
    entry = client.proto.ExternEntry(extern_type_id=1)
    assert refused(client, client.update("INSERT", extern_entry=entry)) == code("UNIMPLEMENTED")
    with pytest.raises(CallError) as failed:
        client.read(client.proto.Entity())
    assert failed.value.codes() == [code("INVALID_ARGUMENT")]
