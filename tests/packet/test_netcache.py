"""NetCache, packet by packet (docs/kvcache.md §5): only GETs hit, writes go through, servers bring
the new value.
"""

from __future__ import annotations

import struct

import pytest

from .cache_frames import (
    DELETED,
    DELREQ,
    DELREQ_SEQ,
    DELREQ_SEQ_CACHED,
    GETREQ,
    GETRES_SEQ,
    HOT_REPORT,
    LATEST,
    PUTREQ,
    PUTREQ_LARGEVALUE,
    PUTREQ_LARGEVALUE_SEQ,
    PUTREQ_LARGEVALUE_SEQ_CACHED,
    PUTREQ_SEQ,
    PUTREQ_SEQ_CACHED,
    PUTRES_SEQ,
    SUPERSEDED,
    VALUEUPDATE,
    VALUEUPDATE_ACK,
    Control,
    fragment,
    name_of,
    payload,
    value_of,
)
from .cache_switch import CPU_PORT, KEY, PARTITION, SLOT, CacheSwitch
from .frames import Packet, key_with_slot, slot_of
from .nocache_tables import CLIENT, server_of, slots

VALUE = bytes(range(100, 140))
NEW = bytes(range(200, 221))


def get(key: bytes = KEY) -> bytes:
    return payload(GETREQ, key)


def put(value: bytes = NEW) -> bytes:
    return payload(PUTREQ, KEY, value=value)


def delete() -> bytes:
    return payload(DELREQ, KEY)


def large(index: int = 0) -> bytes:
    return payload(PUTREQ_LARGEVALUE, KEY, rest=fragment(index))


def admitted(switch: CacheSwitch) -> None:
    """KEY with the record number 3 of its server."""
    switch.admit(LATEST | 3, vallen=len(VALUE), value=VALUE)
    switch.set_cell("seq.cells", 3, slot_of(KEY))
    switch.outcomes()


def update(switch: CacheSwitch, number: int, value: bytes | None = NEW) -> tuple[list, list, str]:
    """A server's value update: what left, what must come back to it, what was counted."""
    host, udp_port = server_of(PARTITION)
    stat = (0 if value is None else 1, PARTITION)
    body = payload(VALUEUPDATE, KEY, request=31, value=value or b"", seq=(number, 0), stat=stat)
    sent = Packet(
        src_mac=host.mac, dst_mac="02:00:00:00:00:ee", src_ip=host.ip, dst_ip="203.0.113.9",
        src_port=udp_port, dst_port=40000, payload=body,
    )  # fmt: skip
    back = sent.change(
        src_mac=sent.dst_mac, dst_mac=sent.src_mac, src_ip=sent.dst_ip, dst_ip=sent.src_ip,
        src_port=sent.dst_port, dst_port=sent.src_port, udp_checksum=0,
        payload=payload(VALUEUPDATE_ACK, KEY, request=31),
    )  # fmt: skip
    switch.outcomes()
    out = switch.send(host.port, sent)
    [outcome] = switch.outcomes()
    return out, [(host.port, bytes(back))], outcome


def test_get_of_an_admitted_key_is_answered(netcache: CacheSwitch) -> None:
    admitted(netcache)
    sent, out = netcache.request(get())
    assert out == netcache.at_client(sent, payload(GETRES_SEQ, KEY, value=VALUE, seq=(3, 0)))
    assert netcache.outcomes() == {"get_hit": 1}


def test_get_of_an_uncached_or_invalid_slot_goes_to_the_server(netcache: CacheSwitch) -> None:
    sent, out = netcache.request(get())
    assert out == netcache.at_server(sent, get())
    admitted(netcache)
    netcache.set_valid(0)
    netcache.outcomes()
    sent, out = netcache.request(get())
    assert out == netcache.at_server(sent, get())
    assert netcache.outcomes() == {"get_invalid": 1}


@pytest.mark.parametrize(
    ("valid", "body", "uncached", "cached", "outcome"),
    [
        (valid, body, uncached, cached, outcome)
        for valid in (None, 0, 1)
        for body, uncached, cached, outcome in [
            (put(), PUTREQ_SEQ, PUTREQ_SEQ_CACHED, "put"),
            (delete(), DELREQ_SEQ, DELREQ_SEQ_CACHED, "delete"),
            (large(), PUTREQ_LARGEVALUE_SEQ, PUTREQ_LARGEVALUE_SEQ_CACHED, "large_put"),
        ]
    ],
    ids=name_of,
)
def test_writes_go_through(
    netcache: CacheSwitch, valid: int | None, body: bytes, uncached: int, cached: int, outcome: str
) -> None:
    if valid is not None:
        admitted(netcache)
        netcache.set_valid(valid)
    netcache.set_cell("seq.cells", 40, slot_of(KEY))
    netcache.outcomes()
    sent, out = netcache.request(body)
    optype = cached if valid == 1 else uncached
    if outcome == "put":
        expected = payload(optype, KEY, value=NEW, seq=(41, 0))
    else:
        expected = payload(optype & 0xFFFE, KEY, seq=(41, 0), rest=body[22:])
    assert out == netcache.at_server(sent, expected)
    suffix = {None: "uncached", 0: "invalid", 1: "cached"}[valid]
    assert netcache.outcomes() == {f"{outcome}_{suffix}": 1}
    if valid == 1:
        assert netcache.cell("slot_seq.cells") == SUPERSEDED | 41
        sent, out = netcache.request(get())
        assert out == netcache.at_server(sent, get())
        assert netcache.outcomes() == {"get_superseded": 1}
    elif valid == 0:
        assert netcache.cell("slot_seq.cells") == LATEST | 3


@pytest.mark.parametrize("value", [b"", b"1", NEW, bytes(range(128)), None])
def test_update_of_the_last_write_makes_the_slot_latest(
    netcache: CacheSwitch, value: bytes | None
) -> None:
    admitted(netcache)
    netcache.request(put())
    out, acknowledgement, outcome = update(netcache, 4, value)
    assert (out, outcome) == (acknowledgement, "fill_taken")
    assert netcache.cell("slot_seq.cells") == LATEST | 4
    assert netcache.cell("vallen.cells") == (DELETED if value is None else len(value))
    sent, out = netcache.request(get())
    stat = (0 if value is None else 1, 0xFFFF)
    body = payload(GETRES_SEQ, KEY, value=value or b"", seq=(4, 0), stat=stat)
    assert out == netcache.at_client(sent, body)


def refused(switch: CacheSwitch, number: int) -> None:
    before = switch.cell("slot_seq.cells")
    length = switch.cell("vallen.cells")
    out, acknowledgement, outcome = update(switch, number)
    assert (out, outcome) == (acknowledgement, "fill_refused")  # or the server would go on for ever
    assert switch.cell("slot_seq.cells") == before
    assert switch.cell("vallen.cells") == length


def test_update_of_an_earlier_write_is_refused(netcache: CacheSwitch) -> None:
    """Hole (c): PUT 4 and PUT 5 have passed; the update of 4 must not make the slot latest."""
    admitted(netcache)
    netcache.request(put())
    netcache.request(put(VALUE))
    refused(netcache, 4)
    refused(netcache, 6)
    sent, out = netcache.request(get())
    assert out == netcache.at_server(sent, get())
    assert update(netcache, 5, VALUE)[2] == "fill_taken"
    refused(netcache, 5)  # its second copy


def test_update_after_eviction_and_new_admission_is_refused(netcache: CacheSwitch) -> None:
    """Hole (d): the slot has a record of the new admission, whatever the number of the update."""
    admitted(netcache)
    netcache.request(put())
    netcache.set_valid(0)
    refused(netcache, 4)
    netcache.forget()
    refused(netcache, 4)
    other = key_with_slot(slots(PARTITION)[0] + 9)
    netcache.admit(LATEST | 4, key=other, vallen=8, value=b"8 bytes.")
    refused(netcache, 4)
    netcache.admit(LATEST | 4, vallen=8, value=b"8 bytes.")
    refused(netcache, 4)


def test_update_with_a_state_in_its_number_is_refused(netcache: CacheSwitch) -> None:
    admitted(netcache)
    netcache.request(put())
    for number in (SUPERSEDED | 4, 0x40000004, 0x80000004):
        refused(netcache, number)


def test_large_write_leaves_the_slot_to_the_server(netcache: CacheSwitch) -> None:
    admitted(netcache)
    netcache.request(put())
    netcache.request(large())
    refused(netcache, 4)
    sent, out = netcache.request(large(1))
    assert out == netcache.at_server(sent, large(1))


def test_answers_of_servers_pass(netcache: CacheSwitch) -> None:
    body = payload(PUTRES_SEQ, KEY, seq=(3, 0), stat=(1, PARTITION))
    out, received = netcache.from_server(body)
    assert out == [(CLIENT.port, bytes(received))]


# --- Hot keys -------------------------------------------------------------------------------------


def test_hot_key_is_reported_once_per_period(netcache: CacheSwitch) -> None:
    netcache.sample()
    netcache.hot_threshold(2)
    for _ in range(2):
        sent, out = netcache.request(get())
        assert out == netcache.at_server(sent, get())
    sent, out = netcache.request(get())
    report = Control(HOT_REPORT, 0, KEY, egress_port=0, request=7, dst_mac="02:00:00:00:00:52",
                     src_mac=sent.src_mac)  # fmt: skip
    assert sorted(out) == sorted([*netcache.at_server(sent, get()), (CPU_PORT, bytes(report))])
    sent, out = netcache.request(get())
    assert out == netcache.at_server(sent, get())
    assert netcache.outcomes() == {"get_uncached": 3, "get_hot": 1}
    for row in range(3):
        netcache.target.command("register_clear", table=f"bloom_filter.row_{row}.cells")
    assert CPU_PORT in [port for port, _ in netcache.request(get())[1]]


def test_other_hot_keys_are_reported_too(netcache: CacheSwitch) -> None:
    netcache.sample()
    netcache.hot_threshold(0)
    for number in range(30):
        key = bytes(12) + struct.pack(">I", 7919 * number)
        out = netcache.request(get(key))[1]
        [report] = [frame for port, frame in out if port == CPU_PORT]
        assert report[26:42] == key


def test_only_gets_count(netcache: CacheSwitch) -> None:
    netcache.sample()
    admitted(netcache)
    netcache.request(get())
    for body in (put(), delete(), large(), get()):  # the last one misses
        netcache.request(body)
    assert netcache.cell("frequency.cells") == 1
    netcache.forget()
    netcache.request(put())
    for row in range(4):
        cells = netcache.target.command("register_read", table=f"sketch.row_{row}.cells")["values"]
        assert max(cells) == 0


# --- Control frames -------------------------------------------------------------------------------


def test_load_shows_the_slot(netcache: CacheSwitch) -> None:
    admitted(netcache)
    answer = netcache.load()
    assert value_of(answer)[-40:] == VALUE
    assert struct.unpack(">H", answer[46:48]) == (len(VALUE),)
    assert struct.unpack(">I", answer[-8:-4]) == (LATEST | 3,)
    assert answer[15] == 1  # valid
    assert struct.unpack(">H", answer[18:20]) == (SLOT,)
