"""Handles of entries, by which they are read instead of by their keys."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from .client import ALL_PIPES, CallError, Client
from .test_filters import LPF

NOT_FOUND = grpc.StatusCode.NOT_FOUND.value[0]
INVALID = grpc.StatusCode.INVALID_ARGUMENT.value[0]
UNIMPLEMENTED = grpc.StatusCode.UNIMPLEMENTED.value[0]

MAC = 0x0A0000000001


def to(mac: int) -> dict[str, Any]:
    return {"hdr.ethernet.dst_addr": mac}


def handle_of(client: Client, table: str, key: dict[str, Any] | None, pipe: int = ALL_PIPES) -> int:
    question = client.proto.Entity()
    entry = client.entry(table, key)
    question.handle.table_id = entry.table_id
    if key is not None:
        question.handle.key.CopyFrom(entry.key)
    (answer,) = client.read_entities([question], pipe=pipe).entities
    assert answer.handle.table_id == entry.table_id
    assert not answer.handle.HasField("key")
    handle: int = answer.handle.handle_id
    return handle


def codes_of(failing: Any, *arguments: Any, **named: Any) -> list[int]:
    with pytest.raises(CallError) as failed:
        failing(*arguments, **named)
    return failed.value.codes()


def test_an_entry_is_read_by_its_handle(client: Client) -> None:
    for place in range(3):
        client.insert("forward", to(MAC + place), "send", {"port": place})
    handles = [handle_of(client, "forward", to(MAC + place)) for place in range(3)]
    assert len(set(handles)) == 3
    for place in (2, 0, 1):
        (entry,) = client.read("forward", handle_id=handles[place])
        assert (entry.key, entry.action) == (to(MAC + place), "Ingress.send")
        assert entry.data["port"] == place


def test_a_handle_is_an_entrys_as_long_as_it_is_there(client: Client) -> None:
    for place in range(3):
        client.insert("forward", to(MAC + place), "send", {"port": place})
    handle = handle_of(client, "forward", to(MAC + 2))
    client.delete("forward", to(MAC))
    client.insert("forward", to(MAC + 3), "discard")
    client.modify("forward", to(MAC + 2), "send", {"port": 9})
    assert handle_of(client, "forward", to(MAC + 2)) == handle
    (entry,) = client.read("forward", handle_id=handle)
    assert (entry.key, entry.data["port"]) == (to(MAC + 2), 9)
    client.delete("forward", to(MAC + 2))
    assert codes_of(client.read, "forward", handle_id=handle) == [NOT_FOUND]
    assert codes_of(handle_of, client, "forward", to(MAC + 2)) == [NOT_FOUND]


def test_of_an_entry_by_handle_the_key_and_where_it_is_may_be_asked(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    question = client.entry("forward", handle_id=handle_of(client, "forward", to(MAC)))
    question.table_flags.key_only = True
    answer = client.read_entities([client.proto.Entity(table_entry=question)])
    (entity,) = answer.entities
    assert client.plain(entity.table_entry).key == to(MAC)
    assert not entity.table_entry.HasField("data")
    assert entity.table_entry.entry_tgt.pipe_id == ALL_PIPES


def test_reads_by_key_and_by_handle_are_answered_in_their_order(client: Client) -> None:
    for place in range(3):
        client.insert("forward", to(MAC + place), "send", {"port": place})
    questions = [
        client.entry("forward", handle_id=handle_of(client, "forward", to(MAC + 2))),
        client.entry("forward", to(MAC + 1)),
        client.entry("forward", handle_id=handle_of(client, "forward", to(MAC))),
    ]
    entities = [client.proto.Entity(table_entry=question) for question in questions]
    answer = client.read_entities(entities)
    read = [client.plain(entity.table_entry).data["port"] for entity in answer.entities]
    assert read == [2, 1, 0]


@pytest.mark.parametrize("handle", [0, 77, 0xFFFFFFFF])
def test_a_handle_that_no_entry_has_is_not_found(client: Client, handle: int) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    assert codes_of(client.read, "forward", handle_id=handle) == [NOT_FOUND]


def test_the_default_entry_has_handle_1(client: Client) -> None:
    """The SDE's examples tna_ternary_match and tna_proxy_hash ask for it by that."""
    client.insert("prefixes", {"dst_addr": {"value": MAC, "prefix_len": 48}}, "mark", {"value": 3})
    (entry,) = client.read("prefixes", handle_id=1)
    assert (entry.key, entry.action) == ({}, "NoAction")
    assert codes_of(client.read, "unwanted", handle_id=1) == [NOT_FOUND]  # it has none


@pytest.mark.parametrize(
    ("table", "key", "action", "data"),
    [
        ("ranges", {
            "ether_type": {"low": 1, "high": 5}, "src_addr": {"value": 2, "mask": 6},
            "$MATCH_PRIORITY": 4,
        }, "mark", {"value": 9}),
        ("prefixes", {"dst_addr": {"value": 0x0A0000000000, "prefix_len": 8}}, "mark",
         {"value": 8}),
        ("members", {"$ACTION_MEMBER_ID": 6}, "paint", {"colour": 7}),
        ("groups", {"$SELECTOR_GROUP_ID": 3}, None,
         {"$ACTION_MEMBER_ID": [], "$ACTION_MEMBER_STATUS": [], "$MAX_GROUP_SIZE": 2}),
        ("unwanted", {"f1": {"value": 8, "mask": 0xFF}}, None, {}),
        ("$PORT_METADATA", {"ig_intr_md.ingress_port": 5}, None, {"room": 1, "is_muted": 1}),
        ("seen", {"$COUNTER_INDEX": 5}, None,
         {"$COUNTER_SPEC_PKTS": 10, "$COUNTER_SPEC_BYTES": 640}),
        ("pace", {"$METER_INDEX": 3}, None, {
            "$METER_SPEC_CIR_PPS": 1, "$METER_SPEC_PIR_PPS": 2, "$METER_SPEC_CBS_PKTS": 3,
            "$METER_SPEC_PBS_PKTS": 4,
        }),
        ("smooth", {"$LPF_INDEX": 7}, None, LPF),
    ],
)  # fmt: skip
def test_entries_of_every_kind_have_handles(
    client: Client,
    table: str,
    key: dict[str, Any],
    action: str | None,
    data: dict[str, Any],
) -> None:
    client.insert(table, key, action, data)
    (by_handle,) = client.read(table, handle_id=handle_of(client, table, key))
    assert list(by_handle.key.values()) == list(key.values())
    assert data.items() <= by_handle.data.items()
    client.delete(table)


def test_the_handle_of_a_cell_is_its_index(client: Client) -> None:
    """As an SDE's of registers, counters, meters and filters."""
    client.insert("hits", {"$REGISTER_INDEX": 200}, None, {"f1": 41})
    assert handle_of(client, "hits", {"$REGISTER_INDEX": 200}) == 200
    (cell,) = client.read("hits", handle_id=200)
    assert (cell.key, cell.data["Ingress.hits.f1"][0]) == ({"$REGISTER_INDEX": 200}, 41)
    assert codes_of(client.read, "hits", handle_id=256) == [INVALID]
    client.delete("hits")


def test_a_handle_is_asked_for_by_key(client: Client) -> None:
    assert codes_of(handle_of, client, "forward", None) == [INVALID]
    question = client.proto.Entity()
    question.handle.table_id = client.table("forward")["id"]
    question.handle.handle_id = 2
    assert codes_of(client.read_entities, [question]) == [INVALID]
    question.handle.table_id = 999
    question.handle.key.SetInParent()
    assert codes_of(client.read_entities, [question]) == [NOT_FOUND]


def test_entries_of_the_switchs_own_tables_have_no_handles(client: Client) -> None:
    """Nor do they in an SDE."""
    for table, key in (("$PORT", {"$DEV_PORT": 1}), ("$mirror.cfg", {"$sid": 1})):
        assert codes_of(handle_of, client, table, key) == [UNIMPLEMENTED]
        assert codes_of(client.read, table, handle_id=1) == [UNIMPLEMENTED]


@pytest.mark.parametrize("kind", ["INSERT", "MODIFY", "DELETE"])
def test_entries_are_not_written_by_handle(client: Client, kind: str) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    handle = handle_of(client, "forward", to(MAC))
    update = client.update(kind, client.entry("forward", None, "send", {}, handle_id=handle))
    with pytest.raises(CallError) as failed:
        client.write_updates([update])
    ((code, text),) = failed.value.details
    assert code == UNIMPLEMENTED
    assert "an entry is written by its key" in text
    assert [entry.data["port"] for entry in client.read("forward", to(MAC))] == [2]
