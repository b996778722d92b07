"""Selectors: which member of a group a hash chooses, and where a chip has the group's members."""

from __future__ import annotations

import pytest
from packet.live_switch import SoftswitchTarget
from packet.reference_crc import crc16

from .client import ALL_PIPES, CallError, Client
from .test_tables import (
    EXISTS,
    FRAME,
    INVALID,
    MAC,
    NOT_FOUND,
    UNIMPLEMENTED,
    colour,
    failing,
    group,
    member,
    naming,
    to,
)

CHOICE = "groups_get_member"


def chosen(client: Client, of: int, hash_value: int, pipe: int = ALL_PIPES) -> int:
    key = {"$SELECTOR_GROUP_ID": of, "hash_value": hash_value}
    (entry,) = client.read(CHOICE, key, pipe=pipe)
    assert entry.key == key
    found: int = entry.data["$ACTION_MEMBER_ID"]
    return found


@pytest.fixture
def grouped(client: Client) -> Client:
    """A group 5 of members 1, 2 and 3 with their colours, of which 2 is not active."""
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.write_updates([member(client, number, 0x10 + number) for number in (1, 2, 3)])
    client.write_updates([group(client, 5, {1: True, 2: False, 3: True})])
    return client


def test_a_fair_selector_goes_round_its_active_members(grouped: Client) -> None:
    assert [chosen(grouped, 5, number) for number in range(5)] == [1, 3, 1, 3, 1]
    assert chosen(grouped, 5, 2**64 - 1) == 3
    grouped.write_updates([group(grouped, 5, {1: True, 2: True, 3: True}, "MODIFY")])
    assert [chosen(grouped, 5, number) for number in range(5)] == [1, 2, 3, 1, 2]


def test_a_member_that_is_there_several_times_has_as_much_weight(grouped: Client) -> None:
    """As the SDE's example tna_action_selector weighs them, and reads them back."""
    members, status = [1, 3, 3], [True, True, True]
    key = {"$SELECTOR_GROUP_ID": 6}
    data = {"$ACTION_MEMBER_ID": members, "$ACTION_MEMBER_STATUS": status}
    grouped.insert("groups", key, None, data)
    (entry,) = grouped.read("groups", key)
    assert entry.data["$ACTION_MEMBER_ID"] == members
    assert [chosen(grouped, 6, number) for number in range(6)] == members * 2
    grouped.delete("groups", key)
    deletion = grouped.update("DELETE", grouped.entry("members", {"$ACTION_MEMBER_ID": 3}))
    assert failing(grouped, deletion).codes() == [EXISTS]  # group 5 has it, too


def test_packets_go_where_their_hash_is_said_to(grouped: Client, switch: SoftswitchTarget) -> None:
    grouped.write_updates([naming(grouped, group=5)])
    seen = set()
    for kind in range(0x600, 0x610):
        field = kind.to_bytes(2, "big")
        expected = chosen(grouped, 5, crc16(field))
        ((_, frame),) = switch.send(1, FRAME[:12] + field + FRAME[14:])
        assert frame[6] == 0x10 + expected
        seen.add(expected)
    assert seen == {1, 3}
    assert colour(switch) == 0x10 + chosen(grouped, 5, crc16(FRAME[12:14]))


def test_nobody_is_chosen_where_there_is_nobody(grouped: Client) -> None:
    grouped.write_updates([group(grouped, 6, {1: False}), group(grouped, 7, {})])
    for number, text in ((6, "has no active member"), (7, "has no active member"),
                         (8, "group 8 does not exist")):  # fmt: skip
        with pytest.raises(CallError) as failed:
            chosen(grouped, number, 0)
        ((code, message),) = failed.value.details
        assert code == NOT_FOUND
        assert text in message


def test_groups_that_entries_name_have_an_active_member(
    grouped: Client, switch: SoftswitchTarget
) -> None:
    """As an SDE has it: its example tna_action_selector expects errors."""
    grouped.write_updates([group(grouped, 6, {2: False}), group(grouped, 7, {})])
    for number in (6, 7):
        refused = failing(grouped, naming(grouped, group=number))
        assert refused.codes() == [INVALID]
        assert f"group {number} has no active member" in refused.details[0][1]
    grouped.write_updates([naming(grouped, group=5)])
    for members in ({1: False, 3: False}, {}):
        refused = failing(grouped, group(grouped, 5, members, "MODIFY"))
        assert refused.codes() == [INVALID]
        assert "table pipe.Ingress.painted names it" in refused.details[0][1]
    assert colour(switch) in (0x11, 0x13)
    grouped.delete("painted")
    grouped.write_updates([group(grouped, 5, {}, "MODIFY")])


def test_the_question_needs_group_and_hash_and_is_not_written(grouped: Client) -> None:
    for key, code in (({"$SELECTOR_GROUP_ID": 5}, INVALID), (None, UNIMPLEMENTED)):
        with pytest.raises(CallError) as failed:
            grouped.read(CHOICE, key)
        assert failed.value.codes() == [code]
    entry = grouped.entry(CHOICE, {"$SELECTOR_GROUP_ID": 5, "hash_value": 1})
    assert failing(grouped, grouped.update("INSERT", entry)).codes() == [UNIMPLEMENTED]


def test_the_offset_of_a_group_is_kept(client: Client) -> None:
    key = {"$SELECTOR_GROUP_ID": 5}
    empty = {"$ACTION_MEMBER_ID": [], "$ACTION_MEMBER_STATUS": []}
    client.insert("groups", key, None, empty | {"$ADT_OFFSET": 64})
    assert client.read("groups", key)[0].data["$ADT_OFFSET"] == 64
    client.modify("groups", key, None, empty)
    assert client.read("groups", key)[0].data["$ADT_OFFSET"] == 64
    odd = client.entry("groups", {"$SELECTOR_GROUP_ID": 6}, None, empty | {"$ADT_OFFSET": 3})
    refused = failing(client, client.update("INSERT", odd))
    assert refused.codes() == [INVALID]
    assert "expected an even number" in refused.details[0][1]
