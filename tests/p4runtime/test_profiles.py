"""Members and groups. Rules and codes: P4Runtime 1.4, "ActionProfileMember"."""

from __future__ import annotations

from typing import Any

from packet.live_switch import SoftswitchTarget

from .client import Client, code
from .test_tables import EXACT, forward, frame, refused


def member(client: Client, number: int, colour: int = 1) -> Any:
    return client.proto.ActionProfileMember(
        action_profile_id=client.id_of("action_profiles", "members"),
        member_id=number,
        action=client.action("paint", colour=bytes([colour])),
    )


def group(client: Client, number: int, **weights: int) -> Any:
    made = client.proto.ActionProfileGroup(
        action_profile_id=client.id_of("action_profiles", "members"), group_id=number, max_size=4
    )
    for name, weight in weights.items():
        made.members.add(member_id=int(name[1:]), weight=weight)
    return made


def painted(client: Client, **action: int) -> Any:
    entry = client.entry("painted", dst_addr=EXACT)
    entry.action.CopyFrom(client.proto.TableAction(**action))
    return entry


def colour(client: Client, switch: SoftswitchTarget) -> int:
    ((_, sent),) = switch.send(1, frame())
    return sent[6]


def test_entries_name_members_and_groups(client: Client, switch: SoftswitchTarget) -> None:
    client.write(client.update("INSERT", table_entry=forward(client)))
    client.write(client.update("INSERT", action_profile_member=member(client, 1, 0x10)))
    client.write(client.update("INSERT", action_profile_member=member(client, 2, 0x20)))
    entry = painted(client, action_profile_member_id=1)
    client.write(client.update("INSERT", table_entry=entry))
    assert colour(client, switch) == 0x10
    client.write(client.update("INSERT", action_profile_group=group(client, 5, m2=1)))
    entry = painted(client, action_profile_group_id=5)
    client.write(client.update("MODIFY", table_entry=entry))
    assert colour(client, switch) == 0x20
    assert list(client.entries("painted")) == [entry]
    client.write(client.update("MODIFY", action_profile_member=member(client, 2, 0x30)))
    assert colour(client, switch) == 0x30


def test_what_is_read_is_what_was_written(client: Client) -> None:
    members = [member(client, 1), member(client, 2)]
    client.write(*(client.update("INSERT", action_profile_member=each) for each in members))
    written = group(client, 7, m1=1, m2=1)
    client.write(client.update("INSERT", action_profile_group=written))
    every = client.proto.Entity(action_profile_member=client.proto.ActionProfileMember())
    read = [each.action_profile_member for each in client.read(every)]
    assert sorted(read, key=lambda each: each.member_id) == members
    every = client.proto.Entity(action_profile_group=client.proto.ActionProfileGroup())
    assert [each.action_profile_group for each in client.read(every)] == [written]


def test_who_is_named_stays(client: Client) -> None:
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    client.write(client.update("INSERT", action_profile_group=group(client, 5, m1=1)))
    client.write(client.update("INSERT", table_entry=painted(client, action_profile_group_id=5)))
    for update in (
        client.update("DELETE", action_profile_member=member(client, 1)),
        client.update("DELETE", action_profile_group=group(client, 5)),
    ):
        assert refused(client, update) == code("FAILED_PRECONDITION")


def test_who_is_not_there_cannot_be_named(client: Client) -> None:
    entry = painted(client, action_profile_member_id=3)
    assert refused(client, client.update("INSERT", table_entry=entry)) == code("NOT_FOUND")
    update = client.update("INSERT", action_profile_group=group(client, 5, m3=1))
    assert refused(client, update) == code("NOT_FOUND")


def test_wrong_members_and_groups_are_refused(client: Client) -> None:
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    wrong = [
        client.update("INSERT", action_profile_member=member(client, 0)),
        client.update("INSERT", action_profile_group=group(client, 0, m1=1)),
        client.update("INSERT", action_profile_group=group(client, 5, m1=0)),
    ]
    twice = group(client, 5, m1=1)
    twice.members.add(member_id=1, weight=1)
    wrong.append(client.update("INSERT", action_profile_group=twice))
    other = member(client, 2)
    other.action.CopyFrom(client.action("send", port=b"\x01"))
    wrong.append(client.update("INSERT", action_profile_member=other))
    direct = client.entry("painted", client.action("paint", colour=b"\x01"), dst_addr=EXACT)
    wrong.append(client.update("INSERT", table_entry=direct))
    for update in wrong:
        assert refused(client, update) == code("INVALID_ARGUMENT")


def test_a_group_keeps_its_size(client: Client) -> None:
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    made = group(client, 5, m1=1)
    client.write(client.update("INSERT", action_profile_group=made))
    for size in (0, 3, 5):
        made.max_size = size
        update = client.update("MODIFY", action_profile_group=made)
        assert refused(client, update) == code("INVALID_ARGUMENT")


def test_an_entry_keeps_its_member_without_an_action(client: Client) -> None:
    client.write(client.update("INSERT", action_profile_member=member(client, 1)))
    entry = painted(client, action_profile_member_id=1)
    client.write(client.update("INSERT", table_entry=entry))
    noted = client.entry("painted", dst_addr=EXACT)
    noted.metadata = b"new"
    client.write(client.update("MODIFY", table_entry=noted))
    entry.metadata = b"new"
    assert list(client.entries("painted")) == [entry]


def test_a_group_that_is_full_says_so(client: Client) -> None:
    for number in range(1, 6):
        client.write(client.update("INSERT", action_profile_member=member(client, number)))
    full = group(client, 5, m1=1, m2=1, m3=1, m4=1, m5=1)
    update = client.update("INSERT", action_profile_group=full)
    assert refused(client, update) == code("RESOURCE_EXHAUSTED")


def test_the_default_entry_is_the_programs(client: Client, switch: SoftswitchTarget) -> None:
    """As "Default Entry" has it; another control plane's goes with the next configuration."""
    entry = client.entry("painted", client.action("NoAction"))
    entry.is_default_action = True
    assert refused(client, client.update("MODIFY", table_entry=entry)) == code("PERMISSION_DENIED")
    client.write(client.update("INSERT", table_entry=forward(client)))
    client.write(client.update("INSERT", action_profile_member=member(client, 1, 0x10)))
    named = {"table": "painted", "op": "set_default", "data": {"$ACTION_MEMBER_ID": 1}}
    switch.command("table_write", updates=[named])
    assert colour(client, switch) == 0x10
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    assert client.read(client.proto.Entity(action_profile_member={})) == []
    assert switch.command("table_read", table="painted")["default"] is None
