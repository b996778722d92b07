"""Streams, arbitration and the pipeline's configuration."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .client import CallError, Client, code
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
    with pytest.raises(CallError) as failed:
        client.set_config("COMMIT", None)
    assert failed.value.code.name == "UNIMPLEMENTED"


def test_committing_empties_the_tables(client: Client) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    client.set_config("RECONCILE_AND_COMMIT", client.get_config())
    assert len(list(client.entries("forward"))) == 1
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    assert list(client.entries("forward")) == []


def test_the_version_is_told(client: Client) -> None:
    assert client.capabilities().p4runtime_api_version == "1.4.1"
