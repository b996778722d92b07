"""Weights, watched ports and one-shot sets of actions of selectors. Rules and codes: P4Runtime 1.4,
"Group Programming" and "One Shot Action Selector Programming".
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from packet.live_switch import DEADLINE_S, SoftswitchTarget

from .client import Client, code
from .conftest import Server
from .test_profiles import colour, group, member, painted
from .test_tables import forward, frame, refused

ROOM = 4  # the largest group
MEMBERS = 8
TABLES_OF_SETS = ("painted", "groups", "members")  # each before what it names


def colours(client: Client, switch: SoftswitchTarget, frames: int = 64) -> list[int]:
    """Of frames of different types, of which CRC-16 (the selector's hash), modulo 2 and 4, has each
    value as often.
    """
    sent = [switch.send(1, frame(ether_type=0x4000 + (i << 8)))[0][1] for i in range(frames)]
    return [bytes_[6] for bytes_ in sent]


def action_set(client: Client, *given: tuple[int, int], watch: dict[int, int] | None = None) -> Any:
    """given: colour and weight of each action; watch: ports by colour."""
    made = client.proto.ActionProfileActionSet()
    for shade, weight in given:
        each = made.action_profile_actions.add(
            action=client.action("paint", colour=bytes([shade])), weight=weight
        )
        if watch and shade in watch:
            each.watch_port = bytes([watch[shade]])
    return made


def painted_with(client: Client, made: Any) -> Any:
    return painted(client, action_profile_action_set=made)


def there(switch: SoftswitchTarget, table: str) -> int:
    return len(switch.command("table_read", table=table)["entries"])


def wait_for_colours(client: Client, switch: SoftswitchTarget, wanted: set[int]) -> None:
    end = time.monotonic() + DEADLINE_S
    while set(colours(client, switch, 16)) != wanted:
        assert time.monotonic() < end, f"colours are not {wanted}"


def test_a_member_with_more_weight_is_chosen_more_often(
    client: Client, switch: SoftswitchTarget
) -> None:
    """48 of 64 at 3 to 1."""
    client.write(client.update("INSERT", table_entry=forward(client)))
    for number in (1, 2):
        client.write(client.update("INSERT", action_profile_member=member(client, number, number)))
    written = group(client, 5, m1=3, m2=1)
    client.write(client.update("INSERT", action_profile_group=written))
    entry = painted(client, action_profile_group_id=5)
    client.write(client.update("INSERT", table_entry=entry))
    chosen = colours(client, switch)
    assert (chosen.count(1), chosen.count(2)) == (48, 16)
    wanted = client.proto.Entity(action_profile_group=client.proto.ActionProfileGroup())
    assert [each.action_profile_group for each in client.read(wanted)] == [written]


def test_a_member_that_another_client_names_twice_has_weight_two(
    client: Client, switch: SoftswitchTarget
) -> None:
    """BF Runtime has no weights; a group of P4Runtime has each member once."""
    for number in (1, 2):
        client.write(client.update("INSERT", action_profile_member=member(client, number, number)))
    fields = {"$ACTION_MEMBER_ID": [1, 2, 1], "$ACTION_MEMBER_STATUS": [True] * 3}
    made = {"table": "groups", "op": "insert", "key": {"$SELECTOR_GROUP_ID": 5}, "data": fields}
    switch.command("table_write", updates=[made])
    wanted = client.proto.Entity(action_profile_group=client.proto.ActionProfileGroup())
    (found,) = (each.action_profile_group for each in client.read(wanted))
    assert [(each.member_id, each.weight) for each in found.members] == [(1, 2), (2, 1)]
    client.write(client.update("MODIFY", action_profile_group=found))
    assert [each.action_profile_group for each in client.read(wanted)] == [found]


def test_weights_have_room_together(client: Client) -> None:
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    heavy = client.update("INSERT", action_profile_group=group(client, 5, m1=ROOM + 1))
    assert refused(client, heavy) == code("RESOURCE_EXHAUSTED")
    full = client.update("INSERT", action_profile_group=group(client, 5, m1=ROOM))
    client.write(full)


def test_a_member_whose_port_is_down_is_not_chosen(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    for number in (1, 2):
        client.write(client.update("INSERT", action_profile_member=member(client, number, number)))
    written = group(client, 5, m1=1, m2=1)
    written.members[0].watch_port = b"\x03"
    client.write(client.update("INSERT", action_profile_group=written))
    entry = painted(client, action_profile_group_id=5)
    client.write(client.update("INSERT", table_entry=entry))
    wait_for_colours(client, switch, {1, 2})
    switch.command("port_enable", port=3, enabled=False)
    try:
        wait_for_colours(client, switch, {2})
        wanted = client.proto.Entity(action_profile_group=client.proto.ActionProfileGroup())
        assert [each.action_profile_group for each in client.read(wanted)] == [written]
        # One that is written while the port is down is as it.
        written.members[1].watch_port = b"\x02"
        client.write(client.update("MODIFY", action_profile_group=written))
        assert set(colours(client, switch, 16)) == {2}
    finally:
        switch.command("port_enable", port=3, enabled=True)
    wait_for_colours(client, switch, {1, 2})


def test_a_port_changes_no_group_that_another_client_has_changed(
    client: Client, switch: SoftswitchTarget
) -> None:
    """As a client of BF Runtime does it: group 5 has another member, of group 6 one is put out."""
    client.write(client.update("INSERT", table_entry=forward(client)))
    for number in (1, 2, 3):
        client.write(client.update("INSERT", action_profile_member=member(client, number, number)))
    for number in (5, 6, 7):
        written = group(client, number, m1=1, m2=1)
        written.members[0].watch_port = b"\x03"
        client.write(client.update("INSERT", action_profile_group=written))
    for number, members, status in ((5, [1, 3], [True, True]), (6, [1, 2], [True, False])):
        fields = {"$ACTION_MEMBER_ID": members, "$ACTION_MEMBER_STATUS": status}
        key = {"$SELECTOR_GROUP_ID": number}
        change = {"table": "groups", "op": "modify", "key": key, "data": fields}
        switch.command("table_write", updates=[change])
    entry = painted(client, action_profile_group_id=7)
    client.write(client.update("INSERT", table_entry=entry))
    for enabled, seen, kept in ((False, {2}, [False, False]), (True, {1, 2}, [True, False])):
        switch.command("port_enable", port=3, enabled=enabled)
        wait_for_colours(client, switch, seen)  # group 7 follows, after 5 and 6
        there = {
            entry["key"]["$SELECTOR_GROUP_ID"]: entry["data"]
            for entry in switch.command("table_read", table="groups")["entries"]
        }
        assert there[5]["$ACTION_MEMBER_ID"] == [1, 3]
        assert there[5]["$ACTION_MEMBER_STATUS"] == [True, True]
        assert there[6]["$ACTION_MEMBER_STATUS"] == kept


def test_only_ports_of_the_switch_are_watched(client: Client) -> None:
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    written = group(client, 5, m1=1)
    written.members[0].watch_port = b"\x09"
    update = client.update("INSERT", action_profile_group=written)
    assert refused(client, update) == code("INVALID_ARGUMENT")
    written.members[0].watch_port = b""  # always chosen
    client.write(client.update("INSERT", action_profile_group=written))


def test_an_entry_has_a_set_of_actions(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = painted_with(client, action_set(client, (0x10, 1), (0x20, 3)))
    entry.metadata = b"mine"
    client.write(client.update("INSERT", table_entry=entry))
    chosen = colours(client, switch)
    assert (chosen.count(0x10), chosen.count(0x20)) == (16, 48)
    assert list(client.entries("painted")) == [entry]
    # What it is made of is not the client's.
    for wanted in (
        client.proto.Entity(action_profile_member=client.proto.ActionProfileMember()),
        client.proto.Entity(action_profile_group=client.proto.ActionProfileGroup()),
    ):
        assert client.read(wanted) == []


def test_a_set_is_changed_and_goes_as_a_whole(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = painted_with(client, action_set(client, (0x10, 1), (0x20, 1)))
    client.write(client.update("INSERT", table_entry=entry))
    for given in [((0x30, 1),), ((1, 1), (2, 1), (3, 1), (4, 1)), ((5, 2), (6, 1))]:
        entry = painted_with(client, action_set(client, *given))
        client.write(client.update("MODIFY", table_entry=entry))
        assert set(colours(client, switch)) == {shade for shade, _ in given}
        assert list(client.entries("painted")) == [entry]
        assert there(switch, "members") == len(given)
        assert there(switch, "groups") == 1
    noted = client.entry("painted", dst_addr={"exact": {"value": entry.match[0].exact.value}})
    noted.metadata = b"new"
    client.write(client.update("MODIFY", table_entry=noted))
    entry.metadata = b"new"
    assert list(client.entries("painted")) == [entry]
    client.write(client.update("DELETE", table_entry=entry))
    assert list(client.entries("painted")) == []
    assert there(switch, "members") == there(switch, "groups") == 0


def test_actions_of_a_set_watch_ports(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    made = action_set(client, (1, 1), (2, 1), watch={1: 3})
    client.write(client.update("INSERT", table_entry=painted_with(client, made)))
    assert list(client.entries("painted")) == [painted_with(client, made)]
    switch.command("port_enable", port=3, enabled=False)
    try:
        wait_for_colours(client, switch, {2})
    finally:
        switch.command("port_enable", port=3, enabled=True)
    wait_for_colours(client, switch, {1, 2})


def test_a_profile_has_sets_or_members(client: Client) -> None:
    set_update = client.update(
        "INSERT", table_entry=painted_with(client, action_set(client, (1, 1)))
    )
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    assert refused(client, set_update) == code("INVALID_ARGUMENT")
    client.write(client.update("DELETE", action_profile_member=member(client, 1)))
    client.write(set_update)
    for update in (
        client.update("INSERT", action_profile_member=member(client, 1)),
        client.update("INSERT", action_profile_group=group(client, 5)),
    ):
        assert refused(client, update) == code("INVALID_ARGUMENT")


def test_wrong_sets_are_refused_and_leave_nothing(client: Client, switch: SoftswitchTarget) -> None:
    wrong = [
        action_set(client, (1, 0)),
        action_set(client, (1, ROOM), (2, 1)),
        action_set(client, (1, 1), watch={1: 9}),
    ]
    other = action_set(client, (1, 1))
    other.action_profile_actions[0].action.CopyFrom(client.action("send", port=b"\x01"))
    for made in [*wrong, other]:
        update = client.update("INSERT", table_entry=painted_with(client, made))
        assert refused(client, update) == code("INVALID_ARGUMENT")
    random = action_set(client, (1, 1))
    random.action_selection_mode = 2  # RANDOM
    counted = action_set(client, (1, 1))
    counted.size_semantics = 2  # SUM_OF_MEMBERS
    for made in (random, counted):
        update = client.update("INSERT", table_entry=painted_with(client, made))
        assert refused(client, update) == code("UNIMPLEMENTED")
    client.write(
        client.update("INSERT", table_entry=painted_with(client, action_set(client, (1, 1))))
    )
    again = client.update("INSERT", table_entry=painted_with(client, action_set(client, (2, 1))))
    assert refused(client, again) == code("ALREADY_EXISTS")
    assert there(switch, "members") == there(switch, "groups") == 1
    assert colour_of_members(switch) == [1]


def colour_of_members(switch: SoftswitchTarget) -> list[int]:
    found = switch.command("table_read", table="members")["entries"]
    return [each["data"]["colour"] for each in found]


def test_sets_fill_the_profile(client: Client, switch: SoftswitchTarget) -> None:
    """What does not fit changes nothing."""
    for number in range(2):
        made = action_set(client, *((shade + 1, 1) for shade in range(ROOM)))
        entry = painted_with(client, made)
        entry.match[0].exact.value = bytes([number + 1])
        client.write(client.update("INSERT", table_entry=entry))
    assert there(switch, "members") == MEMBERS
    entry = painted_with(client, action_set(client, (1, 1)))
    update = client.update("INSERT", table_entry=entry)
    assert refused(client, update) == code("RESOURCE_EXHAUSTED")
    assert there(switch, "members") == MEMBERS
    assert there(switch, "groups") == 2


def test_a_batch_has_a_set_whole_or_not(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = painted_with(client, action_set(client, (7, 1)))
    client.write(
        client.update("INSERT", table_entry=entry),
        client.update("DELETE", table_entry=entry),
        client.update("INSERT", table_entry=entry),
    )
    assert colour(client, switch) == 7
    assert there(switch, "members") == 1


@pytest.mark.parametrize("tables", [("painted",), ("painted", "groups"), TABLES_OF_SETS])
def test_another_client_deletes_what_a_set_is_made_of(
    client: Client, switch: SoftswitchTarget, tables: tuple[str, ...]
) -> None:
    """As a client of BF Runtime may, beside this server."""
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = painted_with(client, action_set(client, (1, 1), (2, 1), watch={1: 3}))
    client.write(client.update("INSERT", table_entry=entry))
    for table in tables:
        switch.command("table_write", updates=[{"table": table, "op": "clear"}])
    assert list(client.entries("painted")) == []
    deletion = client.update("DELETE", table_entry=entry)
    assert refused(client, deletion) == code("NOT_FOUND")
    entry = painted_with(client, action_set(client, (3, 1)))
    modification = client.update("MODIFY", table_entry=entry)
    assert refused(client, modification) == code("NOT_FOUND")
    client.write(client.update("INSERT", table_entry=entry))
    assert colour(client, switch) == 3
    assert (there(switch, "members"), there(switch, "groups")) == (1, 1)
    client.write(deletion)
    assert there(switch, "members") == there(switch, "groups") == 0
    assert list(client.entries("painted")) == []


def test_members_may_follow_sets_that_another_client_deleted(
    client: Client, switch: SoftswitchTarget
) -> None:
    entry = painted_with(client, action_set(client, (1, 1)))
    client.write(client.update("INSERT", table_entry=entry))
    for table in TABLES_OF_SETS:
        switch.command("table_write", updates=[{"table": table, "op": "clear"}])
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    insertion = client.update("INSERT", table_entry=entry)
    assert refused(client, insertion) == code("INVALID_ARGUMENT")


def test_an_entry_that_another_client_changed_has_no_set(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = painted_with(client, action_set(client, (1, 1), (2, 1)))
    client.write(client.update("INSERT", table_entry=entry))
    (found,) = switch.command("table_read", table="painted")["entries"]
    (chosen, _) = switch.command("table_read", table="members")["entries"]
    change = {"table": "painted", "op": "modify", "key": found["key"], "data": chosen["key"]}
    switch.command("table_write", updates=[change])
    (read,) = client.entries("painted")
    assert read.action.action_profile_member_id == chosen["key"]["$ACTION_MEMBER_ID"]
    entry = painted_with(client, action_set(client, (3, 1)))
    client.write(client.update("MODIFY", table_entry=entry))
    assert colour(client, switch) == 3
    assert list(client.entries("painted")) == [entry]


def test_a_server_that_starts_anew_changes_and_deletes_sets(
    client: Client, switch: SoftswitchTarget, build_dir: Path
) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    entry = painted_with(client, action_set(client, (1, 1), (2, 1)))
    client.write(client.update("INSERT", table_entry=entry))
    server = Server(build_dir / "bin/p4runtime-server", switch.directory, name="p4runtime-again")
    again = Client(server.address, client.proto, 1)
    try:
        assert again.open().arbitration.status.code == 0
        insertion = again.update("INSERT", table_entry=entry)
        assert refused(again, insertion) == code("ALREADY_EXISTS")
        (read,) = again.entries("painted")
        assert read.action.action_profile_group_id != 0  # what is in it is not known
        for given in [((3, 1),), ((4, 1), (5, 1), (6, 1))]:
            entry = painted_with(client, action_set(client, *given))
            again.write(again.update("MODIFY", table_entry=entry))
            assert set(colours(client, switch)) == {shade for shade, _ in given}
            assert there(switch, "members") == len(given)
            assert there(switch, "groups") == 1
        again.write(again.update("DELETE", table_entry=entry))
        assert there(switch, "members") == there(switch, "groups") == 0
    finally:
        again.close()
        server.close()


def test_an_entry_that_another_client_gave_the_set_of_another_gets_its_own_again(
    client: Client, switch: SoftswitchTarget
) -> None:
    first = painted_with(client, action_set(client, (1, 1)))
    second = painted_with(client, action_set(client, (2, 1)))
    second.match[0].exact.value = b"\x09"
    client.write(client.update("INSERT", table_entry=forward(client)))
    for entry in (first, second):
        client.write(client.update("INSERT", table_entry=entry))
    one, other = (
        next(
            found
            for found in switch.command("table_read", table="painted")["entries"]
            if int(str(next(iter(found["key"].values()))), 0)
            == int.from_bytes(entry.match[0].exact.value, "big")
        )
        for entry in (first, second)
    )
    change = {"table": "painted", "op": "modify", "key": one["key"], "data": other["data"]}
    switch.command("table_write", updates=[change])
    first = painted_with(client, action_set(client, (3, 1)))
    client.write(client.update("MODIFY", table_entry=first))
    assert sorted(colour_of_members(switch)) == [2, 3]
    assert colour(client, switch) == 3
    client.write(client.update("DELETE", table_entry=first))
    assert list(client.entries("painted")) == [second]


def test_numbers_that_another_client_has_are_left_out(
    client: Client, switch: SoftswitchTarget, build_dir: Path
) -> None:
    """A member with the last number but one, which no server of P4Runtime has made."""
    paint = {"action": "paint", "data": {"colour": 9}}
    key = {"$ACTION_MEMBER_ID": 0xFFFFFFFE}
    made = {"table": "members", "op": "insert", "key": key, **paint}
    switch.command("table_write", updates=[made])
    server = Server(build_dir / "bin/p4runtime-server", switch.directory, name="p4runtime-again")
    again = Client(server.address, client.proto, 1)
    try:
        assert again.open().arbitration.status.code == 0
        entry = painted_with(client, action_set(client, (1, 1), (2, 1), (3, 1)))
        again.write(again.update("INSERT", table_entry=entry))
        assert again.read(client.proto.Entity(action_profile_member={})) == []
        numbers = [
            each["key"]["$ACTION_MEMBER_ID"]
            for each in switch.command("table_read", table="members")["entries"]
        ]
        assert sorted(numbers) == [1 << 31, (1 << 31) + 1, (1 << 31) + 2, 0xFFFFFFFE]
        insertion = again.update("INSERT", action_profile_member=member(client, 7))
        assert refused(again, insertion) == code("INVALID_ARGUMENT")
    finally:
        again.close()
        server.close()


def test_a_server_that_starts_anew_keeps_an_empty_set(
    client: Client, switch: SoftswitchTarget, build_dir: Path
) -> None:
    empty = painted_with(client, action_set(client))
    client.write(client.update("INSERT", table_entry=empty))
    server = Server(build_dir / "bin/p4runtime-server", switch.directory, name="p4runtime-again")
    again = Client(server.address, client.proto, 1)
    try:
        assert again.open().arbitration.status.code == 0
        other = painted_with(client, action_set(client, (1, 1)))
        other.match[0].exact.value = b"\x09"
        again.write(again.update("INSERT", table_entry=other))
        again.write(again.update("DELETE", table_entry=empty))
        assert there(switch, "groups") == 1
    finally:
        again.close()
        server.close()
