"""Clients that ask for much, or take nothing: the others are served."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import grpc
import pytest
from bfrt.conftest import Server

from .client import DEADLINE_S, DEVICE, SERVICE, CallError, Client
from .conftest import Connect
from .test_pipeline import wait_until
from .test_sessions import key
from .test_tables import forward

MOST_ANSWERS, MOST_STREAMS, MOST_READS = 32, 128, 100_000
ENTRIES = 8_000  # their answer is longer than what this channel takes unread
DEAF = [("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1 << 16)]


def fails_as_exhausted(call: Any) -> bool:
    return bool(call.done()) and call.code() == grpc.StatusCode.RESOURCE_EXHAUSTED


def test_answers_that_nobody_takes_hold_up_nobody(client: Client, server: Server) -> None:
    client.write(
        *(
            client.update("INSERT", table_entry=forward(client, match=key(number + 1)))
            for number in range(ENTRIES)
        )
    )
    deaf = grpc.insecure_channel(server.address, options=DEAF)
    read = deaf.unary_stream(
        f"/{SERVICE}/Read",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=client.proto.ReadResponse.FromString,
    )
    request = client.proto.ReadRequest(device_id=DEVICE)
    request.entities.add().table_entry.table_id = client.id_of("tables", "forward")
    calls = [read(request, timeout=3 * DEADLINE_S) for _ in range(MOST_ANSWERS + 1)]
    try:
        wait_until(lambda: any(fails_as_exhausted(call) for call in calls))
        client.write(client.update("DELETE", table_entry=forward(client, match=key(1))))
    finally:
        for call in calls:
            call.cancel()
        deaf.close()
    wait_until(lambda: entries_of(client) == ENTRIES - 1)


def entries_of(client: Client) -> int | None:
    """None: there are too many answers still."""
    try:
        return len(list(client.entries("forward")))
    except CallError as error:
        if error.code.name != "RESOURCE_EXHAUSTED":
            raise
        return None


def test_streams_are_limited_before_they_ask_for_anything(client: Client, connect: Connect) -> None:
    idle = connect()
    end = threading.Event()

    def nothing() -> Iterator[Any]:
        end.wait()
        yield from ()

    open_stream = idle.channel.stream_stream(
        f"/{SERVICE}/StreamChannel",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=idle.proto.StreamMessageResponse.FromString,
    )
    streams = [open_stream(nothing(), timeout=3 * DEADLINE_S) for _ in range(MOST_STREAMS)]
    try:  # with that of `client`
        wait_until(lambda: any(fails_as_exhausted(stream) for stream in streams))
        client.write(client.update("INSERT", table_entry=forward(client)))
    finally:
        for stream in streams:
            stream.cancel()
        end.set()


def test_a_read_asks_for_so_much(client: Client) -> None:
    wanted = client.proto.Entity(digest_entry=client.proto.DigestEntry())
    assert client.read(*[wanted] * MOST_READS) == []
    with pytest.raises(CallError) as failed:
        client.read(*[wanted] * (MOST_READS + 1))
    assert failed.value.code.name == "RESOURCE_EXHAUSTED"
    assert str(MOST_READS) in failed.value.message


def test_an_answer_is_limited(client: Client) -> None:
    """By what it would hold: 32 entries with 64 KiB each, read 65 times, are 130 MiB."""
    entries = []
    for number in range(32):
        entries.append(forward(client, match=key(number + 1)))
        entries[-1].metadata = bytes(64 << 10)
    client.write(*(client.update("INSERT", table_entry=entry) for entry in entries))
    wanted = client.proto.Entity()
    wanted.table_entry.table_id = client.id_of("tables", "forward")
    assert len(client.read(*[wanted] * 63)) == 63 * 32
    with pytest.raises(CallError) as failed:
        client.read(*[wanted] * 65)
    assert failed.value.code.name == "RESOURCE_EXHAUSTED"
    assert "the answer has more than 134217728 bytes" in failed.value.message


def test_a_read_that_nobody_waits_for_ends(client: Client, server: Server) -> None:
    """Nobody writes before a read has ended: this one would take minutes."""
    request = client.proto.ReadRequest(device_id=DEVICE)
    for _ in range(MOST_READS):
        wanted = request.entities.add().table_entry  # none is: each table is looked through for it
        wanted.table_id, wanted.metadata = client.id_of("tables", "forward"), b"none"
    entries = (forward(client, match=key(number + 1)) for number in range(1000))
    client.write(*(client.update("INSERT", table_entry=entry) for entry in entries))
    channel = grpc.insecure_channel(server.address, options=DEAF)
    call = channel.unary_stream(
        f"/{SERVICE}/Read",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=client.proto.ReadResponse.FromString,
    )(request)
    wait_until(lambda: server.command("stats")["reads"] == 1)
    call.cancel()
    client.write(client.update("DELETE", table_entry=forward(client, match=key(1))))
    channel.close()
