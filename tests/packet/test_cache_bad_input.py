"""What no well-behaved host sends: dropped, counted, without a trace in registers; both caches."""

from __future__ import annotations

import random
import struct

import pytest

from .cache_frames import (
    ADMIT,
    ADMITTED,
    CASE1,
    DELETE_AT_SERVER,
    DELREQ_SEQ_CACHED,
    DELRES_SEQ,
    GETREQ,
    GETREQ_BEINGEVICTED_RECORD,
    GETREQ_LARGEVALUEBLOCK_RECORD,
    GETREQ_NLATEST,
    GETREQ_POP,
    GETRES_DELETED_SEQ,
    GETRES_LATEST_SEQ,
    GETRES_SEQ,
    HOT_PUT_AT_SERVER,
    HOT_REPORT,
    LARGE_PUT_AT_SERVER,
    LATEST,
    LOAD,
    PUT_AT_SERVER,
    PUTREQ,
    PUTREQ_LARGEVALUE,
    PUTREQ_LARGEVALUE_SEQ_CACHED,
    PUTREQ_SEQ,
    PUTREQ_SEQ_CACHED,
    PUTRES_SEQ,
    SET_VALID,
    VALUEUPDATE,
    VALUEUPDATE_ACK,
    Control,
    fragment,
    padded,
    payload,
    value_of,
)
from .cache_switch import (
    CPU_PORT,
    KEY,
    NO_SESSION,
    PARTITION,
    SLOT,
    STRANGER_IP,
    CacheSwitch,
)
from .frames import Packet, slot_of
from .nocache_tables import (
    CLIENT,
    FORGED,
    MALFORMED,
    NO_ROUTE,
    SERVER0,
    SERVER1,
    UNKNOWN_OPERATION,
    server_of,
)

VALUE = bytes(range(100, 140))


@pytest.fixture
def switch(any_cache: CacheSwitch) -> CacheSwitch:
    """KEY is cached, its slot has VALUE with number 3."""
    any_cache.admit(LATEST | 3, vallen=len(VALUE), value=VALUE)
    any_cache.outcomes()
    any_cache.drops()
    return any_cache


def registers(switch: CacheSwitch) -> list[int]:
    """The cells that KEY leads to."""
    names = ("valid", "slot_seq", "vallen", "value_22", "value_31", "frequency")
    return [switch.cell("seq.cells", slot_of(KEY)), *(switch.cell(f"{n}.cells") for n in names)]


def dropped(switch: CacheSwitch, port: int, frame: object) -> None:
    before = registers(switch)
    assert switch.send(port, frame) == []  # type: ignore[arg-type]
    assert registers(switch) == before


@pytest.mark.parametrize("port", [CLIENT.port, SERVER0.port, SERVER1.port])
@pytest.mark.parametrize("operation", [SET_VALID, ADMIT, LOAD, CASE1, HOT_REPORT])
def test_control_frames_from_the_data_network_are_forged(
    switch: CacheSwitch, port: int, operation: int
) -> None:
    dropped(switch, port, Control(operation, SLOT, KEY, valid=0, vallen=8, value=b"forgery!"))
    assert switch.drops() == {FORGED: 1}


@pytest.mark.parametrize("operation", [0, CASE1, HOT_REPORT, 6, 0x83, 0xFF])
def test_unknown_control_operations(switch: CacheSwitch, operation: int) -> None:
    dropped(switch, CPU_PORT, Control(operation, SLOT, KEY))
    assert switch.drops() == {FORGED: 1}


@pytest.mark.parametrize("slot", [0x8000, 0x8000 + SLOT, 0xFFFF])
def test_control_frames_name_existing_slots(switch: CacheSwitch, slot: int) -> None:
    dropped(switch, CPU_PORT, Control(SET_VALID, slot, KEY, valid=0))
    assert switch.drops() == {FORGED: 1}


def test_control_frames_that_are_cut_off(switch: CacheSwitch) -> None:
    frame = bytes(Control(ADMIT, SLOT, KEY, vallen=8, value=b"cut off."))
    for length in range(14, len(frame)):
        dropped(switch, CPU_PORT, frame[:length])
    in_ingress, in_egress = switch.drops(), switch.outcomes()
    assert in_ingress == {MALFORMED: 10}  # the first header is read there
    assert in_egress == {"malformed": len(frame) - 24}


@pytest.mark.parametrize(
    "optype", [0x0000, 0x0310, 0x0002, PUTREQ_SEQ, 0x0010, 0x0050, 0x00A2, 0x006B, 0x0190, 0xFFFF]
)
def test_unknown_requests(switch: CacheSwitch, optype: int) -> None:
    """Loading and warming up are not for the data network, numbers are the switch's."""
    dropped(switch, CLIENT.port, Packet(payload=payload(optype, KEY)))
    assert switch.drops() == {UNKNOWN_OPERATION: 1}


@pytest.mark.parametrize("optype", [GETREQ, PUTREQ, 0x0009, 0x0008, 0x0018, 0x0060, 0x0190])
def test_unknown_answers(switch: CacheSwitch, optype: int) -> None:
    host, udp_port = server_of(PARTITION)
    sent = Packet(src_ip=host.ip, dst_ip=CLIENT.ip, src_port=udp_port, dst_port=40000,
                  payload=payload(optype, KEY))  # fmt: skip
    dropped(switch, host.port, sent)
    assert switch.drops() == {UNKNOWN_OPERATION: 1}


# What only switch and servers say to each other (kvcache.md §3).
BETWEEN_SWITCH_AND_SERVER = [
    *PUT_AT_SERVER, *DELETE_AT_SERVER, *LARGE_PUT_AT_SERVER, *HOT_PUT_AT_SERVER,
    GETREQ_POP, GETREQ_NLATEST, GETREQ_BEINGEVICTED_RECORD, GETREQ_LARGEVALUEBLOCK_RECORD,
    PUTREQ_SEQ_CACHED, DELREQ_SEQ_CACHED, PUTREQ_LARGEVALUE_SEQ_CACHED,
    GETRES_LATEST_SEQ, GETRES_DELETED_SEQ, GETRES_SEQ, PUTRES_SEQ, DELRES_SEQ, VALUEUPDATE,
    VALUEUPDATE_ACK,
]  # fmt: skip


@pytest.mark.parametrize("optype", BETWEEN_SWITCH_AND_SERVER, ids=hex)
def test_clients_cannot_speak_as_the_switch(switch: CacheSwitch, optype: int) -> None:
    """With the number of the slot's record, and one that would be newer than all."""
    for number in (3, 0x3FFFFFFF):
        body = payload(optype, KEY, value=b"forgery!", seq=(number, LATEST | 3))
        dropped(switch, CLIENT.port, Packet(payload=body))
    assert switch.drops() == {UNKNOWN_OPERATION: 2}


@pytest.mark.parametrize("size", [0, 8, 15, 17, 24, 32])
@pytest.mark.parametrize("optype", [GETREQ, PUTREQ, 0x0040])
def test_keys_of_other_sizes(switch: CacheSwitch, size: int, optype: int) -> None:
    key = (KEY + KEY)[-size:] if size else b""
    dropped(switch, CLIENT.port, Packet(payload=payload(optype, key, value=VALUE)))
    assert switch.drops() == {MALFORMED: 1}


@pytest.mark.parametrize("vallen", [129, 136, 0x8000, 0xFFFF])
def test_values_longer_than_a_slot(switch: CacheSwitch, vallen: int) -> None:
    body = payload(PUTREQ, KEY, value=bytes(min(vallen, 1400)))
    body = body[:22] + struct.pack(">H", vallen) + body[24:]
    dropped(switch, CLIENT.port, Packet(payload=body))
    assert switch.drops() == {MALFORMED: 1}


@pytest.mark.parametrize("vallen", [0, 8, 9, 128])
@pytest.mark.parametrize("wrong", [-8, -1, 1, 8])
def test_value_and_length_disagree(switch: CacheSwitch, vallen: int, wrong: int) -> None:
    good = payload(PUTREQ, KEY, value=bytes(vallen))
    body = good + bytes(wrong) if wrong > 0 else good[:wrong]
    dropped(switch, CLIENT.port, Packet(payload=body))
    assert switch.drops() == {MALFORMED: 1}


@pytest.mark.parametrize("optype", [GETREQ, 0x0040])
@pytest.mark.parametrize("rest", [b"x", bytes(8), bytes(100)])
def test_requests_without_a_value_have_one_length(
    switch: CacheSwitch, optype: int, rest: bytes
) -> None:
    dropped(switch, CLIENT.port, Packet(payload=payload(optype, KEY, rest=rest)))
    assert switch.drops() == {MALFORMED: 1}


def test_ipv4_length_that_does_not_fit_udp(switch: CacheSwitch) -> None:
    frame = bytearray(bytes(Packet(payload=payload(PUTREQ, KEY, value=VALUE))))
    frame[17] += 4
    dropped(switch, CLIENT.port, frame)
    assert switch.drops() == {MALFORMED: 1}


@pytest.mark.parametrize(
    "body",
    [payload(PUTREQ, KEY, value=VALUE), payload(PUTREQ, KEY, value=b""), payload(GETREQ, KEY),
     payload(PUTREQ_LARGEVALUE, KEY, rest=fragment(0))],
    ids=["put", "put of nothing", "get", "large put"],
)  # fmt: skip
def test_requests_that_are_cut_off(switch: CacheSwitch, body: bytes) -> None:
    """At every byte: the lengths say more than the frame has."""
    frame = bytes(Packet(payload=body))
    end = 14 + 20 + 8 + 32 if body[:2] == b"\x02\xd0" else len(frame)
    for length in range(14, end):
        dropped(switch, CLIENT.port, frame[:length])
    counted = switch.drops().get(MALFORMED, 0) + switch.outcomes().get("malformed", 0)
    assert counted == end - 14


def test_shadow_of_a_put_must_say_put(switch: CacheSwitch) -> None:
    body = payload(PUTREQ, KEY, value=VALUE)[:-2] + struct.pack(">H", PUTREQ_SEQ)
    dropped(switch, CLIENT.port, Packet(payload=body))
    assert switch.outcomes() == {"malformed": 1}


def test_client_without_a_session(switch: CacheSwitch) -> None:
    for body in (payload(GETREQ, KEY), payload(PUTREQ, KEY, value=VALUE)):
        dropped(switch, CLIENT.port, Packet(src_ip=STRANGER_IP, payload=body))
    assert switch.drops() == {NO_SESSION: 2}


def test_answer_with_the_wrong_length_fills_nothing(switch: CacheSwitch) -> None:
    host, udp_port = server_of(PARTITION)
    for optype in (GETRES_LATEST_SEQ, VALUEUPDATE):
        body = payload(optype, KEY, value=VALUE, seq=(9, ADMITTED), stat=(1, PARTITION))
        sent = Packet(src_ip=host.ip, dst_ip=CLIENT.ip, src_port=udp_port, dst_port=40000,
                      payload=body + b"x")  # fmt: skip
        dropped(switch, host.port, sent)
    verdicts = switch.drops()
    assert verdicts == {MALFORMED: 1, UNKNOWN_OPERATION: 1}  # each program knows one of the two


def test_answer_to_nowhere(switch: CacheSwitch) -> None:
    host, udp_port = server_of(PARTITION)
    body = payload(0x000A, KEY, seq=(3, 0))
    sent = Packet(src_ip=host.ip, dst_ip="203.0.113.9", src_port=udp_port, dst_port=40000,
                  payload=body)  # fmt: skip
    dropped(switch, host.port, sent)
    assert switch.drops() == {NO_ROUTE: 1}


def test_noise(switch: CacheSwitch) -> None:
    """Good frames with some bytes changed, and noise: nothing leaves that is longer than a record's
    answer would be, and the switch goes on."""
    chooser = random.Random(11)
    good = [
        bytes(Packet(payload=payload(GETREQ, KEY))),
        bytes(Packet(payload=payload(PUTREQ, KEY, value=VALUE))),
        bytes(Packet(payload=payload(PUTREQ_LARGEVALUE, KEY, rest=fragment(0)))),
        bytes(Control(ADMIT, SLOT, KEY)),
    ]
    for number in range(300):
        frame = bytearray(chooser.choice(good))
        for _ in range(chooser.randrange(1, 6)):
            frame[chooser.randrange(12, len(frame))] = chooser.randrange(256)
        if number % 5 == 0:
            frame = bytearray(chooser.randbytes(chooser.randrange(14, 2000)))
        for _, out in switch.send(CLIENT.port, bytes(frame)):
            assert len(out) <= len(frame) + 14 + 2 + len(padded(VALUE)) + 128
    assert value_of(switch.load()) is not None
