"""Streams, arbitration and the pipeline's configuration."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from .client import DEADLINE_S, CallError, Client, code
from .conftest import Connect
from .test_tables import forward


def test_the_highest_election_id_writes(connect: Connect, election_ids: Iterator[int]) -> None:
    low, high = next(election_ids), next(election_ids)
    first, second = connect(low), connect(high)
    assert first.open().arbitration.status.code == 0
    assert second.open().arbitration.status.code == 0
    told = first.next().arbitration
    assert (told.status.code, told.election_id.low) == (code("ALREADY_EXISTS"), high)
    with pytest.raises(CallError) as failed:
        first.write(first.update("INSERT", table_entry=forward(first)))
    assert failed.value.code.name == "PERMISSION_DENIED"
    second.close()
    assert first.next().arbitration.status.code == code("NOT_FOUND")


def test_without_a_stream_nobody_writes(connect: Connect) -> None:
    client = connect(1 << 40)
    with pytest.raises(CallError) as failed:
        client.write(client.update("INSERT", table_entry=forward(client)))
    assert failed.value.code.name == "PERMISSION_DENIED"


def test_another_device_ends_the_stream(connect: Connect, election_ids: Iterator[int]) -> None:
    client = connect(next(election_ids))
    with pytest.raises(CallError) as failed:
        client.open(device=2)
    assert failed.value.code.name == "NOT_FOUND"


def test_an_election_id_is_one_clients(client: Client, connect: Connect) -> None:
    other = connect(client.election_id)
    with pytest.raises(CallError) as failed:
        other.open()
    assert failed.value.code.name == "INVALID_ARGUMENT"


def test_packets_are_answered_with_an_error(client: Client) -> None:
    message = client.proto.StreamMessageRequest()
    message.packet.payload = b"x"
    client.send(message)
    error = client.next().error
    assert error.canonical_code == code("UNIMPLEMENTED")
    assert error.WhichOneof("details") == "packet_out"


def test_the_configuration_is_the_programs(client: Client) -> None:
    config = client.get_config()
    assert config.p4info.pkg_info.arch == "tna"
    assert not config.HasField("cookie")
    client.set_config("VERIFY", config)
    config.cookie.cookie = 99
    client.set_config("RECONCILE_AND_COMMIT", config)
    assert client.get_config("COOKIE_ONLY").cookie.cookie == 99
    assert not client.get_config("COOKIE_ONLY").p4info.tables


def test_another_program_is_refused(client: Client) -> None:
    config = client.get_config()
    config.p4info.tables[0].size += 1
    with pytest.raises(CallError) as failed:
        client.set_config("VERIFY", config)
    assert failed.value.code.name == "INVALID_ARGUMENT"
    assert "tables[0].size" in failed.value.message
    with pytest.raises(CallError) as failed:
        client.set_config("VERIFY", None)
    assert failed.value.code.name == "INVALID_ARGUMENT"


def test_committing_empties_the_tables(client: Client) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    client.set_config("RECONCILE_AND_COMMIT", client.get_config())
    assert len(list(client.entries("forward"))) == 1
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    assert list(client.entries("forward")) == []


def test_the_version_is_told(client: Client) -> None:
    assert client.capabilities().p4runtime_api_version == "1.4.1"


BATCHES, ENTRIES = 8, 1_000


def test_what_waits_when_another_becomes_primary_is_not_done(
    connect: Connect, election_ids: Iterator[int]
) -> None:
    """Writes of the old primary that are under way, or wait, as the new one is told."""
    low, high = next(election_ids), next(election_ids)
    old, new = connect(low), connect(high)
    assert old.open().arbitration.status.code == 0
    old.set_config("VERIFY_AND_COMMIT", old.get_config())
    batches = [
        [
            old.update("INSERT", table_entry=forward(old, match=key(ENTRIES * batch + i + 1)))
            for i in range(ENTRIES)
        ]
        for batch in range(BATCHES)
    ]
    with ThreadPoolExecutor(BATCHES) as threads:
        calls = [threads.submit(old.write, *batch) for batch in batches]
        while not list(new.entries("forward")):  # the first has begun
            assert not all(call.done() for call in calls)
        assert new.open().arbitration.status.code == 0
        then = len(list(new.entries("forward")))
        new.write(new.update("INSERT", table_entry=forward(new, match=key(1 << 40))))
        failures = [call.exception(DEADLINE_S) for call in calls]
    refused = [error for error in failures if error is not None]
    assert all(
        isinstance(error, CallError) and error.code.name == "PERMISSION_DENIED" for error in refused
    )
    assert then == ENTRIES * (BATCHES - len(refused))
    assert len(list(new.entries("forward"))) == then + 1


def key(number: int) -> dict[str, dict[str, bytes]]:
    return {"exact": {"value": number.to_bytes(6, "big").lstrip(b"\x00")}}
