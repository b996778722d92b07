"""Priority, packet by packet: where it goes, which queue it waits in, and what is counted (Homa
reference §2).
"""

from __future__ import annotations

import pytest

from .frames import TCP, Packet, mac
from .nocache_tables import CLIENT, SERVER0, SERVER1
from .priority_switch import (
    DSCP_TO_QUEUE,
    DSCPS,
    HOMA,
    QUEUED,
    ROUTES,
    PrioritySwitch,
    default_queue,
    entry,
    marked,
    route,
)
from .targets import CommandFailedError

HEADERS = 14 + 20  # bytes of Ethernet and IPv4
CHECK_SEQUENCE = 4  # at the end of a frame on the wire, which counters count
VERSION_AND_LENGTH = 14  # their place in a frame


# --- Queues ---------------------------------------------------------------------------------------


def test_every_dscp_has_homas_queue_or_the_lowest(priority: PrioritySwitch) -> None:
    found = {dscp: priority.queue_of(marked(dscp)) for dscp in range(DSCPS)}
    assert found == {dscp: HOMA.get(dscp, 0) for dscp in range(DSCPS)}


def test_every_dscp_can_have_a_queue_of_its_own(priority: PrioritySwitch) -> None:
    wanted = {dscp: (5 * dscp + dscp // 8 + 3) % 8 for dscp in range(DSCPS)}
    assert set(wanted.values()) == set(range(8))
    priority.map_dscps(wanted)
    assert {dscp: priority.queue_of(marked(dscp)) for dscp in range(DSCPS)} == wanted


@pytest.mark.parametrize("ecn", range(4))
def test_ecn_is_no_part_of_it(priority: PrioritySwitch, ecn: int) -> None:
    assert priority.queue_of(marked(48, ecn=ecn)) == 6
    assert priority.queue_of(marked(47, ecn=ecn)) == 0


def test_the_default_is_the_control_planes_matter(priority: PrioritySwitch) -> None:
    priority.write(default_queue(5))
    assert priority.queue_of(marked(1)) == 5
    assert priority.queue_of(marked(0)) == 0


def test_entries_change_while_packets_pass(priority: PrioritySwitch) -> None:
    assert priority.queue_of(marked(8)) == 1
    priority.write(entry(8, 6, "modify"))
    assert priority.queue_of(marked(8)) == 6
    priority.write({"op": "delete", "table": DSCP_TO_QUEUE, "key": {"dscp": 8}})
    assert priority.queue_of(marked(8)) == 0
    priority.write(entry(8, 2), entry(9, 3))
    assert [priority.queue_of(marked(dscp)) for dscp in (8, 9, 16)] == [2, 3, 2]
    priority.map_dscps({})
    assert {priority.queue_of(marked(dscp)) for dscp in range(DSCPS)} == {0}


@pytest.mark.parametrize(
    "wrong",
    [entry(1, 8), entry(1, 31), entry(64, 1), default_queue(8)],
    ids=["queue 8", "queue 31", "DSCP 64", "default queue 8"],
)
def test_a_queue_or_dscp_that_does_not_exist_is_refused(
    priority: PrioritySwitch, wrong: dict[str, object]
) -> None:
    with pytest.raises(CommandFailedError) as refused:
        priority.write(entry(2, 7), wrong)
    assert refused.value.code == "bad_argument"
    assert [priority.queue_of(marked(dscp)) for dscp in (1, 2)] == [0, 0]


# --- Counters -------------------------------------------------------------------------------------


def test_packets_and_bytes_of_each_queue_of_each_port(priority: PrioritySwitch) -> None:
    sent = [
        (marked(0), 3),
        (marked(56), 2),
        (marked(40, to=SERVER1), 4),
        (marked(40, to=SERVER1).change(payload=bytes(1470)), 1),
        (marked(40, to=CLIENT), 1),
        (marked(41, to=CLIENT), 5),
    ]
    for packet, times in sent:
        for _ in range(times):
            assert len(priority.send(packet)) == 1
    small = HEADERS + 8 + 7 + CHECK_SEQUENCE
    assert priority.queued() == {
        (SERVER0.port, 0): (3, 3 * small),
        (SERVER0.port, 7): (2, 2 * small),
        (SERVER1.port, 5): (5, 4 * small + HEADERS + 8 + 1470 + CHECK_SEQUENCE),
        (CLIENT.port, 5): (1, small),
        (CLIENT.port, 0): (5, 5 * small),
    }
    assert priority.outcomes() == {"forwarded": 16}
    priority.target.command("counter_clear", table=QUEUED)
    assert priority.queued() == {}


@pytest.mark.parametrize(("port", "queue"), [(0, 0), (0, 7), (127, 1), (256, 0), (511, 7)])
def test_every_port_that_the_chip_numbers_is_counted(
    priority: PrioritySwitch, port: int, queue: int
) -> None:
    """Whether a cable is in it or not."""
    priority.write(route("198.18.9.9", 32, port, SERVER1.mac))
    priority.send(marked(8 * queue).change(dst_ip="198.18.9.9"))
    assert list(priority.queued()) == [(port, queue)]


def test_what_is_dropped_is_in_no_queue(priority: PrioritySwitch) -> None:
    assert priority.send(marked(56).change(dst_ip="198.18.7.7")) == []
    assert priority.send(marked(56).change(payload=b""), CLIENT) != []
    assert priority.queued() == {(SERVER0.port, 7): (1, HEADERS + 8 + CHECK_SEQUENCE)}
    assert priority.outcomes() == {"no_route": 1, "forwarded": 1}


# --- Forwarding -----------------------------------------------------------------------------------


@pytest.mark.parametrize("dscp", [0, 1, 56])
def test_only_the_mac_address_changes(priority: PrioritySwitch, dscp: int) -> None:
    sent = marked(dscp, ecn=1).change(ttl=1, header_checksum=0x1111)
    expected = sent.change(dst_mac=SERVER0.mac)
    assert priority.send(sent) == [(SERVER0.port, bytes(expected))]


def test_longest_prefix_wins(priority: PrioritySwitch) -> None:
    priority.write(
        route("198.18.0.0", 28, CLIENT.port, CLIENT.mac),
        route("0.0.0.0", 0, SERVER0.port, SERVER0.mac),
    )

    def port_to(address: str) -> int:
        [(port, _)] = priority.send(marked(8).change(dst_ip=address), SERVER1)
        return port

    assert port_to(SERVER1.ip) == SERVER1.port  # /32
    assert port_to("198.18.0.14") == CLIENT.port  # /28
    assert port_to("8.8.8.8") == SERVER0.port  # default


def test_no_route_no_traffic(priority: PrioritySwitch) -> None:
    priority.write({"op": "clear", "table": ROUTES})
    assert priority.send(marked(8)) == []
    assert priority.outcomes() == {"no_route": 1}


@pytest.mark.parametrize(
    "change",
    [
        {"options": bytes.fromhex("94040000")},
        {"options": bytes(40)},
        {"flags_and_fragment": 0x2000},
        {"flags_and_fragment": 0x00B9, "payload": bytes(40)},
        {"protocol": TCP, "payload": bytes(40)},
        {"protocol": 146, "payload": bytes(60)},
    ],
    ids=["option", "most options", "first fragment", "later fragment", "TCP", "Homa of Linux"],
)
def test_what_follows_the_header_does_not_matter(
    priority: PrioritySwitch, change: dict[str, object]
) -> None:
    sent = marked(24).change(**change)
    expected = sent.change(dst_mac=SERVER0.mac)
    assert priority.send(sent) == [(SERVER0.port, bytes(expected))]
    assert priority.queued() == {(SERVER0.port, 3): (1, len(bytes(sent)) + CHECK_SEQUENCE)}


def test_jumbo_frame_passes_whole(priority: PrioritySwitch) -> None:
    sent = marked(56).change(payload=bytes(8000))
    assert priority.send(sent) == [(SERVER0.port, bytes(sent.change(dst_mac=SERVER0.mac)))]


# --- What is no IPv4 ------------------------------------------------------------------------------


@pytest.mark.parametrize("ether_type", ["0806", "86dd", "8100", "0000"])
def test_what_is_not_ipv4_is_dropped(priority: PrioritySwitch, ether_type: str) -> None:
    """Behind a VLAN tag (8100) there is IPv4, beside an 802.1p priority: nobody looks at it."""
    inside = bytes(Packet())[12:]
    frame = mac(SERVER0.mac) + mac(CLIENT.mac) + bytes.fromhex(ether_type) + bytes(2) + inside
    assert priority.target.send(CLIENT.port, frame) == []
    assert priority.outcomes() == {"not_ipv4": 1}
    assert priority.queued() == {}


@pytest.mark.parametrize("first", [*range(0x40, 0x45), 0x05, 0x35, 0x55, 0x65, 0xF5])
def test_wrong_version_or_header_length_is_dropped(priority: PrioritySwitch, first: int) -> None:
    frame = bytearray(bytes(marked(8)))
    frame[VERSION_AND_LENGTH] = first
    assert priority.target.send(CLIENT.port, bytes(frame)) == []
    assert priority.outcomes() == {"malformed": 1}
    assert priority.queued() == {}


def test_header_that_is_cut_off_is_dropped(priority: PrioritySwitch) -> None:
    """A live link carries no frame shorter than an Ethernet header."""
    frame = bytes(marked(8))
    for length in range(14, HEADERS):
        assert priority.target.send(CLIENT.port, frame[:length]) == [], length
    assert priority.outcomes() == {"malformed": HEADERS - 14}
    assert priority.queued() == {}
    assert priority.target.send(CLIENT.port, frame[:HEADERS]) != []
