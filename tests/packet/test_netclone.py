"""NetClone, packet by packet (NetClone reference §2 to §4)."""

from __future__ import annotations

import pytest

from .frames import Packet, mac
from .netclone_frames import FIRST_PORT, REQUEST, RESPONSE, Header, header_of, request, response
from .netclone_switch import (
    CLIENT,
    HOST0,
    HOST1,
    OTHER_CLIENT,
    NetCloneSwitch,
    group_of,
    host_of,
    pairs,
)

FINGERPRINTS = 131072
LAST_SEQUENCE = 100_000_000
ALL_ONES = 0xFFFFFFFF


def to_server(packet: Packet, server: int, header: Header) -> tuple[int, bytes]:
    """What leaves of a request: only addresses, UDP checksum and these header fields change."""
    host = host_of(server)
    changed = packet.change(
        dst_mac=host.mac,
        dst_ip=host.ip,
        dst_port=FIRST_PORT + server,
        udp_checksum=0,
        payload=bytes(header) + packet.payload[28:],
    )
    return host.port, bytes(changed)


# --- Requests -------------------------------------------------------------------------------------


def test_groups_are_the_published_ones() -> None:
    assert pairs(3) == {1: (0, 1), 2: (1, 0), 3: (0, 2), 4: (2, 0), 5: (1, 2), 6: (2, 1)}
    assert len(pairs(16)) == 240


@pytest.mark.parametrize(("first", "second"), [(0, 1), (1, 0), (0, 2), (3, 2)])
def test_request_to_idle_servers_reaches_both(
    netclone: NetCloneSwitch, first: int, second: int
) -> None:
    group = group_of(first, second)
    sent = request(CLIENT, HOST0, Header(REQUEST, grp=group, sid=3, tidx=1))
    left = netclone.target.send(CLIENT.port, bytes(sent))
    header = Header(REQUEST, seq=1, grp=group, sid=second, tidx=1)
    original = to_server(sent, first, Header(**{**vars(header), "clo": 1}))
    clone = to_server(sent, second, Header(**{**vars(header), "clo": 2}))
    assert sorted(left) == sorted([original, clone])
    assert netclone.outcomes() == {"cloned": 1, "came_round": 1}


@pytest.mark.parametrize("loads", [(1, 0), (7, 7), (ALL_ONES, 0)])
def test_busy_first_server_gets_the_request_alone(
    netclone: NetCloneSwitch, loads: tuple[int, int]
) -> None:
    netclone.set_loads(dict(enumerate(loads)))
    sent = request(CLIENT, HOST0, Header(REQUEST, grp=group_of(0, 1), sid=3))
    header = Header(REQUEST, seq=1, grp=group_of(0, 1), sid=3)
    assert netclone.target.send(CLIENT.port, bytes(sent)) == [to_server(sent, 0, header)]
    assert netclone.outcomes() == {"first_busy": 1}


@pytest.mark.parametrize("racksched", [False, True])
@pytest.mark.parametrize("load", [1, ALL_ONES])
def test_busy_second_server_leaves_the_request_to_the_first(
    netclone: NetCloneSwitch, racksched: bool, load: int
) -> None:
    netclone.settings(racksched=racksched)
    netclone.set_loads({0: 0, 1: load})
    [(port, frame)] = netclone.ask(group_of(0, 1))
    assert (port, header_of(frame).clo) == (HOST0.port, 0)
    assert netclone.outcomes() == {"second_busy": 1}


@pytest.mark.parametrize(
    ("loads", "chosen", "outcome"),
    [
        ((1, 0), 1, "to_second"),
        ((2, 1), 1, "to_second"),
        ((1, 1), 0, "to_first"),
        ((1, 2), 0, "to_first"),
        ((0x80000000, 0x7FFFFFFF), 1, "to_second"),  # lengths have no sign
        ((0x7FFFFFFF, 0x80000000), 0, "to_first"),
    ],
)
def test_racksched_sends_to_the_shorter_queue(
    netclone: NetCloneSwitch, loads: tuple[int, int], chosen: int, outcome: str
) -> None:
    netclone.settings(racksched=True)
    netclone.set_loads(dict(enumerate(loads)))
    sent = request(CLIENT, HOST0, Header(REQUEST, grp=group_of(0, 1), sid=2))
    header = Header(REQUEST, seq=1, grp=group_of(0, 1), sid=2)
    assert netclone.target.send(CLIENT.port, bytes(sent)) == [to_server(sent, chosen, header)]
    assert netclone.outcomes() == {outcome: 1}


def test_racksched_clones_to_idle_servers_as_well(netclone: NetCloneSwitch) -> None:
    netclone.settings(racksched=True)
    assert [header_of(frame).clo for _, frame in netclone.ask(group_of(2, 3))] == [1, 2]
    assert netclone.outcomes() == {"cloned": 1, "came_round": 1}


def test_every_request_gets_the_next_number(netclone: NetCloneSwitch) -> None:
    netclone.set_loads({0: 1})
    numbers = [header_of(netclone.ask(group)[0][1]).seq for group in (1, 2, 3, 1, 5)]
    assert numbers == [1, 2, 3, 4, 5], "cloned or not"


def test_numbers_wrap_to_one(netclone: NetCloneSwitch) -> None:
    netclone.write("sequence.cells", {0: LAST_SEQUENCE - 2})
    numbers = [{header_of(frame).seq for _, frame in netclone.ask(1)} for _ in range(4)]
    assert numbers == [{LAST_SEQUENCE - 1}, {LAST_SEQUENCE}, {1}, {2}]


@pytest.mark.parametrize("clo", [1, 2, ALL_ONES])
def test_client_cannot_call_its_request_a_clone(netclone: NetCloneSwitch, clo: int) -> None:
    netclone.set_loads({0: 1})
    [(_, frame)] = netclone.ask(group_of(0, 1), clo=clo)
    assert header_of(frame).clo == 0
    assert [header_of(frame).clo for _, frame in netclone.ask(group_of(2, 3), clo=clo)] == [1, 2]


@pytest.mark.parametrize("group", [0, 13, 240, 256, 65537, ALL_ONES])
def test_unknown_group_is_dropped(netclone: NetCloneSwitch, group: int) -> None:
    """4 servers have groups 1 to 12; 65537 is group 1 in the 16 bits of a multicast group."""
    assert netclone.ask(group) == []
    assert netclone.outcomes() == {"unknown_group": 1}


def test_group_of_a_server_that_nobody_described_ends_in_the_switch(
    netclone: NetCloneSwitch,
) -> None:
    update = {
        "op": "insert",
        "table": "pipe.SwitchIngress.group.group",
        "key": {"group": 200},
        "action": "pair",
        "data": {"first": 9, "second": 10},
    }
    netclone.target.command("table_write", updates=[update])
    assert netclone.ask(200) == []


@pytest.mark.parametrize("port", range(FIRST_PORT, FIRST_PORT + 16))
def test_requests_are_known_by_sixteen_ports(netclone: NetCloneSwitch, port: int) -> None:
    sent = request(CLIENT, HOST0, Header(REQUEST, grp=group_of(2, 1)), udp_port=port)
    assert sorted(out for out, _ in netclone.target.send(CLIENT.port, bytes(sent))) == [1, 2]


@pytest.mark.parametrize("port", [999, 1016, 2000, 2001, 3000, 1000 + 0x1000])
def test_other_ports_are_only_forwarded(netclone: NetCloneSwitch, port: int) -> None:
    """NoClone, C-Clone and LAEDGE use ports of their own, to and from."""
    sent = request(CLIENT, HOST1, Header(REQUEST, grp=1, clo=2), udp_port=port)
    assert netclone.target.send(CLIENT.port, bytes(sent)) == [(HOST1.port, bytes(sent))]
    reply = response(HOST1, CLIENT, Header(RESPONSE, seq=9, sid=1, load=5, clo=1), udp_port=port)
    expected = reply.change(dst_mac=CLIENT.mac)
    for _ in range(2):
        assert netclone.target.send(HOST1.port, bytes(reply)) == [(CLIENT.port, bytes(expected))]
    assert netclone.outcomes() == {"other": 3}
    assert netclone.loads() == [(0, 0)] * 4
    assert netclone.read("sequence.cells", 0) == 0


# --- Responses ------------------------------------------------------------------------------------


def test_only_response_is_forwarded_and_its_load_kept(netclone: NetCloneSwitch) -> None:
    sent = netclone.answer_packet(2, seq=77, load=5)
    expected = sent.change(dst_mac=CLIENT.mac, udp_checksum=0)
    for _ in range(2):
        assert netclone.target.send(HOST0.port, bytes(sent)) == [(CLIENT.port, bytes(expected))]
    assert netclone.loads() == [(0, 0), (0, 0), (5, 5), (0, 0)]
    assert netclone.outcomes() == {"only_response": 2}
    assert netclone.read("filter_0.cells", 77) == netclone.read("filter_1.cells", 77) == 0


@pytest.mark.parametrize("table", [0, 1])
@pytest.mark.parametrize("order", [(1, 2), (2, 1)])
def test_slower_response_is_dropped_and_its_load_kept(
    netclone: NetCloneSwitch, table: int, order: tuple[int, int]
) -> None:
    seq = 3 * FINGERPRINTS + 500
    faster, slower = order
    assert [port for port, _ in netclone.answer(0, seq=seq, clo=faster, load=4, tidx=table)] == [3]
    assert netclone.read(f"filter_{table}.cells", 500) == seq
    assert netclone.read(f"filter_{1 - table}.cells", 500) == 0
    assert netclone.answer(1, seq=seq, clo=slower, load=6, tidx=table) == []
    assert netclone.read(f"filter_{table}.cells", 500) == 0
    assert netclone.loads()[:2] == [(4, 4), (6, 6)]
    assert netclone.outcomes() == {"faster": 1, "slower": 1}


def test_filter_tables_do_not_see_each_other(netclone: NetCloneSwitch) -> None:
    assert netclone.answer(0, seq=9, clo=1, tidx=0) != []
    assert netclone.answer(1, seq=9, clo=2, tidx=1) != []
    assert netclone.outcomes() == {"faster": 2}


def test_collision_lets_a_slower_response_pass_and_loses_no_faster_one(
    netclone: NetCloneSwitch,
) -> None:
    one, other = 42, 42 + FINGERPRINTS
    assert netclone.answer(0, seq=one, clo=1) != []
    assert netclone.answer(0, seq=other, clo=1) != []  # takes the place
    assert netclone.read("filter_0.cells", 42) == other
    assert netclone.answer(1, seq=one, clo=2) != []  # the redundant one: takes it back
    assert netclone.answer(1, seq=other, clo=2) != []
    assert netclone.outcomes() == {"faster": 1, "faster_overwrote": 3}


@pytest.mark.parametrize("seq", [1, FINGERPRINTS - 1, FINGERPRINTS, LAST_SEQUENCE])
def test_place_of_a_fingerprint(netclone: NetCloneSwitch, seq: int) -> None:
    netclone.answer(3, seq=seq, clo=2)
    assert netclone.read("filter_0.cells", seq % FINGERPRINTS) == seq


def test_without_the_filter_both_responses_pass(netclone: NetCloneSwitch) -> None:
    netclone.settings(filter_=False)
    for server, clo in ((0, 1), (1, 2)):
        assert len(netclone.answer(server, seq=8, clo=clo, load=server + 1)) == 1
        assert netclone.read("filter_0.cells", 8) == 0
    assert netclone.outcomes() == {"unfiltered": 2}
    assert netclone.loads()[:2] == [(1, 1), (2, 2)]


@pytest.mark.parametrize("filter_", [True, False])
@pytest.mark.parametrize("table", [2, 3, 65536, ALL_ONES])
def test_unknown_filter_table_drops_a_cloned_response(
    netclone: NetCloneSwitch, table: int, filter_: bool
) -> None:
    netclone.settings(filter_=filter_)
    assert netclone.answer(1, seq=8, clo=1, tidx=table, load=3) == []
    assert netclone.loads()[1] == (3, 3), "the server has told its load all the same"
    assert len(netclone.answer(1, seq=8, clo=0, tidx=table)) == 1
    assert netclone.outcomes() == {"unknown_table": 1, "only_response": 1}


def test_response_to_an_unknown_client_is_dropped(netclone: NetCloneSwitch) -> None:
    sent = netclone.answer_packet(1, seq=1, load=2).change(dst_ip="198.18.0.99")
    assert netclone.target.send(HOST1.port, bytes(sent)) == []
    assert netclone.outcomes() == {"no_route": 1}


def test_responses_find_their_client(netclone: NetCloneSwitch) -> None:
    [(port, frame)] = netclone.answer(0, client=OTHER_CLIENT, seq=3)
    assert (port, frame[:6]) == (OTHER_CLIENT.port, mac(OTHER_CLIENT.mac))


@pytest.mark.parametrize("port", [CLIENT.port, HOST1.port])
@pytest.mark.parametrize("clo", [0, 1])
def test_forged_response_changes_nothing(netclone: NetCloneSwitch, port: int, clo: int) -> None:
    """From a client, from the port of another server's host."""
    netclone.set_loads({0: 3})
    assert netclone.answer(0, port=port, seq=6, clo=clo, load=0) == []
    assert netclone.loads()[0] == (3, 3)
    assert netclone.read("filter_0.cells", 6) == 0
    assert netclone.outcomes() == {"forged": 1}


@pytest.mark.parametrize("sid", [1, 4, 16, 256, ALL_ONES])
def test_response_names_a_server_of_its_port(netclone: NetCloneSwitch, sid: int) -> None:
    """Server 1 is at another port; there are no others."""
    assert netclone.answer(0, sid=sid, seq=6, load=9) == []
    assert netclone.loads() == [(0, 0)] * 4
    assert netclone.outcomes() == {"forged": 1}
