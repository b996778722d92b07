"""Digests. Rules and codes: P4Runtime 1.4, "DigestEntry" and "Stream Error Reporting"."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from packet.live_switch import SoftswitchTarget

from .client import Client, code
from .conftest import Connect
from .test_tables import frame, refused

LONG_NS = 3600 * 10**9


def source(number: int) -> bytes:
    return b"\x02\x00\x00\x00\x00" + bytes([number])


def digest(client: Client, **config: int) -> Any:
    return client.proto.DigestEntry(
        digest_id=client.id_of("digests", "learn"),
        config=client.proto.DigestEntry.Config(**config),
    )


def configure(client: Client, kind: str = "INSERT", **config: int) -> None:
    client.write(client.update(kind, digest_entry=digest(client, **config)))


def values(message: Any) -> list[list[bytes]]:
    """Of each digest of a list: the source address, and the port that the frame came by."""
    return [[each.bitstring for each in data.struct.members] for data in message.digest.data]


def acknowledge(client: Client, message: Any, digest_id: int | None = None) -> None:
    request = client.proto.StreamMessageRequest()
    request.digest_ack.digest_id = message.digest.digest_id if digest_id is None else digest_id
    request.digest_ack.list_id = message.digest.list_id
    client.send(request)


def test_a_digest_is_told(client: Client, switch: SoftswitchTarget) -> None:
    configure(client, max_list_size=1)
    switch.send(1, frame(source=source(7)))
    told = client.next()
    assert told.digest.digest_id == client.id_of("digests", "learn")
    assert values(told) == [[source(7), b"\x01"]]
    assert told.digest.timestamp > 10**18  # ns since the Epoch: after 2001
    switch.send(2, frame(source=source(8)))
    later = client.next()
    assert values(later) == [[source(8), b"\x02"]]
    assert later.digest.list_id != told.digest.list_id


def test_what_came_before_is_not_told(client: Client, switch: SoftswitchTarget) -> None:
    switch.send(1, frame(source=source(1)))
    configure(client, max_list_size=1)
    switch.send(1, frame(source=source(2)))
    assert values(client.next()) == [[source(2), b"\x01"]]


def test_a_list_waits_until_it_is_full(client: Client, switch: SoftswitchTarget) -> None:
    configure(client, max_list_size=3, max_timeout_ns=LONG_NS)
    for number in (1, 2, 1, 3, 4):  # each once
        switch.send(1, frame(source=source(number)))
    assert [mac for mac, _ in values(client.next())] == [source(1), source(2), source(3)]


def test_a_list_waits_no_longer_than_it_may(client: Client, switch: SoftswitchTarget) -> None:
    configure(client, max_list_size=100, max_timeout_ns=10**6)
    switch.send(1, frame(source=source(1)))
    assert values(client.next()) == [[source(1), b"\x01"]]


def test_what_is_not_acknowledged_is_not_told_again(
    client: Client, switch: SoftswitchTarget
) -> None:
    configure(client, max_list_size=1, ack_timeout_ns=LONG_NS)
    switch.send(1, frame(source=source(1)))
    first = client.next()
    switch.send(1, frame(source=source(1)))
    switch.send(1, frame(source=source(2)))
    assert values(client.next()) == [[source(2), b"\x01"]]
    acknowledge(client, first)
    # The answer to a wrong acknowledgement comes after the first has been taken.
    acknowledge(client, first, digest_id=1)
    assert client.next().error.canonical_code == code("INVALID_ARGUMENT")
    switch.send(1, frame(source=source(1)))
    assert values(client.next()) == [[source(1), b"\x01"]]


def test_configurations_are_read_and_end(client: Client) -> None:
    wanted = client.proto.Entity(digest_entry=client.proto.DigestEntry())
    assert client.read(wanted) == []
    update = client.update("MODIFY", digest_entry=digest(client))
    assert refused(client, update) == code("NOT_FOUND")
    configure(client, max_list_size=5)
    assert refused(client, client.update("INSERT", digest_entry=digest(client))) == code(
        "ALREADY_EXISTS"
    )
    configure(client, "MODIFY", max_list_size=6, ack_timeout_ns=7)
    (found,) = client.read(wanted)
    assert found.digest_entry == digest(client, max_list_size=6, ack_timeout_ns=7)
    unknown = client.proto.DigestEntry(digest_id=1)
    assert refused(client, client.update("INSERT", digest_entry=unknown)) == code("NOT_FOUND")
    configure(client, "DELETE")
    assert client.read(wanted) == []


def test_a_new_pipeline_tells_nothing(client: Client) -> None:
    configure(client, max_list_size=1)
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    assert client.read(client.proto.Entity(digest_entry=client.proto.DigestEntry())) == []


def test_backups_do_not_acknowledge(
    client: Client, connect: Connect, election_ids: Iterator[int]
) -> None:
    backup = connect()
    assert backup.open(0).arbitration.status.code == code("ALREADY_EXISTS")
    request = backup.proto.StreamMessageRequest()
    request.digest_ack.digest_id = backup.id_of("digests", "learn")
    backup.send(request)
    error = backup.next().error
    assert error.canonical_code == code("PERMISSION_DENIED")
    assert error.digest_list_ack.digest_list_ack == request.digest_ack
