"""Multicast groups and clone sessions. Rules and codes: P4Runtime 1.4,
"PacketReplicationEngineEntry".
"""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client, code
from .test_tables import forward, frame, refused

IPV4 = {"exact": {"value": b"\x08\x00"}}
LAST_GROUP = 0xFFFF - 1024
LAST_SESSION = 1023
UNICAST = (2, b"\x00\x01")  # the copy that `forward` sends; the bytes are of the source address


def replica(client: Client, port: int, instance: int = 0) -> Any:
    return client.proto.Replica(port=bytes([port]), instance=instance)


def group(client: Client, number: int, *replicas: Any, metadata: bytes = b"") -> Any:
    return client.proto.PacketReplicationEngineEntry(
        multicast_group_entry=client.proto.MulticastGroupEntry(
            multicast_group_id=number, replicas=replicas, metadata=metadata
        )
    )


def session(client: Client, number: int, *replicas: Any, **fields: int) -> Any:
    return client.proto.PacketReplicationEngineEntry(
        clone_session_entry=client.proto.CloneSessionEntry(
            session_id=number, replicas=replicas, **fields
        )
    )


def update(client: Client, kind: str, entry: Any) -> Any:
    return client.update(kind, packet_replication_engine_entry=entry)


def write(client: Client, kind: str, entry: Any) -> None:
    client.write(update(client, kind, entry))


def read(client: Client, wanted: Any) -> list[Any]:
    entity = client.proto.Entity(packet_replication_engine_entry=wanted)
    return [each.packet_replication_engine_entry for each in client.read(entity)]


def code_of(client: Client, kind: str, entry: Any) -> int:
    return refused(client, update(client, kind, entry))


def nodes(switch: SoftswitchTarget) -> int:
    return len(switch.command("table_read", table="$pre.node")["entries"])


def copies(switch: SoftswitchTarget) -> list[tuple[int, bytes]]:
    """Of one frame: ports and, of copies with an instance, that instance."""
    return sorted((port, sent[10:12]) for port, sent in switch.send(1, frame()))


@pytest.fixture
def copying(client: Client) -> Client:
    client.write(client.update("INSERT", table_entry=forward(client)))
    return client


def copy_to(client: Client, action: str, **values: bytes) -> None:
    entry = client.entry("copied", client.action(action, **values), ether_type=IPV4)
    client.write(client.update("INSERT", table_entry=entry))


# --- Multicast groups


def test_a_group_replicates_packets(copying: Client, switch: SoftswitchTarget) -> None:
    client = copying
    copy_to(client, "to_group", group=b"\x05")
    assert copies(switch) == [UNICAST]  # there is no such group
    replicas = [replica(client, 2, 0x11), replica(client, 3, 0x22), replica(client, 3, 0x0133)]
    write(client, "INSERT", group(client, 5, *replicas))
    assert copies(switch) == [UNICAST, (2, b"\x00\x11"), (3, b"\x00\x22"), (3, b"\x01\x33")]
    write(client, "MODIFY", group(client, 5, replica(client, 3, 0x44)))
    assert copies(switch) == [UNICAST, (3, b"\x00\x44")]
    assert nodes(switch) == 1
    write(client, "DELETE", group(client, 5))
    assert copies(switch) == [UNICAST]
    assert nodes(switch) == 0


def test_groups_are_read_as_they_were_written(client: Client) -> None:
    written = [
        group(client, 1, replica(client, 2), replica(client, 3), metadata=b"mine"),
        group(client, 2),
        group(client, LAST_GROUP, replica(client, 3, 0xFFFF)),
    ]
    client.write(*(update(client, "INSERT", entry) for entry in written))
    write(client, "INSERT", session(client, 1, replica(client, 2)))  # is no group of clients
    assert read(client, group(client, 0)) == written
    assert read(client, group(client, 2, replica(client, 1))) == [written[1]]
    assert read(client, group(client, 3)) == []


def test_metadata_are_those_of_the_last_write(client: Client) -> None:
    write(client, "INSERT", group(client, 1, metadata=b"mine"))
    write(client, "MODIFY", group(client, 1))
    assert read(client, group(client, 1)) == [group(client, 1)]
    write(client, "MODIFY", group(client, 1, metadata=b"new"))
    write(client, "DELETE", group(client, 1))
    write(client, "INSERT", group(client, 1))
    assert read(client, group(client, 1)) == [group(client, 1)]


def test_the_deprecated_port_is_given_back(client: Client) -> None:
    old = client.proto.Replica(egress_port=3, instance=1)
    for entry in (group(client, 1, old), session(client, 1, old)):
        write(client, "INSERT", entry)
        assert read(client, entry) == [entry]
    too_large = client.proto.Replica(egress_port=512)
    assert code_of(client, "INSERT", group(client, 2, too_large)) == code("OUT_OF_RANGE")


def test_wrong_groups_are_refused(client: Client, switch: SoftswitchTarget) -> None:
    wrong = [
        group(client, 0),
        group(client, LAST_GROUP + 1),
        group(client, 1, replica(client, 2, 7), replica(client, 2, 7)),
        group(client, 1, replica(client, 2, 0x10000)),
        group(client, 1, client.proto.Replica(instance=1)),
        client.proto.PacketReplicationEngineEntry(),
    ]
    for entry in wrong:
        assert code_of(client, "INSERT", entry) == code("INVALID_ARGUMENT")
    wide = client.proto.Replica(port=b"\x02\x00")
    assert code_of(client, "INSERT", group(client, 1, wide)) == code("OUT_OF_RANGE")
    backed = replica(client, 2)
    backed.backup_replicas.add(port=b"\x03")
    assert code_of(client, "INSERT", group(client, 1, backed)) == code("UNIMPLEMENTED")
    assert code_of(client, "UNSPECIFIED", group(client, 1)) == code("INVALID_ARGUMENT")
    assert read(client, group(client, 0)) == []
    assert nodes(switch) == 0


def test_groups_are_there_or_not(client: Client, switch: SoftswitchTarget) -> None:
    entry = group(client, 1, replica(client, 2, 7))
    assert code_of(client, "MODIFY", entry) == code("NOT_FOUND")
    assert code_of(client, "DELETE", entry) == code("NOT_FOUND")
    assert nodes(switch) == 0
    write(client, "INSERT", entry)
    other = group(client, 1, replica(client, 3, 8))
    assert code_of(client, "INSERT", other) == code("ALREADY_EXISTS")
    assert read(client, group(client, 1)) == [entry]
    assert nodes(switch) == 1


# --- Clone sessions


def test_a_session_clones_packets(copying: Client, switch: SoftswitchTarget) -> None:
    client = copying
    copy_to(client, "to_session", session=b"\x09")
    assert copies(switch) == [UNICAST]
    write(client, "INSERT", session(client, 9, replica(client, 3, 0x21), replica(client, 2, 0x22)))
    assert copies(switch) == [UNICAST, (2, b"\x00\x22"), (3, b"\x00\x21")]
    write(client, "MODIFY", session(client, 9, replica(client, 3), packet_length_bytes=32))
    assert sorted((port, len(sent)) for port, sent in switch.send(1, frame())) == [(2, 60), (3, 32)]
    write(client, "DELETE", session(client, 9))
    assert copies(switch) == [UNICAST]
    assert nodes(switch) == 0
    assert switch.command("table_read", table="$pre.mgid")["entries"] == []


def test_sessions_are_read_as_they_were_written(client: Client) -> None:
    written = [
        session(client, 1, replica(client, 2), replica(client, 3, 9), class_of_service=7),
        session(client, LAST_SESSION, packet_length_bytes=128),
    ]
    client.write(*(update(client, "INSERT", entry) for entry in written))
    assert read(client, session(client, 0)) == written
    assert read(client, session(client, 1, class_of_service=1)) == written[:1]
    assert read(client, session(client, 2)) == []
    changed = session(client, 1, replica(client, 3), packet_length_bytes=64)
    write(client, "MODIFY", changed)
    assert read(client, session(client, 1)) == [changed]


def test_wrong_sessions_are_refused(client: Client) -> None:
    wrong = [
        session(client, 0),
        session(client, LAST_SESSION + 1),
        session(client, 1, class_of_service=32),
        session(client, 1, packet_length_bytes=-1),
        session(client, 1, replica(client, 2, 0x10000)),
    ]
    for entry in wrong:
        assert code_of(client, "INSERT", entry) == code("INVALID_ARGUMENT")
    entry = session(client, 1, replica(client, 2))
    assert code_of(client, "MODIFY", entry) == code("NOT_FOUND")
    assert code_of(client, "DELETE", entry) == code("NOT_FOUND")
    write(client, "INSERT", entry)
    assert code_of(client, "INSERT", entry) == code("ALREADY_EXISTS")
    assert read(client, session(client, 0)) == [entry]


def test_a_session_of_another_control_plane(client: Client, switch: SoftswitchTarget) -> None:
    data = {"$session_enable": True, "$ucast_egress_port": 2, "$ucast_egress_port_valid": True}
    made = {"op": "insert", "table": "$mirror.cfg", "key": {"$sid": 4}, "data": data}
    switch.command("table_write", updates=[made])
    (found,) = read(client, session(client, 4))
    assert list(found.clone_session_entry.replicas) == [replica(client, 2)]
    changed = session(client, 4, replica(client, 3, 1))
    write(client, "MODIFY", changed)
    assert read(client, session(client, 4)) == [changed]
    write(client, "DELETE", session(client, 4))
    switch.command("table_write", updates=[made])
    write(client, "DELETE", session(client, 4))
    assert read(client, session(client, 0)) == []


# --- Batches


def test_a_batch_may_be_of_all_kinds(client: Client) -> None:
    """Each update is tried, and has its error in its place."""
    wrong = group(client, 0)
    meter = client.proto.MeterEntry(meter_id=client.id_of("meters", "limits"))
    with pytest.raises(CallError) as failed:
        client.write(
            client.update("INSERT", table_entry=forward(client)),
            update(client, "INSERT", group(client, 1)),
            update(client, "INSERT", wrong),
            client.update("MODIFY", meter_entry=meter),
            client.update("INSERT", table_entry=forward(client)),
            update(client, "INSERT", session(client, 1)),
        )
    expected = [0, 0, code("INVALID_ARGUMENT"), 0, code("ALREADY_EXISTS"), 0]
    assert failed.value.codes() == expected
    assert read(client, group(client, 0)) == [group(client, 1)]
    assert read(client, session(client, 0)) == [session(client, 1)]


def test_a_new_pipeline_begins_without_groups_and_sessions(
    client: Client, switch: SoftswitchTarget
) -> None:
    write(client, "INSERT", group(client, 1, replica(client, 2), metadata=b"mine"))
    write(client, "INSERT", session(client, 1, replica(client, 2)))
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    assert read(client, group(client, 0)) == read(client, session(client, 0)) == []
    assert nodes(switch) == 0
    write(client, "INSERT", group(client, 1))
    assert read(client, group(client, 1)) == [group(client, 1)]
