"""Value sets. Rules and codes: P4Runtime 1.4, "ValueSetEntry"."""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client, code
from .test_tables import forward, frame, refused

IPV4 = b"\x08\x00"


def unwanted(client: Client, *values: bytes) -> Any:
    entry = client.proto.ValueSetEntry(value_set_id=client.id_of("value_sets", "unwanted"))
    for value in values:
        entry.members.add().match.add(field_id=1).exact.value = value
    return entry


def read(client: Client, wanted: Any) -> list[Any]:
    found = client.read(client.proto.Entity(value_set_entry=wanted))
    return [each.value_set_entry for each in found]


def members(client: Client) -> list[bytes]:
    (entry,) = read(client, unwanted(client))
    return sorted(match.exact.value for member in entry.members for match in member.match)


def write(client: Client, entry: Any) -> None:
    client.write(client.update("MODIFY", value_set_entry=entry))


def code_of(client: Client, entry: Any, kind: str = "MODIFY") -> int:
    return refused(client, client.update(kind, value_set_entry=entry))


def test_packets_match_the_members(client: Client, switch: SoftswitchTarget) -> None:
    """The program drops what matches."""
    client.write(client.update("INSERT", table_entry=forward(client)))
    assert len(switch.send(1, frame())) == 1
    write(client, unwanted(client, b"\x01", IPV4))
    assert switch.send(1, frame()) == []
    write(client, unwanted(client, b"\x02"))
    assert len(switch.send(1, frame())) == 1
    write(client, unwanted(client, IPV4))
    write(client, unwanted(client))
    assert len(switch.send(1, frame())) == 1


def test_what_is_read_is_what_was_written(client: Client) -> None:
    assert read(client, unwanted(client)) == [unwanted(client)]
    written = [b"\x01", b"\x02", IPV4, b"\xff\xff"]
    write(client, unwanted(client, *written))
    assert members(client) == written
    write(client, unwanted(client, b"\x02"))
    for wanted in (unwanted(client), client.proto.ValueSetEntry()):  # the latter is all sets
        assert read(client, wanted) == [unwanted(client, b"\x02")]


def test_wrong_value_sets_are_refused(client: Client) -> None:
    write(client, unwanted(client, b"\x01"))
    for kind in ("INSERT", "DELETE", "UNSPECIFIED"):
        assert code_of(client, unwanted(client, b"\x02"), kind) == code("INVALID_ARGUMENT")
    full = unwanted(client, b"\x01", b"\x02", b"\x03", b"\x04", b"\x05")
    assert code_of(client, full) == code("RESOURCE_EXHAUSTED")
    twice = unwanted(client, b"\x02", b"\x00\x02")
    assert code_of(client, twice) == code("ALREADY_EXISTS")
    assert code_of(client, unwanted(client, b"\x01\x00\x00")) == code("OUT_OF_RANGE")
    assert code_of(client, client.proto.ValueSetEntry(value_set_id=1)) == code("NOT_FOUND")
    assert members(client) == [b"\x01"]


def test_members_have_all_fields_once(client: Client) -> None:
    missing, unknown, doubled, ternary = (unwanted(client) for _ in range(4))
    missing.members.add()
    unknown.members.add().match.add(field_id=2).exact.value = b"\x01"
    member = doubled.members.add()
    member.match.add(field_id=1).exact.value = b"\x01"
    member.match.add(field_id=1).exact.value = b"\x02"
    masked = ternary.members.add().match.add(field_id=1).ternary
    masked.value, masked.mask = b"\x01", b"\x01"
    for entry in (missing, unknown, doubled, ternary):
        assert code_of(client, entry) == code("INVALID_ARGUMENT")


def test_an_unknown_value_set_is_not_found(client: Client) -> None:
    with pytest.raises(CallError) as failed:
        read(client, client.proto.ValueSetEntry(value_set_id=1))
    assert failed.value.codes() == [code("NOT_FOUND")]


def test_masks_of_another_control_plane_are_told(client: Client, switch: SoftswitchTarget) -> None:
    """Whose protocol has masks there."""
    key = {"f1": {"value": 0x0800, "mask": 0xFF00}}
    switch.command("table_write", updates=[{"op": "insert", "table": "unwanted", "key": key}])
    (entry,) = read(client, unwanted(client))
    ((match,),) = (member.match for member in entry.members)
    assert (match.ternary.value, match.ternary.mask) == (b"\x08\x00", b"\xff\x00")


def test_a_new_pipeline_begins_with_empty_sets(client: Client) -> None:
    write(client, unwanted(client, b"\x01"))
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    assert members(client) == []
