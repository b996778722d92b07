"""Another program that goes on with the state of the one before. Rules and codes: P4Runtime 1.4,
"SetForwardingPipelineConfig RPC", RECONCILE_AND_COMMIT.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bfrt.conftest import PORTS, Server
from packet.live_switch import SoftswitchTarget
from softswitch.processes import await_file

from .client import CallError, Client
from .conftest import TESTS, Programs, StartCompiling, let_go
from .revisions import BEGUN, LESS, MORE, write_revision
from .test_action_sets import action_set, painted_with
from .test_cells import counters, registers
from .test_digests import configure
from .test_idle_timeouts import NEVER_NS, TIMEOUT_NS, watched
from .test_meters import FRAME_BYTES, GREEN, PACE, POLICED, RED, cell, limits
from .test_pipeline import Traffic, counted, program_of, set_program, wait_until
from .test_profiles import colour, group, member, painted
from .test_replication import group as multicast_group
from .test_replication import replica, session
from .test_sessions import key
from .test_tables import EXACT, forward, frame
from .test_value_sets import unwanted

EVERYTHING = TESTS / "bfrt" / "everything.p4"
RECONCILE = "RECONCILE_AND_COMMIT"


@pytest.fixture(scope="session")
def revised(
    compiled: Callable[[Path], Path], programs: Programs, tmp_path_factory: pytest.TempPathFactory
) -> Programs:
    """With `more`, `less` and `begun`, too."""
    directory = tmp_path_factory.mktemp("revisions")
    for name, changes in (("more", MORE), ("less", LESS), ("begun", BEGUN)):
        compiled(write_revision(EVERYTHING, changes, directory / f"{name}.p4"))
    return programs


def insert(client: Client, **entity: Any) -> None:
    client.write(client.update("INSERT", **entity))


def modify(client: Client, **entity: Any) -> None:
    client.write(client.update("MODIFY", **entity))


def everything(client: Client) -> list[Any]:
    """All that can be read, apart from what only tells of entries that are there anyway."""
    proto = client.proto
    entry = proto.TableEntry(counter_data={}, meter_config={})
    defaults = proto.TableEntry(is_default_action=True, counter_data={}, meter_config={})
    replication = proto.PacketReplicationEngineEntry
    wanted = [
        {"table_entry": entry},
        {"table_entry": defaults},
        {"action_profile_member": {}},
        {"action_profile_group": {}},
        {"counter_entry": {}},
        {"register_entry": {}},
        {"meter_entry": {}},
        {"value_set_entry": {}},
        {"digest_entry": {}},
        {"packet_replication_engine_entry": replication(multicast_group_entry={})},
        {"packet_replication_engine_entry": replication(clone_session_entry={})},
    ]
    return [each for kind in wanted for each in client.read(proto.Entity(**kind))]


def write_state(client: Client) -> None:
    """Something of each kind of entity."""
    prefix = {"lpm": {"value": b"\x02\x00\x00\x00\x00\x00", "prefix_len": 8}}
    ranges = {"ether_type": {"range": {"low": b"\x10", "high": b"\x01\x00"}}}
    entry = forward(client)
    entry.metadata, entry.controller_metadata = b"mine", 7
    marked = client.action("mark", value=b"\x08")
    default = client.entry("watched", marked)
    default.is_default_action = True
    policed = client.entry("policed", client.action("police", value=b"\x01"), dst_addr=key(1))
    policed.meter_config.CopyFrom(limits(client, 6400, cir=1, pir=2))
    known = client.entry("known", ether_type={"exact": {"value": b"\x12\x35"}})
    known.counter_data.packet_count = 5
    for each in (
        entry,
        client.entry("prefixes", marked, dst_addr=prefix),
        client.entry("ranges", marked, priority=5, **ranges),
        client.entry("tallied", client.action("count_in_entry", value=b"\x01"), dst_addr=EXACT),
        watched(client, NEVER_NS, key(9)),
        policed,
    ):
        insert(client, table_entry=each)
    modify(client, table_entry=default)
    modify(client, table_entry=known)
    for number in (1, 2):
        insert(client, action_profile_member=member(client, number, number))
    insert(client, action_profile_group=group(client, 5, m1=3, m2=1))
    insert(client, table_entry=painted(client, action_profile_group_id=5))
    modify(client, meter_entry=cell(client, "pace", 2, limits(client, 3)))
    modify(client, value_set_entry=unwanted(client, b"\x86\xdd"))
    copies = multicast_group(client, 3, replica(client, 2), replica(client, 3), metadata=b"all")
    insert(client, packet_replication_engine_entry=copies)
    insert(client, packet_replication_engine_entry=session(client, 4, replica(client, 3)))


def test_all_state_is_kept(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], revised: Programs
) -> None:
    """Also what packets did to it: counts, registers, direct ones too."""
    switch, _ = reloading
    write_state(primary)
    configure(primary, max_list_size=1)
    switch.send(1, frame())
    primary.next()  # its digest
    before = everything(primary)
    config = revised.config("more")
    config.cookie.cookie = 9
    set_program(primary, RECONCILE, config)
    assert primary.get_config() == config
    assert "guests" in program_of(primary)
    default_of_more = primary.entry("guests", primary.action("NoAction"))
    default_of_more.is_default_action = True
    after = everything(primary)
    after.remove(primary.proto.Entity(table_entry=default_of_more))
    in_order = sorted(each.SerializeToString() for each in before)
    assert sorted(each.SerializeToString() for each in after) == in_order
    # And it is in force.
    ((port, sent),) = switch.send(1, frame())
    assert (port, sent[6] in (1, 2)) == (2, True), "the group's members"
    assert primary.next().digest.digest_id == primary.id_of("digests", "learn")
    (hits,) = registers(primary, "hits", 0)
    assert hits.data.bitstring == b"\x09", "two frames after the 7 of the program's start"
    assert counters(primary, 0)[0].data.packet_count == 2
    assert switch.send(1, frame(ether_type=0x86DD)) == [], "the value set"
    # A second time, back.
    set_program(primary, RECONCILE, revised.config("everything"))
    assert [port for port, _ in switch.send(1, frame())] == [2]
    (again,) = primary.entries("forward")
    assert (again.metadata, again.controller_metadata) == (b"mine", 7)


def test_entries_that_a_program_begins_with_come_back_with_a_new_pipeline(
    primary: Client, revised: Programs
) -> None:
    set_program(primary, "VERIFY_AND_COMMIT", revised.config("begun"))
    first = list(primary.entries("prefixes"))
    assert [entry.match[0].lpm.prefix_len for entry in first] == [8]
    primary.write(primary.update("DELETE", table_entry=first[0]))
    prefix = {"lpm": {"value": b"\x03\x00\x00\x00\x00\x00", "prefix_len": 16}}
    marked = primary.action("mark", value=b"\x01")
    insert(primary, table_entry=primary.entry("prefixes", marked, dst_addr=prefix))
    set_program(primary, "VERIFY_AND_COMMIT", primary.get_config())
    assert list(primary.entries("prefixes")) == first


def test_sets_of_actions_are_kept(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], revised: Programs
) -> None:
    switch, _ = reloading
    insert(primary, table_entry=forward(primary))
    entry = painted_with(primary, action_set(primary, (0x10, 1), watch={0x10: 3}))
    insert(primary, table_entry=entry)
    set_program(primary, RECONCILE, revised.config("more"))
    assert list(primary.entries("painted")) == [entry]
    assert colour(primary, switch) == 0x10
    switch.command("port_enable", port=3, enabled=False)
    wait_until(lambda: colour(primary, switch) != 0x10)
    primary.write(primary.update("DELETE", table_entry=entry))
    assert switch.command("table_read", table="members")["entries"] == []


def test_idle_times_go_on(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], revised: Programs
) -> None:
    entry = watched(primary, TIMEOUT_NS)
    insert(primary, table_entry=entry)
    primary.next()

    def idle_ns() -> int:
        time = primary.proto.TableEntry.IdleTimeout()
        (found,) = primary.entries("watched", time_since_last_hit=time)
        number: int = found.time_since_last_hit.elapsed_ns
        return number

    before = idle_ns()
    set_program(primary, RECONCILE, revised.config("more"))
    assert idle_ns() >= before
    told = primary.next().idle_timeout_notification
    assert [each.idle_timeout_ns for each in told.table_entry] == [TIMEOUT_NS]


def test_buckets_of_meters_go_on(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], revised: Programs
) -> None:
    """Limits of two frames, and no rate: the third is red, whatever the program."""
    switch, _ = reloading
    insert(primary, table_entry=forward(primary))
    police = primary.action("police", value=b"\x01")
    policed = primary.entry("policed", police, dst_addr=EXACT)
    policed.meter_config.CopyFrom(limits(primary, 2 * FRAME_BYTES))
    insert(primary, table_entry=policed)
    ipv4 = {"exact": {"value": b"\x08\x00"}}
    paced = primary.entry("copied", primary.action("by_pace", index=b"\x02"), ether_type=ipv4)
    insert(primary, table_entry=paced)
    modify(primary, meter_entry=cell(primary, "pace", 2, limits(primary, 2)))
    sent = [switch.send(1, frame())[0][1] for _ in range(2)]
    set_program(primary, RECONCILE, revised.config("more"))
    sent += [switch.send(1, frame())[0][1] for _ in range(2)]
    expected = [GREEN, GREEN, RED, RED]
    assert [each[POLICED] for each in sent] == expected
    assert [each[PACE] for each in sent] == expected


# What `less` has not, or otherwise: an entity of it, and the message.
def gone_table(client: Client) -> dict[str, Any]:
    prefix = {"lpm": {"value": b"\x02\x00\x00\x00\x00\x00", "prefix_len": 8}}
    mark = client.action("mark", value=b"\x01")
    return {"table_entry": client.entry("prefixes", mark, dst_addr=prefix)}


def other_key(client: Client) -> dict[str, Any]:
    action = client.action("count_in_entry", value=b"\x01")
    return {"table_entry": client.entry("tallied", action, dst_addr=EXACT)}


def gone_action(client: Client) -> dict[str, Any]:
    action = client.action("thin_out", index=b"\x01")
    return {"table_entry": client.entry("filtered", action, dst_addr=EXACT)}


def other_parameter(client: Client) -> dict[str, Any]:
    ipv4 = {"exact": {"value": b"\x08\x00"}}
    action = client.action("to_group", group=b"\x00")
    return {"table_entry": client.entry("copied", action, ether_type=ipv4)}


def timed(client: Client) -> dict[str, Any]:
    return {"table_entry": watched(client, NEVER_NS)}


def limited(client: Client) -> dict[str, Any]:
    entry = client.entry("policed", client.action("police", value=b"\x01"), dst_addr=EXACT)
    entry.meter_config.CopyFrom(limits(client, 6400))
    return {"table_entry": entry}


def digested(client: Client) -> dict[str, Any]:
    number = client.id_of("digests", "learn")
    return {"digest_entry": client.proto.DigestEntry(digest_id=number)}


def other_default(client: Client) -> dict[str, Any]:
    entry = client.entry("forward", client.action("send", port=b"\x03"))
    entry.is_default_action = True
    return {"table_entry": entry}


def gone_default(client: Client) -> dict[str, Any]:
    entry = client.entry("prefixes", client.action("mark", value=b"\x03"))
    entry.is_default_action = True
    return {"table_entry": entry}


def far_cell(client: Client) -> dict[str, Any]:
    (found,) = registers(client, "hits", 200)
    found.data.bitstring = b"\x01"
    return {"register_entry": found}


def other_cell(client: Client) -> dict[str, Any]:
    (found,) = registers(client, "pairs", 2)
    found.data.struct.members[1].bitstring = b"\x01"
    return {"register_entry": found}


def other_unit(client: Client) -> dict[str, Any]:
    return {"meter_entry": cell(client, "pace", 2, limits(client, 3))}


def large_set(client: Client) -> dict[str, Any]:
    return {"value_set_entry": unwanted(client, b"\x86\xdd", b"\x86\xde")}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (gone_table, "has no table pipe.Ingress.prefixes, and the table has 1 entry; delete"),
        (other_key, 'has the key ["hdr.ethernet.dst_addr: ternary of 48 bits"] instead of'),
        (gone_action, "action Ingress.thin_out is none of this table's in program less"),
        (other_parameter, 'has the data [["group",8]] instead of [["group",16]]'),
        (timed, "table Ingress.watched has no idle time-out any more"),
        (limited, "it has a direct meter (bytes) that is set, and the table in program less"),
        (digested, "digest IngressDeparser.learn has another type, and is sent to clients"),
        (other_default, "table pipe.Ingress.forward, default entry: it is a constant of program"),
        (gone_default, "has no table pipe.Ingress.prefixes, and the table has another default"),
        (far_cell, "register pipe.Ingress.hits has 16 cells in program less"),
        (other_cell, "register pipe.Ingress.pairs: a cell has [32] bits in program less"),
        (other_unit, "pipe.Ingress.pace is a meter of bytes in program less instead of a meter"),
        (large_set, "pipe.IngressParser.unwanted has room for 1 entries in program less"),
    ],
)
def test_what_has_no_place_is_refused_and_nothing_changes(
    primary: Client,
    reloading: tuple[SoftswitchTarget, Server],
    revised: Programs,
    make: Callable[[Client], dict[str, Any]],
    message: str,
) -> None:
    switch, _ = reloading
    entity = make(primary)
    (kind,) = entity
    is_there = kind in ("register_entry", "meter_entry", "value_set_entry")
    is_there |= kind == "table_entry" and entity[kind].is_default_action
    insert(primary, table_entry=forward(primary))
    (modify if is_there else insert)(primary, **entity)
    before = everything(primary)
    config = primary.get_config()
    with pytest.raises(CallError) as failed:
        primary.set_config(RECONCILE, revised.config("less"))
    assert failed.value.code.name == "INVALID_ARGUMENT"
    assert message in failed.value.message
    assert failed.value.message.startswith("the forwarding state cannot be kept: ")
    assert primary.get_config() == config
    assert everything(primary) == before
    assert [port for port, _ in switch.send(1, frame())] == [2]


def test_what_has_no_state_may_go(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], revised: Programs
) -> None:
    """Counts need no place."""
    switch, _ = reloading
    insert(primary, table_entry=forward(primary))
    insert(primary, table_entry=watched(primary, 0, key(1)))
    groups = [group(primary, number) for number in (1, 2)]
    for each in groups:
        each.max_size = 2
        insert(primary, action_profile_group=each)
    set_program(primary, RECONCILE, revised.config("less"))
    assert "prefixes" not in program_of(primary)
    assert list(primary.entries("forward")) == [forward(primary)]
    assert [port for port, _ in switch.send(1, frame())] == [2]
    wanted = primary.proto.Entity(action_profile_group={})
    assert [each.action_profile_group for each in primary.read(wanted)] == groups


def test_a_group_that_has_grown_too_large_is_refused(primary: Client, revised: Programs) -> None:
    insert(primary, action_profile_group=group(primary, 1))
    with pytest.raises(CallError) as failed:
        primary.set_config(RECONCILE, revised.config("less"))
    assert failed.value.code.name == "INVALID_ARGUMENT"
    assert "$MAX_GROUP_SIZE is 4; expected 1 to 2" in failed.value.message


def test_no_packet_sees_a_half(
    primary: Client, reloading: tuple[SoftswitchTarget, Server], revised: Programs
) -> None:
    """Every frame is forwarded, and counted once, by the program before or by the one after."""
    switch, _ = reloading
    insert(primary, table_entry=forward(primary))
    traffic = Traffic(switch, 1)
    try:
        for name in ("more", "everything", "more"):
            before = counted(switch)["forwarded"]
            wait_until(lambda before=before: counted(switch)["forwarded"] > before + 100)
            set_program(primary, RECONCILE, revised.config(name))
        before = counted(switch)["forwarded"]
        wait_until(lambda: counted(switch)["forwarded"] > before + 100)
    finally:
        traffic.stop()
    wait_until(lambda: counted(switch)["forwarded"] == traffic.sent)
    assert counted(switch)["dropped"] == 0
    assert counters(primary, 0)[0].data.packet_count == traffic.sent
    (hits,) = registers(primary, "hits", 0)
    assert int.from_bytes(hits.data.bitstring, "big") == 7 + traffic.sent
    (entry,) = primary.entries("forward", counter_data={})
    assert entry.counter_data.packet_count == traffic.sent


def test_a_switch_that_is_killed_meanwhile_ends_the_call(
    build_dir: Path, revised: Programs, proto: SimpleNamespace, tmp_path: Path
) -> None:
    """The next switch is served, with the program that it was started with."""
    library = revised.library("everything")
    switch = SoftswitchTarget(build_dir / "bin" / "softswitch", library, tmp_path, PORTS)
    server = Server(
        build_dir / "bin" / "p4runtime-server",
        tmp_path,
        f"--programs={library.parent}",
        name="p4runtime-server",
    )
    client = Client(server.address, proto)
    try:
        assert client.open().arbitration.status.code == 0
        insert(client, table_entry=forward(client))
        config = client.get_config()
        switch._process.send_signal(signal.SIGSTOP)
        with ThreadPoolExecutor(1) as threads:
            setting = threads.submit(client.set_config, RECONCILE, revised.config("more"))
            switch.kill_switch()
            with pytest.raises(CallError) as failed:
                setting.result()
        assert failed.value.code.name == "UNAVAILABLE"
        assert str(tmp_path) not in failed.value.message
        switch._start()
        wait_until(lambda: server.command("stats")["program"] == "everything")
        assert client.get_config() == config
        assert list(client.entries("forward")) == []
    finally:
        client.close()
        server.close()
        switch.close()


def test_objects_keep_their_ids(
    primary: Client, compiled: Callable[[Path], Path], programs: Programs, tmp_path: Path
) -> None:
    """Clients know them by these."""
    packets = TESTS / "p4runtime" / "packets.p4"
    numbered = {"    table forward {": "    @id(0x02000042)\n    table forward {"}
    compiled(write_revision(packets, numbered, tmp_path / "numbered.p4"))
    set_program(primary, "VERIFY_AND_COMMIT", programs.config("packets"))
    old = primary.id_of("tables", "forward")
    with pytest.raises(CallError) as failed:
        primary.set_config(RECONCILE, programs.config("numbered"))
    assert failed.value.code.name == "INVALID_ARGUMENT"
    expected = f"table Ingress.forward has the id {0x02000042} instead of {old}"
    assert expected in failed.value.message


def test_what_is_written_while_source_is_compiled_is_kept(
    start_compiling: StartCompiling, waiting: SimpleNamespace, programs: Programs
) -> None:
    """The program has the same table as the one that runs."""
    it = start_compiling(waiting.translator)
    source = (TESTS / "p4runtime" / "packets.p4").read_bytes()
    config = programs.config("packets", of=source)
    with ThreadPoolExecutor(1) as threads:
        setting = threads.submit(it.client.set_config, RECONCILE, config)
        await_file(waiting.pids)
        insert(it.client, table_entry=forward(it.client))
        second = Client(it.server.address, it.client.proto)
        assert second.open(0).arbitration.status.code != 0
        with pytest.raises(CallError) as failed:
            second.set_config(RECONCILE, config)
        assert failed.value.code.name == "PERMISSION_DENIED"
        let_go(waiting, programs)
        setting.result()
    assert program_of(it.client) == {"forward"}
    assert list(second.entries("forward")) == list(it.client.entries("forward"))
    second.close()
    assert it.switch.send(1, frame()) == [(2, frame())]
