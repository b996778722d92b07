"""NetClone and what nobody should send it, and what is not for it."""

from __future__ import annotations

import struct

import pytest

from .frames import TCP, Packet, mac
from .netclone_frames import (
    CLIENT_PORT,
    FIRST_PORT,
    REQUEST,
    RESPONSE,
    TRAILER,
    Header,
    request,
    response,
)
from .netclone_switch import CLIENT, HOST0, HOST1, SERVERS, NetCloneSwitch

UDP_LENGTH = 14 + 20 + 4  # its place in a frame
WHOLE = 14 + 20 + 8 + 28  # bytes of all headers


def frames(netclone: NetCloneSwitch) -> dict[str, tuple[int, bytes]]:
    """Of each kind: its port and the frame."""
    ask = request(CLIENT, HOST0, Header(REQUEST, grp=1))
    told = {"seq": 9, "clo": 1, "load": 3}
    return {
        "request": (CLIENT.port, bytes(ask)),
        "response": (HOST0.port, bytes(netclone.answer_packet(0, **told))),
    }


def with_udp_length(frame: bytes, length: int) -> bytes:
    return frame[:UDP_LENGTH] + struct.pack(">H", length) + frame[UDP_LENGTH + 2 :]


def assert_untouched(netclone: NetCloneSwitch) -> None:
    assert netclone.loads() == [(0, 0)] * SERVERS
    assert netclone.read("sequence.cells", 0) == 0
    assert netclone.read("filter_0.cells", 9) == 0


@pytest.mark.parametrize("kind", ["request", "response"])
def test_truncated_frame_is_dropped_and_changes_nothing(
    netclone: NetCloneSwitch, kind: str
) -> None:
    """A live link carries nothing shorter than an Ethernet header."""
    port, frame = frames(netclone)[kind]
    for length in range(14, WHOLE):
        assert netclone.target.send(port, frame[:length]) == [], length
    assert netclone.outcomes() == {"malformed": WHOLE - 14}
    assert_untouched(netclone)
    assert netclone.target.send(port, frame[:WHOLE]) != []


@pytest.mark.parametrize("kind", ["request", "response"])
@pytest.mark.parametrize("length", [0, 8, 31, 32, 35])
def test_length_without_room_for_the_header_is_dropped(
    netclone: NetCloneSwitch, kind: str, length: int
) -> None:
    port, frame = frames(netclone)[kind]
    assert netclone.target.send(port, with_udp_length(frame, length)) == []
    assert netclone.outcomes() == {"malformed": 1}
    assert_untouched(netclone)


@pytest.mark.parametrize("length", [36, 60, 0x1000, 0xFFFF])
def test_length_with_room_for_the_header_passes(netclone: NetCloneSwitch, length: int) -> None:
    port, frame = frames(netclone)["request"]
    assert len(netclone.target.send(port, with_udp_length(frame, length))) == 2


@pytest.mark.parametrize("change", [{"flags_and_fragment": 0x00B9}, {"options": bytes(8)}])
def test_udp_whose_ports_cannot_be_read_is_dropped(
    netclone: NetCloneSwitch, change: dict[str, object]
) -> None:
    sent = request(CLIENT, HOST0, Header(REQUEST, grp=1)).change(**change)
    assert netclone.target.send(CLIENT.port, bytes(sent)) == []
    assert netclone.outcomes() == {"malformed": 1}


@pytest.mark.parametrize("op", [1, 2, 3, 256, 0x10000, 0x80000000, 0xFFFFFFFF])
def test_only_requests_go_to_a_port_of_netclone(netclone: NetCloneSwitch, op: int) -> None:
    sent = request(CLIENT, HOST0, Header(op, grp=1))
    assert netclone.target.send(CLIENT.port, bytes(sent)) == []
    assert netclone.outcomes() == {"unknown_operation": 1}
    assert_untouched(netclone)


@pytest.mark.parametrize("op", [0, 2, 256, 0x01000000, 0x80000001, 0xFFFFFFFF])
def test_only_responses_come_from_one(netclone: NetCloneSwitch, op: int) -> None:
    sent = response(HOST0, CLIENT, Header(op, seq=9, load=4, clo=1), FIRST_PORT)
    assert netclone.target.send(HOST0.port, bytes(sent)) == []
    assert netclone.outcomes() == {"unknown_operation": 1}
    assert_untouched(netclone)


def test_client_must_not_have_a_port_of_netclone(netclone: NetCloneSwitch) -> None:
    """A response to it would look like a request."""
    sent = response(HOST0, CLIENT, Header(RESPONSE), FIRST_PORT).change(dst_port=1005)
    assert netclone.target.send(HOST0.port, bytes(sent)) == []
    assert netclone.outcomes() == {"unknown_operation": 1}


@pytest.mark.parametrize("ether_type", ["0806", "86dd", "88b5"])
def test_what_is_not_ipv4_is_dropped(netclone: NetCloneSwitch, ether_type: str) -> None:
    frame = mac(HOST0.mac) + mac(CLIENT.mac) + bytes.fromhex(ether_type) + bytes(60)
    assert netclone.target.send(CLIENT.port, frame) == []
    assert netclone.outcomes() == {"not_ipv4": 1}


@pytest.mark.parametrize("ports", [(CLIENT_PORT, FIRST_PORT), (FIRST_PORT, CLIENT_PORT)])
def test_tcp_is_only_forwarded(netclone: NetCloneSwitch, ports: tuple[int, int]) -> None:
    body = struct.pack(">HH", *ports) + bytes(Header(REQUEST, grp=1)) + TRAILER
    sent = Packet(protocol=TCP, dst_ip=HOST1.ip, dst_mac="02:00:00:00:00:ee", payload=body)
    expected = sent.change(dst_mac=HOST1.mac)
    assert netclone.target.send(CLIENT.port, bytes(sent)) == [(HOST1.port, bytes(expected))]
    assert netclone.outcomes() == {"other": 1}


def test_what_has_no_route_is_dropped(netclone: NetCloneSwitch) -> None:
    sent = Packet(dst_ip="198.18.7.7", dst_port=2000, payload=bytes(52))
    assert netclone.target.send(CLIENT.port, bytes(sent)) == []
    assert netclone.outcomes() == {"no_route": 1}


def test_wrong_ipv4_checksum_stays_where_no_address_changes(netclone: NetCloneSwitch) -> None:
    sent = netclone.answer_packet(0, seq=1).change(header_checksum=0x1111)
    [(_, received)] = netclone.target.send(HOST0.port, bytes(sent))
    assert received == bytes(sent.change(dst_mac=CLIENT.mac, udp_checksum=0))


def test_long_frame_is_cloned_whole(netclone: NetCloneSwitch) -> None:
    more = bytes(range(256)) * 30
    sent = request(CLIENT, HOST0, Header(REQUEST, grp=1))
    left = netclone.target.send(CLIENT.port, bytes(sent.change(payload=sent.payload + more)))
    assert [frame.endswith(TRAILER + more) for _, frame in left] == [True, True]
