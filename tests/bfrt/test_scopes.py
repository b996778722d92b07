"""A switch whose pipes have states of their own, and the attribute EntryScope: what a target's pipe
means. What an SDE answers is what its tests expect: tna_register, tna_proxy_hash, tna_pvs and
tna_idletimeout of open-p4studio.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from packet.live_switch import SoftswitchTarget

from .client import ALL_PIPES, CallError, Client
from .conftest import Server
from .test_aging import NOTIFY, attribute
from .test_byte_count_adjust import adjust_of, setting
from .test_handles import handle_of
from .test_selectors import chosen
from .test_tables import FRAME, INVALID, MAC, UNIMPLEMENTED, failing, group, member, to

FIRST, SECOND = 1, 130  # ports of pipe 0 and pipe 1
ALL, SINGLE = 0, 1
NOT_FOUND = grpc.StatusCode.NOT_FOUND.value[0]
INITIAL = 7  # of the register `hits`


@pytest.fixture(scope="module")
def switch(
    build_dir: Path, program: Path, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SoftswitchTarget]:
    target = SoftswitchTarget(
        build_dir / "bin" / "softswitch",
        program,
        tmp_path_factory.mktemp("pipes"),
        [FIRST, SECOND],
        options=["--pipes", "2"],
    )
    yield target
    target.close()


@pytest.fixture(scope="module")
def server(build_dir: Path, switch: SoftswitchTarget) -> Iterator[Server]:
    """As it finds the switch, and shows as many pipes as that has, whatever it is told."""
    running = Server(build_dir / "bin" / "bfrt-server", switch.directory, "--pipes", "4")
    yield running
    running.close()


@pytest.fixture
def client(server: Server, proto: SimpleNamespace, switch: SoftswitchTarget) -> Iterator[Client]:
    """With the tables used here empty, and of scope ALL."""
    made = Client(server.address, proto)
    tables = ("forward", "watched", "tallied", "seen", "hits", "unwanted")
    try:
        made.open(enable_learn_notifications=True, enable_idletimeout_notifications=True)
        made.bind()
        for table in tables:
            made.delete(table)
        made.write_updates([scope(made, table, ALL) for table in tables])
        yield made
    finally:
        made.close()


def scope(client: Client, table: str, pipes: int | None, user_defined: int = 0, **more: int) -> Any:
    update = client.proto.Update(type="INSERT")
    written = update.entity.table_attribute
    written.table_id = client.table(table)["id"]
    if pipes is None:
        written.entry_scope.pipe_scope.user_defined = user_defined
    else:
        written.entry_scope.pipe_scope.predef = pipes
    for name, mode in more.items():
        getattr(written.entry_scope, name).predef = mode
    return update


def read_scope(client: Client, table: str) -> Any:
    entity = client.proto.Entity()
    entity.table_attribute.table_id = client.table(table)["id"]
    entity.table_attribute.entry_scope.SetInParent()
    return client.read_entities([entity]).entities[0].table_attribute.entry_scope


def read_error(client: Client, *arguments: Any, **named: Any) -> list[int]:
    with pytest.raises(CallError) as failed:
        client.read(*arguments, **named)
    return failed.value.codes()


def hits(client: Client, **how: Any) -> list[int]:
    (entry,) = client.read("hits", {"$REGISTER_INDEX": 0}, **how)
    values: list[int] = entry.data["Ingress.hits.f1"]
    return values


def test_a_register_has_the_values_of_its_pipes(client: Client, switch: SoftswitchTarget) -> None:
    for port in (FIRST, SECOND, SECOND):
        switch.send(port, FRAME)
    assert hits(client, from_hw=False) == [INITIAL, INITIAL], "the driver's copy"
    assert hits(client) == [INITIAL + 1, INITIAL + 2]
    assert hits(client, pipe=1) == [INITIAL + 2]
    configuration = client.read("tf1.dev.device_configuration", from_hw=False)
    assert configuration[0].data["num_pipes"] == 2
    assert read_error(client, "hits", {"$REGISTER_INDEX": 0}, pipe=2) == [INVALID]


@pytest.mark.parametrize("mode", [ALL, SINGLE])
def test_a_register_is_written_in_one_pipe_whatever_its_scope(client: Client, mode: int) -> None:
    client.write_updates([scope(client, "hits", mode)])
    client.write("MODIFY", "hits", {"$REGISTER_INDEX": 0}, data={"f1": 40}, pipe=1)
    assert hits(client, from_hw=False) == hits(client) == [INITIAL, 40]
    client.write("MODIFY", "hits", {"$REGISTER_INDEX": 0}, data={"f1": 50})
    assert hits(client) == [50, 50]
    client.delete("hits", pipe=0)
    assert hits(client) == [INITIAL, 50]


def test_a_user_defined_scope_is_named_by_its_lowest_pipe(client: Client) -> None:
    client.write_updates([scope(client, "hits", None, user_defined=0x03)])
    client.write("MODIFY", "hits", {"$REGISTER_INDEX": 0}, data={"f1": 40}, pipe=0)
    assert hits(client) == [40, 40]
    entry = client.entry("hits", {"$REGISTER_INDEX": 0}, data={"f1": 1})
    assert failing(client, client.update("MODIFY", entry), pipe=1).codes() == [INVALID]


def test_entries_of_all_pipes(client: Client, switch: SoftswitchTarget) -> None:
    client.insert("forward", to(MAC), "send", {"port": FIRST})
    for port in (FIRST, SECOND, SECOND):
        assert switch.send(port, FRAME) == [(FIRST, FRAME)]
    (entry,) = client.read("forward", to(MAC))
    assert entry.data["$COUNTER_SPEC_PKTS"] == 3
    (entry,) = client.read("forward", to(MAC), pipe=1)
    assert entry.data["$COUNTER_SPEC_PKTS"] == 2
    assert read_error(client, "forward", to(MAC), pipe=1, from_hw=False) == [NOT_FOUND]
    modified = client.update("MODIFY", client.entry("forward", to(MAC), "send", {"port": SECOND}))
    assert failing(client, modified, pipe=1).codes() == [INVALID]
    assert client.usage("forward") == 1


def test_entries_of_single_pipes(client: Client, switch: SoftswitchTarget) -> None:
    client.write_updates([scope(client, "forward", SINGLE)])
    for pipe, port in enumerate((SECOND, FIRST)):
        client.insert("forward", to(MAC), "send", {"port": port}, pipe=pipe)
    assert switch.send(FIRST, FRAME) == [(SECOND, FRAME)]
    assert switch.send(SECOND, FRAME) == [(FIRST, FRAME)]
    for pipe, port in enumerate((SECOND, FIRST)):
        (entry,) = client.read("forward", to(MAC), pipe=pipe)
        assert entry.data["port"] == port
        assert entry.data["$COUNTER_SPEC_PKTS"] == 1
    assert read_error(client, "forward", to(MAC)) == [NOT_FOUND]
    refused = client.update("INSERT", client.entry("forward", to(MAC + 1), "send", {"port": 1}))
    assert failing(client, refused).codes() == [INVALID]
    assert [client.usage("forward", pipe) for pipe in (ALL_PIPES, 0, 1)] == [2, 1, 1]
    client.delete("forward", to(MAC), pipe=0)
    assert [client.usage("forward", pipe) for pipe in (ALL_PIPES, 0, 1)] == [1, 0, 1]
    assert read_error(client, "forward", to(MAC), pipe=0) == [NOT_FOUND]
    assert client.read("forward", to(MAC), pipe=1)[0].data["port"] == FIRST


# Of a pipe that is not the lowest of its scope a driver counts no entries: they are told once.
def test_usage_is_of_the_scope_that_the_pipe_names(client: Client) -> None:
    with pytest.raises(CallError) as symmetric:
        client.usage("forward", pipe=0)
    assert symmetric.value.codes() == [INVALID]
    client.write_updates([scope(client, "forward", None, user_defined=0x03)])
    client.insert("forward", to(MAC), "send", {"port": FIRST}, pipe=0)
    assert [client.usage("forward", pipe) for pipe in (ALL_PIPES, 0, 1)] == [1, 1, 0]


# What open-p4studio's tests tna_exact_match, tna_ternary_match and tna_proxy_hash expect.
def test_entries_of_single_pipes_have_handles_of_their_own(client: Client) -> None:
    client.write_updates([scope(client, "forward", SINGLE)])
    for pipe in (0, 1):
        client.insert("forward", to(MAC), "send", {"port": pipe}, pipe=pipe)
    handles = [handle_of(client, "forward", to(MAC), pipe=pipe) for pipe in (0, 1)]
    for pipe, handle in enumerate(handles):
        for target in (pipe, ALL_PIPES):
            (entry,) = client.read("forward", handle_id=handle, pipe=target)
            assert entry.data["port"] == pipe
        question = client.proto.Entity(table_entry=client.entry("forward", handle_id=handle))
        question.table_entry.table_flags.key_only = True
        (found,) = client.read_entities([question]).entities
        assert found.table_entry.entry_tgt.pipe_id == pipe
        elsewhere = {"handle_id": handle, "pipe": 1 - pipe}
        assert read_error(client, "forward", from_hw=True, **elsewhere) == [INVALID]
        assert read_error(client, "forward", from_hw=False, **elsewhere) == [NOT_FOUND]


def test_the_default_entry_has_one_handle_in_all_pipes(client: Client) -> None:
    for pipe in (ALL_PIPES, 0, 1):
        (entry,) = client.read("forward", handle_id=1, pipe=pipe)
        assert (entry.key, entry.action) == ({}, "Ingress.discard")


def test_a_meter_adds_to_the_bytes_in_each_pipe_what_was_set_there(client: Client) -> None:
    client.write_updates([setting(client, "policed", -12)], pipe=0)
    client.write_updates([setting(client, "policed", -16)], pipe=1)
    assert [adjust_of(client, "policed", pipe=pipe) for pipe in (0, 1)] == [-12, -16]
    client.write_updates([setting(client, "policed", 0)])
    assert [adjust_of(client, "policed", pipe=pipe) for pipe in (0, 1)] == [0, 0]


def test_all_entries_are_read_with_their_pipe(client: Client) -> None:
    client.write_updates([scope(client, "forward", SINGLE)])
    for pipe in (0, 1):
        client.insert("forward", to(MAC + pipe), "send", {"port": FIRST}, pipe=pipe)
    question = client.proto.Entity(table_entry=client.entry("forward"))
    question.table_entry.table_flags.from_hw = True
    entries = [each.table_entry for each in client.read_entities([question]).entities]
    pipes = {
        client.plain(entry).key["hdr.ethernet.dst_addr"]: entry.entry_tgt.pipe_id
        for entry in entries
        if not entry.is_default_entry
    }
    assert pipes == {MAC: 0, MAC + 1: 1}
    client.delete("forward")
    assert client.usage("forward") == 0


def test_a_default_entry_is_that_of_a_scope(client: Client, switch: SoftswitchTarget) -> None:
    client.write_updates([scope(client, "forward", SINGLE)])
    client.write("MODIFY", "forward", None, "send", {"port": SECOND}, is_default_entry=True, pipe=1)
    assert switch.send(FIRST, FRAME) == []
    assert switch.send(SECOND, FRAME) == [(SECOND, FRAME)]
    assert client.read("forward", is_default_entry=True, pipe=0)[0].action == "Ingress.discard"
    assert client.read("forward", is_default_entry=True, pipe=1)[0].action == "Ingress.send"
    assert read_error(client, "forward", is_default_entry=True) == [INVALID]


def test_columns_of_entries_are_those_of_their_pipe(client: Client) -> None:
    """So many that they are one command."""
    client.write_updates([scope(client, "forward", SINGLE)])
    updates = [
        client.update("INSERT", client.entry("forward", to(mac), "send", {"port": FIRST}))
        for mac in range(20)
    ]
    for pipe in (0, 1):
        client.write_updates(updates[: 20 - pipe], pipe=pipe)
    assert [len(client.read("forward", pipe=pipe)) for pipe in (0, 1)] == [21, 20]
    exists = grpc.StatusCode.ALREADY_EXISTS.value[0]
    assert failing(client, *updates[10:], pipe=1).codes() == [exists] * 9, "not the last"


@pytest.mark.parametrize("atomicity", ["ROLLBACK_ON_ERROR", "DATAPLANE_ATOMIC"])
def test_a_batch_is_done_in_all_pipes_or_in_none(client: Client, atomicity: str) -> None:
    client.insert("forward", to(MAC), "send", {"port": FIRST})
    updates = [
        client.update("INSERT", client.entry("forward", to(mac), "send", {"port": FIRST}))
        for mac in (MAC + 1, MAC)
    ]
    failing(client, *updates, atomicity=atomicity)
    assert client.usage("forward") == 1
    assert len(client.read("forward", pipe=1)) == 2, "with the default entry"


def test_scopes_are_not_changed_while_there_are_entries(client: Client) -> None:
    client.insert("forward", to(MAC), "send", {"port": FIRST})
    assert failing(client, scope(client, "forward", SINGLE)).codes() == [UNIMPLEMENTED]
    assert read_scope(client, "forward").pipe_scope.predef == ALL
    client.write_updates([scope(client, "forward", ALL)])


def test_scopes_are_read_as_they_were_written(client: Client) -> None:
    client.write_updates([scope(client, "forward", None, user_defined=0x0201)])
    assert read_scope(client, "forward").pipe_scope.user_defined == 0x0201
    client.write_updates([scope(client, "forward", SINGLE)])
    assert read_scope(client, "forward").pipe_scope.predef == SINGLE


@pytest.mark.parametrize("user_defined", [0, 0x04, 0x0301])
def test_wrong_scopes_are_refused(client: Client, user_defined: int) -> None:
    """No pipe, one that is not there, and one twice."""
    wrong = scope(client, "forward", None, user_defined=user_defined)
    assert failing(client, wrong).codes() == [INVALID]
    assert failing(client, scope(client, "forward", SINGLE, gress_scope=ALL)).codes() == [INVALID]
    assert read_scope(client, "forward").pipe_scope.predef == ALL


def test_a_predefined_scope_of_no_name_is_refused(client: Client) -> None:
    client.write_updates([scope(client, "forward", SINGLE)])
    failed = failing(client, scope(client, "forward", 7))
    assert failed.codes() == [INVALID]
    assert "predefined scope 7; expected ALL (0) or SINGLE (1)" in failed.details[0][1]
    all_three = {"gress_scope": ALL, "prsr_scope": 2}
    assert failing(client, scope(client, "forward", ALL, **all_three)).codes() == [INVALID]
    assert read_scope(client, "forward").pipe_scope.predef == SINGLE


def test_who_names_no_scope_is_told_those_that_there_are(client: Client) -> None:
    client.write_updates([scope(client, "forward", SINGLE)])
    entry = client.entry("forward", to(MAC), "send", {"port": FIRST})
    failed = failing(client, client.update("INSERT", entry), pipe=ALL_PIPES)
    assert failed.codes() == [INVALID]
    assert (
        "no scope begins with pipe 0xffff; its scopes are [[0],[1]]: use the lowest pipe of one"
    ) in failed.details[0][1]


def test_a_value_set_may_be_of_one_gress_and_parser(client: Client) -> None:
    """As tna_pvs has it: who writes for both, or for all, is refused."""
    client.delete("unwanted")
    every = scope(client, "unwanted", SINGLE, gress_scope=SINGLE, prsr_scope=SINGLE)
    client.write_updates([every])
    (key,) = client.table("unwanted")["key"]
    name = key["name"]
    entry = client.entry("unwanted", {name: {"value": 1, "mask": 0xFFFF}})

    def insert(pipe: int, direction: int, parser: int) -> list[int]:
        written = client.proto.TableEntry()
        written.CopyFrom(entry)
        written.entry_tgt.pipe_id = pipe
        written.entry_tgt.direction = direction
        written.entry_tgt.prsr_id = parser
        try:
            client.write_updates([client.update("INSERT", written)])
        except CallError as error:
            return error.codes()
        return []

    assert insert(0, 0xFF, 0) == [INVALID]
    assert insert(ALL_PIPES, 0, 0) == [INVALID]
    assert insert(1, 0, 0xFF) == [INVALID]
    assert insert(1, 0, 0) == []
    client.delete("unwanted")
    three = scope(client, "unwanted", ALL, gress_scope=ALL, prsr_scope=ALL)
    client.write_updates([three])


def test_counters_are_added_up(client: Client, switch: SoftswitchTarget) -> None:
    key = {"$COUNTER_INDEX": 0}
    client.modify("seen", key, None, {"$COUNTER_SPEC_PKTS": 10, "$COUNTER_SPEC_BYTES": 0})
    assert client.read("seen", key)[0].data["$COUNTER_SPEC_PKTS"] == 10
    for port in (FIRST, SECOND, SECOND):
        switch.send(port, FRAME)
    assert client.read("seen", key)[0].data["$COUNTER_SPEC_PKTS"] == 13
    assert client.read("seen", key, pipe=1)[0].data["$COUNTER_SPEC_PKTS"] == 2


def test_counters_are_deleted_in_one_pipe(client: Client, switch: SoftswitchTarget) -> None:
    client.delete("seen")
    client.write_updates([scope(client, "seen", SINGLE)])
    key = {"$COUNTER_INDEX": 0}
    for port in (FIRST, SECOND, SECOND):
        switch.send(port, FRAME)
    every_cell = client.proto.TableEntry(table_id=client.table("seen")["id"])
    every_cell.entry_tgt.pipe_id = 1
    client.write_updates([client.update("DELETE", every_cell)])
    assert client.read("seen", key, pipe=1)[0].data["$COUNTER_SPEC_PKTS"] == 0
    assert client.read("seen", key, pipe=0)[0].data["$COUNTER_SPEC_PKTS"] == 1


def test_a_direct_register_has_the_values_of_its_pipes(
    client: Client, switch: SoftswitchTarget
) -> None:
    client.insert("tallied", to(MAC), "count_in_entry", {"value": 9})
    for port in (FIRST, SECOND, SECOND):
        switch.send(port, FRAME)
    data = client.read("tallied", to(MAC))[0].data
    assert data["Ingress.tally.first"] == [6, 7]
    assert data["Ingress.tally.second"] == [107, 207]
    assert client.read("tallied", to(MAC), pipe=1)[0].data["Ingress.tally.first"] == [7]


def next_of(client: Client, kind: str) -> Any:
    """The next message of this kind: those that tests before this one caused may come, too."""
    while not (message := client.message()).HasField(kind):
        pass
    return getattr(message, kind)


def test_members_and_groups_have_the_scope_of_the_entries_that_name_them(client: Client) -> None:
    """As tna_idletimeout has it."""
    named = ("painted", "groups", "members")
    for table in named:
        client.delete(table)
    client.write_updates([scope(client, "painted", SINGLE)])
    for pipe in (0, 1):
        client.write_updates([member(client, 10 + pipe, 0)], pipe=pipe)
        client.write_updates([group(client, 5, {10 + pipe: True})], pipe=pipe)
    assert [chosen(client, 5, 0, pipe) for pipe in (0, 1)] == [10, 11]
    assert read_scope(client, "painted").pipe_scope.predef == SINGLE
    for pipe, colour in enumerate((0x11, 0x22)):
        client.insert("members", {"$ACTION_MEMBER_ID": 1}, "paint", {"colour": colour}, pipe=pipe)
        client.insert("painted", to(MAC), None, {"$ACTION_MEMBER_ID": 1}, pipe=pipe)
        (entry,) = client.read("members", {"$ACTION_MEMBER_ID": 1}, pipe=pipe)
        assert entry.data["colour"] == colour
    assert failing(client, scope(client, "painted", ALL)).codes() == [UNIMPLEMENTED]
    for table in named:
        client.delete(table)
    client.write_updates([scope(client, "painted", ALL)])
    client.insert("members", {"$ACTION_MEMBER_ID": 1}, "paint", {"colour": 1})
    client.delete("members")


def test_an_entry_that_is_idle_is_told_of_with_its_pipe(client: Client) -> None:
    client.write_updates([scope(client, "watched", SINGLE)])
    client.write_updates([attribute(client, enable=True, idle_table_mode=NOTIFY)])
    client.insert("watched", to(MAC), "mark", {"value": 3, "$ENTRY_TTL": 100}, pipe=1)
    told = next_of(client, "idle_timeout_notification")
    assert told.target.pipe_id == 1
    assert client.plain(told.table_entry).key == to(MAC)


def test_digests_come_with_their_pipe(client: Client, switch: SoftswitchTarget) -> None:
    switch.send(SECOND, FRAME)
    while next_of(client, "digest").target.pipe_id != 1:
        pass


def test_a_server_that_starts_again_finds_the_scopes(
    client: Client, build_dir: Path, switch: SoftswitchTarget, proto: SimpleNamespace
) -> None:
    client.write_updates([scope(client, "forward", SINGLE)])
    client.insert("forward", to(MAC), "send", {"port": FIRST}, pipe=1)
    again = Server(build_dir / "bin" / "bfrt-server", switch.directory, name="again")
    try:
        other = Client(again.address, proto, client_id=2)
        other.open()
        other.bind()
        assert read_scope(other, "forward").pipe_scope.predef == SINGLE
        assert other.read("forward", to(MAC), pipe=1)[0].data["port"] == FIRST
        assert read_error(other, "forward", to(MAC), pipe=0) == [NOT_FOUND]
        other.close()
    finally:
        again.close()


def test_with_one_state_there_is_one_scope(
    build_dir: Path, start_switch: Callable[[], SoftswitchTarget], proto: SimpleNamespace
) -> None:
    one = start_switch()
    running = Server(build_dir / "bin" / "bfrt-server", one.directory)
    try:
        client = Client(running.address, proto)
        client.open()
        client.bind()
        assert failing(client, scope(client, "forward", SINGLE)).codes() == [UNIMPLEMENTED]
        client.write_updates([scope(client, "forward", ALL)])
        client.insert("forward", to(MAC), "send", {"port": 2}, pipe=1)
        assert client.read("forward", to(MAC))[0].data["port"] == 2
        client.close()
    finally:
        running.close()
        one.close()
