"""Match-action tables: entries, batches, default entries, direct counters."""

from __future__ import annotations

from typing import Any

import grpc
import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client

EXISTS = grpc.StatusCode.ALREADY_EXISTS.value[0]
NOT_FOUND = grpc.StatusCode.NOT_FOUND.value[0]
INVALID = grpc.StatusCode.INVALID_ARGUMENT.value[0]
FULL = grpc.StatusCode.RESOURCE_EXHAUSTED.value[0]
UNIMPLEMENTED = grpc.StatusCode.UNIMPLEMENTED.value[0]

MAC = 0x0A0000000001
FRAME = MAC.to_bytes(6, "big") + bytes.fromhex("0b0000000002 88b5") + bytes(46)


def to(mac: int) -> dict[str, Any]:
    return {"hdr.ethernet.dst_addr": mac}


def failing(client: Client, *updates: Any, **options: Any) -> CallError:
    with pytest.raises(CallError) as failed:
        client.write_updates(list(updates), **options)
    assert failed.value.code == grpc.StatusCode.UNKNOWN
    assert failed.value.message == "Write Error Status"
    return failed.value


def insertion(client: Client, mac: int, port: int) -> Any:
    entry = client.entry("forward", to(mac), "send", {"port": port})
    return client.update("INSERT", entry)


def macs(client: Client) -> list[int]:
    entries = client.read("forward")
    return sorted(e.key["hdr.ethernet.dst_addr"] for e in entries if not e.is_default)


def test_packets_go_where_an_entry_says(client: Client, switch: SoftswitchTarget) -> None:
    assert switch.send(1, FRAME) == []
    client.insert("forward", to(MAC), "send", {"port": 2})
    assert switch.send(1, FRAME) == [(2, FRAME)]
    client.modify("forward", to(MAC), "send", {"port": 3})
    assert switch.send(1, FRAME) == [(3, FRAME)]
    client.delete("forward", to(MAC))
    assert switch.send(1, FRAME) == []


def test_an_entry_is_not_read_as_one_of_another_action(client: Client) -> None:
    """As an SDE does: its example tna_ternary_match expects an error."""
    client.insert("forward", to(MAC), "send", {"port": 2})
    for action, code in (("send", None), ("discard", INVALID)):
        question = client.proto.Entity(table_entry=client.entry("forward", to(MAC), action))
        if code is None:
            assert len(client.read_entities([question]).entities) == 1
            continue
        with pytest.raises(CallError) as failed:
            client.read_entities([question])
        ((found, text),) = failed.value.details
        assert found == code
        assert "the entry has the action Ingress.send, not the one asked for" in text


def test_all_entries_of_one_action_are_read(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.insert("forward", to(MAC + 1), "discard")
    client.insert("forward", to(MAC + 2), "send", {"port": 3})
    question = client.entry("forward", None, "send")
    answer = client.read_entities([client.proto.Entity(table_entry=question)])
    found = [client.plain(entity.table_entry) for entity in answer.entities]
    assert [(each.action, each.data["port"], each.is_default) for each in found] == [
        ("Ingress.send", 2, False),
        ("Ingress.send", 3, False),
    ]


@pytest.mark.parametrize("kind", ["INSERT", "INSERT_OR_MODIFY", "MODIFY"])
def test_parameters_that_are_left_out_are_zero(client: Client, kind: str) -> None:
    """As an SDE does: it looks at what it is given, whatever the schema calls mandatory."""
    if kind == "MODIFY":
        client.insert("forward", to(MAC), "send", {"port": 2})
    client.write_updates([client.update(kind, client.entry("forward", to(MAC), "send", {}))])
    (entry,) = client.read("forward", to(MAC))
    assert (entry.action, entry.data["port"]) == ("Ingress.send", 0)


def test_a_default_action_whose_parameters_are_left_out_has_zeros(client: Client) -> None:
    default = client.entry("forward", None, "send", {}, is_default_entry=True)
    client.write_updates([client.update("MODIFY", default)])
    (entry,) = [each for each in client.read("forward") if each.is_default]
    assert (entry.action, entry.data["port"]) == ("Ingress.send", 0)
    client.delete("forward")


def test_an_entry_reads_back(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": 300})
    (entry,) = client.read("forward", to(MAC))
    assert (entry.key, entry.action) == (to(MAC), "Ingress.send")
    assert entry.data["port"] == 300
    assert not entry.is_default


def test_all_entries_come_with_the_default_entry_behind(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": 1})
    entries = client.read("forward")
    assert [entry.is_default for entry in entries] == [False, True]
    assert entries[1].action == "Ingress.discard"


def test_inserting_twice_modifying_and_deleting_nothing_fail(client: Client) -> None:
    one = insertion(client, MAC, 1)
    client.write_updates([one])
    assert failing(client, one).codes() == [EXISTS]
    entry = client.entry("forward", to(9), "send", {"port": 1})
    modified = failing(client, client.update("MODIFY", entry))
    assert modified.codes() == [NOT_FOUND]
    gone = client.update("DELETE", client.entry("forward", to(9)))
    assert failing(client, gone).codes() == [NOT_FOUND]


def test_the_text_of_an_error_names_the_table_and_ends_as_a_drivers_does(client: Client) -> None:
    one = insertion(client, MAC, 1)
    client.write_updates([one])
    ((_, text),) = failing(client, one).details
    assert text.startswith("Table Add failed table:pipe.Ingress.forward")
    assert text.endswith(" Already exists")


def test_insert_or_modify_does_either_and_says_which(client: Client) -> None:
    entry = client.entry("forward", to(MAC), "send", {"port": 1})
    assert list(client.write_updates([client.update("INSERT_OR_MODIFY", entry)]).status) == []
    entry = client.entry("forward", to(MAC), "send", {"port": 2})
    (status,) = client.write_updates([client.update("INSERT_OR_MODIFY", entry)]).status
    assert (status.canonical_code, status.code) == (0, EXISTS)
    assert client.read("forward", to(MAC))[0].data["port"] == 2


def test_a_batch_goes_on_after_errors(client: Client) -> None:
    client.write_updates([insertion(client, 1, 1)])
    failed = failing(
        client, insertion(client, 2, 1), insertion(client, 1, 1), insertion(client, 3, 1)
    )
    # One detail for each update up to the last that failed.
    assert failed.codes() == [0, EXISTS]
    assert macs(client) == [1, 2, 3]


@pytest.mark.parametrize("atomicity", ["ROLLBACK_ON_ERROR", "DATAPLANE_ATOMIC"])
def test_a_batch_is_all_or_nothing_if_it_should(client: Client, atomicity: str) -> None:
    client.write_updates([insertion(client, 1, 1)])
    batch = [insertion(client, 2, 1), insertion(client, 1, 1), insertion(client, 3, 1)]
    failed = failing(client, *batch, atomicity=atomicity)
    assert failed.codes() == [0, EXISTS]
    assert macs(client) == [1]
    client.write_updates([batch[0], batch[2]], atomicity)
    assert macs(client) == [1, 2, 3]


def test_a_batch_that_cannot_be_all_or_nothing_is_refused(client: Client) -> None:
    register = client.update("INSERT", client.entry("hits", {"$REGISTER_INDEX": 1}, data={"f1": 1}))
    with pytest.raises(CallError) as refused:
        client.write_updates([insertion(client, 1, 1), register], "ROLLBACK_ON_ERROR")
    assert refused.value.code == grpc.StatusCode.UNIMPLEMENTED
    assert macs(client) == []


def test_ten_thousand_errors_are_all_told(client: Client) -> None:
    batch = [insertion(client, mac, 1) for mac in range(10_000)]
    client.write_updates(batch)
    assert failing(client, *batch).codes() == [EXISTS] * 10_000
    assert client.usage("forward") == 10_000


def test_errors_come_in_the_response_if_asked_for(client: Client) -> None:
    client.metadata = [("error_in_resp", "1"), ("ignore_not_found", "1")]
    gone = client.update("DELETE", client.entry("forward", to(9)))
    there = insertion(client, MAC, 1)
    status = client.write_updates([there, gone]).status
    assert [(each.canonical_code, each.code) for each in status] == [(0, 0), (0, NOT_FOUND)]


def test_a_deadline_in_the_past_stops_the_call(client: Client) -> None:
    client.metadata = [("deadline_nsec", "0")]
    with pytest.raises(CallError) as refused:
        client.write_updates([insertion(client, 1, 1)])
    assert refused.value.code == grpc.StatusCode.DEADLINE_EXCEEDED


def test_the_default_entry_is_modified_and_reset(client: Client, switch: SoftswitchTarget) -> None:
    client.modify("forward", None, "send", {"port": 3}, is_default_entry=True)
    assert switch.send(1, FRAME) == [(3, FRAME)]
    (entry,) = client.read("forward", is_default_entry=True)
    assert (entry.is_default, entry.action, entry.data["port"]) == (True, "Ingress.send", 3)
    client.delete("forward", is_default_entry=True)
    assert switch.send(1, FRAME) == []


def test_a_default_entry_is_not_inserted(client: Client) -> None:
    entry = client.entry("forward", None, "send", {"port": 3}, is_default_entry=True)
    failed = failing(client, client.update("INSERT", entry))
    assert failed.codes() == [UNIMPLEMENTED]
    assert "Please use MODIFY instead" in failed.details[0][1]


def test_deleting_without_a_key_clears_the_table_and_its_default_entry(client: Client) -> None:
    client.write_updates([insertion(client, mac, 1) for mac in (1, 2)])
    client.modify("forward", None, "send", {"port": 3}, is_default_entry=True)
    client.delete("forward")
    (default,) = client.read("forward")
    assert default.is_default
    assert default.action == "Ingress.discard"


def test_prefixes_and_their_lengths_read_back(client: Client) -> None:
    key = to(0) | {"hdr.ethernet.dst_addr": {"value": 0x0A0000000000, "prefix_len": 8}}
    client.insert("prefixes", key, "mark", {"value": 7})
    entry = next(e for e in client.read("prefixes") if not e.is_default)
    assert entry.key == key
    assert entry.data == {"value": 7}


def ranged(low: int, high: int, priority: int) -> dict[str, Any]:
    return {
        "hdr.ethernet.ether_type": {"low": low, "high": high},
        "hdr.ethernet.src_addr": {"value": 0, "mask": 0},
        "$MATCH_PRIORITY": priority,
    }


def test_the_lowest_priority_wins(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.insert("ranges", ranged(0x8000, 0x9000, 5), "mark", {"value": 5})
    client.insert("ranges", ranged(0x88B5, 0x88B5, 4), "mark", {"value": 4})
    assert switch.send(1, FRAME)[0][1][11] == 4
    assert len(client.read("ranges", ranged(0x8000, 0x9000, 5))) == 1


def test_a_full_table_says_so(client: Client) -> None:
    batch = [
        client.update("INSERT", client.entry("ranges", ranged(low, low, 1), "mark", {"value": 1}))
        for low in range(5)
    ]
    assert failing(client, *batch).codes() == [0, 0, 0, 0, FULL]


def test_constant_entries_are_not_changed(client: Client) -> None:
    key = {"hdr.ethernet.ether_type": 1}
    entry = client.entry("constants", key, "mark", {"value": 1})
    assert failing(client, client.update("INSERT", entry)).codes() == [INVALID]


def test_a_constant_default_entry_is_reset_but_not_set(client: Client) -> None:
    entry = client.entry("ranges", None, "mark", {"value": 1}, is_default_entry=True)
    assert failing(client, client.update("MODIFY", entry)).codes() == [INVALID]
    for kind in ("RESET", "DELETE"):
        client.write_updates([client.update(kind, client.entry("ranges", is_default_entry=True))])


def counters(client: Client, **how: Any) -> tuple[int, int]:
    data = client.read("forward", to(MAC), **how)[0].data
    return data["$COUNTER_SPEC_PKTS"], data["$COUNTER_SPEC_BYTES"]


def test_direct_counters_are_read_from_hardware_or_from_the_copy(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    switch.send(1, FRAME)
    assert counters(client, from_hw=False) == (0, 0)
    assert counters(client)[0] == 1
    assert counters(client, from_hw=False)[0] == 1
    switch.send(1, FRAME)
    assert counters(client, from_hw=False)[0] == 1
    client.operate("forward", "SyncCounters")
    assert counters(client, from_hw=False)[0] == 2


def test_direct_counters_are_kept_written_and_reset(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    switch.send(1, FRAME)
    client.modify("forward", to(MAC), "send", {"port": 3})
    assert counters(client)[0] == 1
    client.modify("forward", to(MAC), data={"$COUNTER_SPEC_PKTS": 0, "$COUNTER_SPEC_BYTES": 0})
    assert counters(client) == (0, 0)
    assert client.read("forward", to(MAC))[0].data["port"] == 3
    switch.send(1, FRAME)
    flags = client.proto.TableFlags(reset_stats=True)
    client.modify("forward", to(MAC), "send", {"port": 2}, table_flags=flags)
    assert counters(client) == (0, 0)


def test_written_counters_are_in_the_copy(client: Client, switch: SoftswitchTarget) -> None:
    ours = {"$COUNTER_SPEC_PKTS": 20, "$COUNTER_SPEC_BYTES": 4000}
    client.insert("forward", to(MAC), "send", {"port": 2} | ours)
    assert counters(client, from_hw=False) == (20, 4000)
    switch.send(1, FRAME)
    assert counters(client) == (21, 4000 + len(FRAME) + 4)  # and the check sequence
    client.modify("forward", to(MAC), data=ours)
    assert counters(client, from_hw=False) == (20, 4000)


def test_what_a_modification_leaves_out_of_an_action_is_zero(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.modify("forward", to(MAC), "send", {"$COUNTER_SPEC_PKTS": 5})
    data = client.read("forward", to(MAC))[0].data
    assert (data["port"], data["$COUNTER_SPEC_PKTS"]) == (0, 5)


def test_keys_alone_are_read(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    entry = client.entry("forward", to(MAC), table_flags=client.proto.TableFlags(key_only=True))
    answer = client.read_entities([client.proto.Entity(table_entry=entry)])
    assert answer.entities[0].table_entry.HasField("key")
    assert not answer.entities[0].table_entry.HasField("data")


def test_what_is_there_is_read_beside_what_is_not(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    entities = [
        client.proto.Entity(table_entry=client.entry("forward", to(mac))) for mac in (MAC, 9, MAC)
    ]
    with pytest.raises(CallError) as failed:
        client.read_entities(entities)
    assert failed.value.message == "Read Error Status"
    assert failed.value.codes() == [0, NOT_FOUND]
    client.metadata = [("error_in_resp", "1")]
    answer = client.read_entities(entities)
    assert len(answer.entities) == 2
    assert [each.canonical_code for each in answer.status] == [0, NOT_FOUND, 0]


def test_names_are_looked_up(client: Client) -> None:
    table = client.table("forward")
    question = client.proto.ObjectId()
    question.table_object.table_name = "pipe.Ingress.forward"
    question.table_object.data_field_name.action = "Ingress.send"
    question.table_object.data_field_name.field = "port"
    answer = client.read_entities([client.proto.Entity(object_id=question)])
    send = next(a for a in table["action_specs"] if a["name"] == "Ingress.send")
    assert answer.entities[0].object_id.id == send["data"][0]["id"]


@pytest.mark.parametrize(
    ("change", "code"),
    [
        (lambda e: setattr(e, "table_id", 12345), NOT_FOUND),
        (lambda e: setattr(e.data, "action_id", 99), NOT_FOUND),
        (lambda e: setattr(e.data, "action_id", 0), NOT_FOUND),
        (lambda e: setattr(e.data.fields[0], "field_id", 99), NOT_FOUND),
        (lambda e: e.data.fields.append(e.data.fields[0]), INVALID),
        (lambda e: setattr(e.data.fields[0], "stream", b"\x01"), INVALID),
        (lambda e: setattr(e.data.fields[0], "stream", b"\xff\xff"), INVALID),
        (lambda e: setattr(e.data.fields[0], "stream", bytes(1 << 20)), INVALID),
        (lambda e: setattr(e.data.fields[0], "bool_val", True), INVALID),
        (lambda e: setattr(e.key.fields[0], "field_id", 99), NOT_FOUND),
        (lambda e: setattr(e.key.fields[0].exact, "value", b"\x01" * 7), INVALID),
        (lambda e: setattr(e.key.fields[0].exact, "value", b""), INVALID),
        (lambda e: setattr(e.key.fields[0].lpm, "prefix_len", 8), INVALID),
        (lambda e: e.key.fields.pop(), INVALID),
        (lambda e: e.key.fields.append(e.key.fields[0]), INVALID),
        (lambda e: e.ClearField("key"), INVALID),
        (lambda e: e.ClearField("data"), INVALID),
        (lambda e: setattr(e, "handle_id", 5), UNIMPLEMENTED),
    ],
)
def test_a_wrong_entry_is_refused_and_others_of_its_batch_are_not(
    client: Client, change: Any, code: int
) -> None:
    entry = client.entry("forward", to(MAC), "send", {"port": 1})
    change(entry)
    failed = failing(client, client.update("INSERT", entry), insertion(client, 2, 1))
    assert failed.codes() == [code]
    assert macs(client) == [2]


def test_an_unspecified_update_and_an_empty_one_are_refused(client: Client) -> None:
    entry = client.entry("forward", to(MAC), "send", {"port": 1})
    empty = client.proto.Update(type="INSERT")
    failed = failing(client, client.update("UNSPECIFIED", entry), empty)
    assert failed.codes() == [INVALID, UNIMPLEMENTED]


def test_incremental_changes_of_an_entry_do_not_exist(client: Client) -> None:
    entry = client.entry("forward", to(MAC), "send", {"port": 1})
    assert failing(client, client.update("MODIFY_INC", entry)).codes() == [UNIMPLEMENTED]


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("dyn_key_mask", "softswitch"),
        ("dyn_hashing", "NAME.algorithm"),
        ("selector_update_notify", "nobody is told"),
    ],
)
def test_attributes_without_a_meaning_here_are_unimplemented(
    client: Client, name: str, reason: str
) -> None:
    update = client.proto.Update(type="INSERT")
    attribute = update.entity.table_attribute
    attribute.table_id = client.table("forward")["id"]
    getattr(attribute, name).SetInParent()
    failed = failing(client, update)
    assert failed.codes() == [UNIMPLEMENTED]
    assert reason in failed.details[0][1]


# --- The metadata of ports


def of_port(port: int) -> dict[str, Any]:
    return {"ig_intr_md.ingress_port": port}


def test_packets_find_what_their_port_has(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.insert("$PORT_METADATA", of_port(1), None, {"room": 7, "is_muted": 1})
    assert (switch.send(1, FRAME), switch.send(3, FRAME)) == ([], [(2, FRAME)])
    (entry,) = client.read("$PORT_METADATA", of_port(1))
    assert (entry.action, entry.data) == (None, {"room": 7, "is_muted": 1})
    client.modify("$PORT_METADATA", of_port(1), None, {"room": 8})
    assert switch.send(1, FRAME) == [(2, FRAME)]  # what a modification leaves out is zero
    client.delete("$PORT_METADATA")
    assert client.read("$PORT_METADATA") == []


def test_metadata_are_read_in_the_order_of_ports(client: Client) -> None:
    for port in (6, 1, 300, 2):
        client.insert("$PORT_METADATA", of_port(port), None, {"room": port % 8})
    read = [entry.key for entry in client.read("$PORT_METADATA")]
    assert read == [of_port(port) for port in (1, 2, 6, 300)]
    client.delete("$PORT_METADATA")


def test_data_of_a_port_that_are_left_out_are_zero(client: Client) -> None:
    client.insert("$PORT_METADATA", of_port(1), None, {"room": 7})
    (entry,) = client.read("$PORT_METADATA", of_port(1))
    assert entry.data == {"room": 7, "is_muted": 0}
    client.delete("$PORT_METADATA")


# --- A parser's value set


def value(number: int, mask: int = 0xFFFF) -> dict[str, Any]:
    return {"f1": {"value": number, "mask": mask}}


def values(client: Client) -> list[int]:
    entries = client.read("unwanted")
    assert all(entry.action is None and entry.data == {} for entry in entries)
    return sorted(entry.key["f1"]["value"] for entry in entries)


def test_packets_match_the_values_of_a_set(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    assert switch.send(1, FRAME) == [(2, FRAME)]
    client.insert("unwanted", value(0x88B5))
    assert switch.send(1, FRAME) == []
    client.delete("unwanted", value(0x88B5))
    assert switch.send(1, FRAME) == [(2, FRAME)]


def test_a_value_set_has_keys_alone(client: Client) -> None:
    assert values(client) == []
    for number in (1, 2, 3, 4):
        client.insert("unwanted", value(number))
    assert values(client) == [1, 2, 3, 4]
    assert client.usage("unwanted") == 4
    insertion = client.update("INSERT", client.entry("unwanted", value(5)))
    assert failing(client, insertion).codes() == [FULL]
    again = client.update("INSERT", client.entry("unwanted", value(1)))
    assert failing(client, again).codes() == [EXISTS]
    default = client.update("MODIFY", client.entry("unwanted", is_default_entry=True))
    assert failing(client, default).codes() == [UNIMPLEMENTED]
    client.delete("unwanted")
    assert values(client) == []


# --- Action profiles and selectors


def member(client: Client, number: int, colour: int, kind: str = "INSERT") -> Any:
    key = {"$ACTION_MEMBER_ID": number}
    return client.update(kind, client.entry("members", key, "paint", {"colour": colour}))


def group(client: Client, number: int, members: dict[int, bool], kind: str = "INSERT") -> Any:
    data = {"$ACTION_MEMBER_ID": [*members], "$ACTION_MEMBER_STATUS": [*members.values()]}
    entry = client.entry("groups", {"$SELECTOR_GROUP_ID": number}, None, data)
    return client.update(kind, entry)


def naming(client: Client, kind: str = "INSERT", **data: int) -> Any:
    names = {"member": "$ACTION_MEMBER_ID", "group": "$SELECTOR_GROUP_ID"}
    fields = {names[name]: number for name, number in data.items()}
    return client.update(kind, client.entry("painted", to(MAC), None, fields))


def colour(switch: SoftswitchTarget) -> int:
    ((_, frame),) = switch.send(1, FRAME)
    return frame[6]


def test_an_entry_names_a_member_or_a_group(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.write_updates([member(client, 1, 0x11), member(client, 2, 0x22)])
    client.write_updates([naming(client, member=1)])
    assert colour(switch) == 0x11
    (entry,) = client.read("painted", to(MAC))
    assert (entry.action, entry.data) == (None, {"$ACTION_MEMBER_ID": 1})
    client.write_updates([group(client, 5, {1: False, 2: True})])
    client.write_updates([naming(client, "MODIFY", group=5)])
    assert colour(switch) == 0x22
    (entry,) = client.read("painted", to(MAC))
    assert entry.data == {"$SELECTOR_GROUP_ID": 5}
    client.write_updates([group(client, 5, {1: True, 2: False}, "MODIFY")])
    assert colour(switch) == 0x11
    (entry,) = client.read("groups", {"$SELECTOR_GROUP_ID": 5})
    assert entry.data == {
        "$ACTION_MEMBER_ID": [1, 2], "$ACTION_MEMBER_STATUS": [True, False], "$MAX_GROUP_SIZE": 4,
        "$ADT_OFFSET": 0xDEADBEEF,
    }  # fmt: skip
    assert [client.usage(table) for table in ("painted", "members", "groups")] == [1, 2, 1]


def test_members_and_groups_in_use_are_not_removed(client: Client) -> None:
    client.write_updates([member(client, 1, 1), group(client, 5, {1: True})])
    client.write_updates([naming(client, group=5)])
    for table, key in (
        ("members", {"$ACTION_MEMBER_ID": 1}),
        ("groups", {"$SELECTOR_GROUP_ID": 5}),
    ):
        deletion = client.update("DELETE", client.entry(table, key))
        refused = failing(client, deletion)
        assert refused.codes() == [EXISTS]
        assert refused.details[0][1].endswith("being referenced by match entries")
    other = client.entry("painted", to(MAC + 1), None, {"$ACTION_MEMBER_ID": 9})
    assert failing(client, client.update("INSERT", other)).codes() == [NOT_FOUND]
    client.delete("painted")
    client.delete("groups")
    client.delete("members")
    assert client.read("members") == []


def test_many_are_deleted_in_one_write(client: Client) -> None:
    many = range(8)  # so many entries of other tables become columns

    def deleting(table: str, key: str, first: int = 0) -> list[Any]:
        entries = [client.entry(table, {key: first + number}) for number in many]
        return [client.update("DELETE", entry) for entry in entries]

    client.write_updates([member(client, number, number) for number in many])
    client.write_updates([group(client, number, {number: True}) for number in range(4)])
    for number in many:
        data = {"$ACTION_MEMBER_ID": number}
        client.insert("painted", to(MAC + number), None, data)
    client.write_updates(deleting("painted", "hdr.ethernet.dst_addr", MAC))
    absent = failing(client, *deleting("groups", "$SELECTOR_GROUP_ID"))
    assert absent.codes() == [0] * 4 + [NOT_FOUND] * 4
    client.write_updates(deleting("members", "$ACTION_MEMBER_ID"))
    assert [client.usage(table) for table in ("painted", "members", "groups")] == [0, 0, 0]


def by_default(client: Client, kind: str, **data: int) -> Any:
    update = naming(client, kind, **data)
    update.entity.table_entry.ClearField("key")
    update.entity.table_entry.is_default_entry = True
    return update


def test_the_default_entry_names_a_member(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.write_updates([member(client, 1, 0x11), member(client, 2, 0x22)])
    own = colour(switch)
    client.write_updates([by_default(client, "MODIFY", member=1)])
    assert colour(switch) == 0x11
    client.write_updates([member(client, 1, 0x33, "MODIFY")])
    assert colour(switch) == 0x33
    (entry,) = client.read("painted", is_default_entry=True)
    assert (entry.is_default, entry.data) == (True, {"$ACTION_MEMBER_ID": 1})
    assert client.read("painted") == []  # of entries alone
    client.write_updates([naming(client, member=2)])
    assert colour(switch) == 0x22
    used = client.update("DELETE", client.entry("members", {"$ACTION_MEMBER_ID": 1}))
    assert failing(client, used).codes() == [EXISTS]
    client.delete("painted")  # brings the program's own back, too
    assert colour(switch) == own
    client.write_updates([used])


def test_what_the_default_entry_beside_a_profile_cannot_be(client: Client) -> None:
    client.write_updates([member(client, 1, 0x11), group(client, 5, {1: True})])
    assert failing(client, by_default(client, "MODIFY", member=9)).codes() == [NOT_FOUND]
    refused = failing(client, by_default(client, "MODIFY", group=5))
    assert refused.codes() == [INVALID]
    assert "the default entry cannot name a group; name a member" in refused.details[0][1]


def test_a_default_entry_that_names_no_member_is_read_as_an_sde_reads_it(client: Client) -> None:
    client.write_updates([member(client, 1, 0x11)])
    (entry,) = client.read("painted", is_default_entry=True)
    assert (entry.is_default, entry.action) == (True, None)
    assert entry.data == {"$ACTION_MEMBER_ID": 0}
