"""FarReach, packet by packet: every row of the decisions of docs/kvcache.md §4, and what its
registers then hold.

Expected packets are put together from the formats of §3, numbers and states from §2 and §4.
"""

from __future__ import annotations

import struct

import pytest

from .cache_frames import (
    ADMITTED,
    CASE1,
    DELETE_AT_SERVER,
    DELETED,
    DELREQ,
    DELRES_SEQ,
    GETREQ,
    GETREQ_BEINGEVICTED_RECORD,
    GETREQ_LARGEVALUEBLOCK_RECORD,
    GETREQ_NLATEST,
    GETREQ_POP,
    GETRES_DELETED_SEQ,
    GETRES_LARGEVALUE_SEQ,
    GETRES_LATEST_SEQ,
    GETRES_SEQ,
    HOT_PUT_AT_SERVER,
    LARGE_PUT_AT_SERVER,
    LATEST,
    PUT_AT_SERVER,
    PUTREQ,
    PUTREQ_LARGEVALUE,
    PUTRES_SEQ,
    SUPERSEDED,
    Control,
    fragment,
    name_of,
    payload,
    value_of,
)
from .cache_switch import CPU_PORT, KEY, OTHER_CLIENT, PARTITION, SLOT, CacheSwitch
from .frames import Packet, key_with_slot, slot_of
from .nocache_tables import CLIENT, SERVER0, slots

VALUE = bytes(range(100, 140))  # 40 bytes
NEW = bytes(range(200, 221))  # 21 bytes: 3 bytes of padding
TOKEN = 9
LARGEST_NUMBER = 2**30 - 1


def get(key: bytes = KEY) -> bytes:
    return payload(GETREQ, key)


def put(value: bytes = NEW, key: bytes = KEY) -> bytes:
    return payload(PUTREQ, key, value=value)


def delete() -> bytes:
    return payload(DELREQ, KEY)


def large(index: int = 0) -> bytes:
    return payload(PUTREQ_LARGEVALUE, KEY, rest=fragment(index))


def latest(switch: CacheSwitch, value: bytes = VALUE) -> None:
    """KEY in the slot, with `value` as write number 1."""
    switch.admit(ADMITTED | 5)
    switch.request(put(value))
    switch.outcomes()


def superseded(switch: CacheSwitch) -> None:
    """As `latest`, and large PUT number 2 has gone to the server."""
    latest(switch)
    switch.request(large())
    switch.outcomes()


# --- GET ------------------------------------------------------------------------------------------


def test_get_of_an_uncached_key_goes_to_its_server(farreach: CacheSwitch) -> None:
    sent, out = farreach.request(get())
    assert out == farreach.at_server(sent, get())
    assert farreach.outcomes() == {"get_uncached": 1}


def test_get_of_a_slot_that_is_not_valid_goes_to_the_server(farreach: CacheSwitch) -> None:
    latest(farreach)
    farreach.set_valid(0)
    sent, out = farreach.request(get())
    assert out == farreach.at_server(sent, get())
    assert farreach.outcomes() == {"get_invalid": 1, "control": 1}


@pytest.mark.parametrize("length", range(129))
def test_value_written_by_a_client_comes_back_byte_for_byte(
    farreach: CacheSwitch, length: int
) -> None:
    value = bytes((7 * length + i) % 255 + 1 for i in range(length))
    latest(farreach, bytes([0xEE]) * 128)
    sent, out = farreach.request(put(value))
    assert out == farreach.at_client(sent, payload(PUTRES_SEQ, KEY, seq=(2, 0)))
    sent, out = farreach.request(get(), OTHER_CLIENT)
    body = payload(GETRES_SEQ, KEY, value=value, seq=(2, 0))
    assert out == farreach.at_client(sent, body, OTHER_CLIENT)
    assert farreach.outcomes() == {"put_hit": 1, "get_hit": 1}


@pytest.mark.parametrize("valid", [1, 3])
def test_latest_slot_answers_while_being_evicted_too(farreach: CacheSwitch, valid: int) -> None:
    latest(farreach)
    farreach.set_valid(valid)
    sent, out = farreach.request(get())
    assert out == farreach.at_client(sent, payload(GETRES_SEQ, KEY, value=VALUE, seq=(1, 0)))


def test_deleted_record_is_answered_as_absent(farreach: CacheSwitch) -> None:
    latest(farreach)
    sent, out = farreach.request(delete())
    assert out == farreach.at_client(sent, payload(DELRES_SEQ, KEY, seq=(2, 0)))
    sent, out = farreach.request(get())
    assert out == farreach.at_client(sent, payload(GETRES_SEQ, KEY, seq=(2, 0), stat=(0, 0xFFFF)))
    assert farreach.cell("vallen.cells") == DELETED
    assert farreach.outcomes() == {"delete_hit": 1, "get_hit": 1}


def test_get_of_an_admitted_slot_takes_the_cell_to_the_server(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5)
    sent, out = farreach.request(get())
    body = payload(GETREQ_NLATEST, KEY, seq=(0, ADMITTED | 5))
    assert out == farreach.at_server(sent, body)
    assert farreach.cell("slot_seq.cells") == ADMITTED | 5
    assert farreach.outcomes() == {"get_admitted": 1, "control": 2}


def test_get_of_an_admitted_slot_being_evicted_needs_no_record(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5)
    farreach.set_valid(3)
    sent, out = farreach.request(get())
    assert out == farreach.at_server(sent, get())


@pytest.mark.parametrize(
    ("valid", "optype", "outcome"),
    [
        (1, GETREQ_LARGEVALUEBLOCK_RECORD, "get_superseded"),
        (3, GETREQ_BEINGEVICTED_RECORD, "get_being_evicted"),
    ],
)
def test_superseded_slot_sends_its_record_along(
    farreach: CacheSwitch, valid: int, optype: int, outcome: str
) -> None:
    superseded(farreach)
    farreach.set_valid(valid)
    farreach.outcomes()
    sent, out = farreach.request(get())
    assert out == farreach.at_server(sent, payload(optype, KEY, value=VALUE, seq=(1, 0)))
    assert farreach.outcomes() == {outcome: 1}


@pytest.mark.parametrize(
    ("valid", "optype"), [(1, GETREQ_LARGEVALUEBLOCK_RECORD), (3, GETREQ_BEINGEVICTED_RECORD)]
)
def test_record_sent_along_carries_the_snapshot_as_writes_do(
    farreach: CacheSwitch, valid: int, optype: int
) -> None:
    """Its server stores it: if it lies behind the point, not before the server's snapshot."""
    superseded(farreach)
    farreach.set_valid(valid)
    for token in (TOKEN, None, TOKEN + 1):
        farreach.snapshot(token)
        sent, out = farreach.request(get())
        body = payload(optype, KEY, value=VALUE, seq=(1, token or 0))
        assert out == farreach.at_server(sent, body)
    farreach.snapshot(None)


@pytest.mark.parametrize("valid", [1, 3])
def test_clients_see_no_snapshot(farreach: CacheSwitch, valid: int) -> None:
    latest(farreach)
    farreach.set_valid(valid)
    farreach.snapshot(TOKEN)
    sent, out = farreach.request(get())
    farreach.snapshot(None)
    assert out == farreach.at_client(sent, payload(GETRES_SEQ, KEY, value=VALUE, seq=(1, 0)))


def test_superseded_delete_is_sent_along_as_absent(farreach: CacheSwitch) -> None:
    latest(farreach)
    farreach.request(delete())
    farreach.request(large())
    sent, out = farreach.request(get())
    body = payload(GETREQ_LARGEVALUEBLOCK_RECORD, KEY, seq=(2, 0), stat=(0, 0xFFFF))
    assert out == farreach.at_server(sent, body)


# --- PUT, DEL, large PUT --------------------------------------------------------------------------


def write_rows() -> list:
    """(state of the slot, snapshot) x (request, types at the server, outcome)."""
    rows = []
    for state in ("uncached", "invalid", "being_evicted"):
        for in_snapshot in (False, True):
            variant = 2 * (state == "being_evicted") + in_snapshot
            rows += [
                (state, in_snapshot, put(), PUT_AT_SERVER[variant], f"put_{state}"),
                (state, in_snapshot, delete(), DELETE_AT_SERVER[variant], f"delete_{state}"),
                (state, in_snapshot, large(), LARGE_PUT_AT_SERVER[variant], f"large_put_{state}"),
            ]
    for in_snapshot in (False, True):
        row = LARGE_PUT_AT_SERVER[in_snapshot]
        rows.append(("cached", in_snapshot, large(), row, "large_put_cached"))
    return rows


def server_form(body: bytes, optype: int, number: int, token: int) -> bytes:
    """A write as its server gets it: shadow and seq go behind the value, or the request."""
    if body[:2] == struct.pack(">H", PUTREQ):
        return payload(optype, KEY, value=NEW, seq=(number, token))
    return payload(optype & 0xFFFE, KEY, seq=(number, token), rest=body[22:])


@pytest.mark.parametrize(
    ("state", "in_snapshot", "body", "optype", "outcome"), write_rows(), ids=name_of
)
def test_write_that_goes_to_the_server(
    farreach: CacheSwitch, state: str, in_snapshot: bool, body: bytes, optype: int, outcome: str
) -> None:
    if state != "uncached":
        latest(farreach)
        farreach.set_valid({"invalid": 0, "being_evicted": 3, "cached": 1}[state])
    farreach.set_cell("seq.cells", 40, slot_of(KEY))
    if in_snapshot:
        farreach.snapshot(TOKEN)
    farreach.outcomes()
    sent, out = farreach.request(body)
    farreach.snapshot(None)
    token = TOKEN if in_snapshot else 0
    assert out == farreach.at_server(sent, server_form(body, optype, 41, token))
    assert farreach.outcomes() == {outcome + "+case3" * in_snapshot: 1}
    touched = state in ("being_evicted", "cached")
    assert farreach.cell("slot_seq.cells") == {
        "uncached": 0, "invalid": LATEST | 1, "being_evicted": SUPERSEDED | 1,
        "cached": SUPERSEDED | 1,
    }[state]  # fmt: skip
    if touched:  # length and value are the old ones
        assert farreach.cell("vallen.cells") == len(VALUE)


def test_later_fragments_of_a_large_put_pass_unchanged(farreach: CacheSwitch) -> None:
    latest(farreach)
    sent, out = farreach.request(large(1))
    assert out == farreach.at_server(sent, large(1))
    assert farreach.cell("slot_seq.cells") == LATEST | 1
    assert farreach.cell("seq.cells", slot_of(KEY)) == 1
    assert farreach.outcomes() == {}


def test_write_to_an_admitted_slot_is_a_hit(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5)
    sent, out = farreach.request(put())
    assert out == farreach.at_client(sent, payload(PUTRES_SEQ, KEY, seq=(1, 0)))
    assert farreach.cell("slot_seq.cells") == LATEST | 1


@pytest.mark.parametrize(
    ("body", "optype"), [(put(), PUTRES_SEQ), (delete(), DELRES_SEQ)], ids=name_of
)
def test_write_to_a_superseded_slot_is_a_hit(
    farreach: CacheSwitch, body: bytes, optype: int
) -> None:
    superseded(farreach)
    sent, out = farreach.request(body)
    assert out == farreach.at_client(sent, payload(optype, KEY, seq=(3, 0)))
    assert farreach.cell("slot_seq.cells") == LATEST | 3


@pytest.mark.parametrize("valid", [1, 3])
def test_superseding_an_admitted_slot_leaves_no_record(farreach: CacheSwitch, valid: int) -> None:
    """The epoch of the admission must not become the number of a record."""
    farreach.admit(ADMITTED | 1000, vallen=DELETED)
    farreach.set_valid(valid)
    farreach.request(large())
    assert farreach.cell("slot_seq.cells") == SUPERSEDED | 0
    farreach.request(large())
    assert farreach.cell("slot_seq.cells") == SUPERSEDED | 0
    sent, out = farreach.request(get())
    optype = {1: GETREQ_LARGEVALUEBLOCK_RECORD, 3: GETREQ_BEINGEVICTED_RECORD}[valid]
    assert out == farreach.at_server(sent, payload(optype, KEY, seq=(0, 0), stat=(0, 0xFFFF)))


def test_numbers_are_per_slot_of_the_hash_and_shared_by_its_keys(farreach: CacheSwitch) -> None:
    number = int.from_bytes(KEY, "big") + 1
    while slot_of(number.to_bytes(16, "big")) != slot_of(KEY):
        number += 1
    twin, other = number.to_bytes(16, "big"), key_with_slot(slot_of(KEY) + 1)
    assert twin != KEY
    for key, expected in [(KEY, 1), (twin, 2), (other, 1), (KEY, 3)]:
        sent, out = farreach.request(put(key=key))
        body = payload(PUT_AT_SERVER[0], key, value=NEW, seq=(expected, 0))
        assert out == farreach.at_server(sent, body)


@pytest.mark.parametrize("cached", [False, True])
def test_numbers_end_before_they_reach_the_state(farreach: CacheSwitch, cached: bool) -> None:
    """The last number is used; after it every write is dropped and changes nothing."""
    if cached:
        farreach.admit(ADMITTED | 5)
    farreach.set_cell("seq.cells", LARGEST_NUMBER - 1, slot_of(KEY))
    sent, out = farreach.request(put())
    if cached:
        last = payload(PUTRES_SEQ, KEY, seq=(LARGEST_NUMBER, 0))
        assert out == farreach.at_client(sent, last)
    else:
        body = payload(PUT_AT_SERVER[0], KEY, value=NEW, seq=(LARGEST_NUMBER, 0))
        assert out == farreach.at_server(sent, body)
    farreach.outcomes()
    state = farreach.cell("slot_seq.cells")
    for body in (put(VALUE), delete(), large(), put(VALUE)):
        assert farreach.request(body)[1] == []
    assert farreach.outcomes() == {"numbers_used_up": 4}
    assert farreach.cell("seq.cells", slot_of(KEY)) == LARGEST_NUMBER + 1
    assert farreach.cell("slot_seq.cells") == state
    if cached:
        sent, out = farreach.request(get())
        body = payload(GETRES_SEQ, KEY, value=NEW, seq=(LARGEST_NUMBER, 0))
        assert out == farreach.at_client(sent, body)


def test_replayed_requests_are_writes_of_their_own(farreach: CacheSwitch) -> None:
    """At least once: each copy that passes the switch gets a number."""
    latest(farreach)
    sent = Packet(payload=put())
    for number in (2, 3, 4):
        out = farreach.send(CLIENT.port, sent)
        assert out == farreach.at_client(sent, payload(PUTRES_SEQ, KEY, seq=(number, 0)))


# --- Fills ----------------------------------------------------------------------------------------


def fill(
    switch: CacheSwitch, token: int, number: int, value: bytes | None = VALUE
) -> tuple[list, list, str]:
    """An answer to GETREQ_NLATEST: what left, what its client must get, what was counted."""
    switch.outcomes()
    if value is None:
        body = payload(GETRES_DELETED_SEQ, KEY, seq=(number, token), stat=(0, PARTITION))
        answer = payload(GETRES_SEQ, KEY, seq=(number, 0), stat=(0, PARTITION))
    else:
        body = payload(GETRES_LATEST_SEQ, KEY, value=value, seq=(number, token),
                       stat=(1, PARTITION))  # fmt: skip
        answer = payload(GETRES_SEQ, KEY, value=value, seq=(number, 0), stat=(1, PARTITION))
    out, received = switch.from_server(body)
    [outcome] = switch.outcomes()
    return out, [(CLIENT.port, bytes(received.change(payload=answer)))], outcome


@pytest.mark.parametrize("value", [b"", b"1", VALUE, bytes(range(128)), None])
def test_fill_is_taken_and_its_client_answered(farreach: CacheSwitch, value: bytes | None) -> None:
    farreach.admit(ADMITTED | 5)
    out, expected, outcome = fill(farreach, ADMITTED | 5, 17, value)
    assert out == expected
    assert outcome == "fill_taken"
    assert farreach.cell("slot_seq.cells") == LATEST | 17
    sent, out = farreach.request(get())
    stat = (0 if value is None else 1, 0xFFFF)
    body = payload(GETRES_SEQ, KEY, value=value or b"", seq=(17, 0), stat=stat)
    assert out == farreach.at_client(sent, body)


def refused(switch: CacheSwitch, token: int, number: int, value: bytes | None = VALUE) -> None:
    before = [switch.cell(f"{name}.cells") for name in ("slot_seq", "vallen", "value_30")]
    out, expected, outcome = fill(switch, token, number, value)
    assert out == expected  # the client that asked has its answer all the same
    assert outcome == "fill_refused"
    after = [switch.cell(f"{name}.cells") for name in ("slot_seq", "vallen", "value_30")]
    assert after == before


def test_fill_is_refused_by_a_latest_slot(farreach: CacheSwitch) -> None:
    """A write has hit since: the server's answer is older."""
    farreach.admit(ADMITTED | 5)
    farreach.request(put())
    refused(farreach, ADMITTED | 5, 17)
    refused(farreach, ADMITTED | 5, 17, None)


def test_second_fill_of_an_admission_is_refused(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5)
    fill(farreach, ADMITTED | 5, 17)
    refused(farreach, ADMITTED | 5, 17)


def test_fill_that_crosses_a_large_put_is_refused(farreach: CacheSwitch) -> None:
    """Hole (b): the large value is acknowledged, so nothing may serve the small one again."""
    farreach.admit(ADMITTED | 5)
    farreach.request(get())
    farreach.request(large())
    for number in (0, 1, 17, LARGEST_NUMBER):
        refused(farreach, ADMITTED | 5, number)
    [(_, out)] = farreach.request(get())[1]
    assert out[42:44] == struct.pack(">H", GETREQ_LARGEVALUEBLOCK_RECORD)
    refused(farreach, 0, 17)  # such a GET asks for no fill


@pytest.mark.parametrize("number", [0, 17, LARGEST_NUMBER])
def test_fill_from_before_an_eviction_is_refused(farreach: CacheSwitch, number: int) -> None:
    """Hole (d): the key has been evicted and admitted again, in the same slot; a write in between
    is at its server only. The number of the late fill does not matter.
    """
    farreach.admit(ADMITTED | 5)
    farreach.request(get())
    farreach.set_valid(3)
    farreach.set_valid(0)
    farreach.forget()
    farreach.request(put())
    farreach.admit(ADMITTED | 6)
    refused(farreach, ADMITTED | 5, number)
    assert fill(farreach, ADMITTED | 6, 18)[2] == "fill_taken"


def test_fill_for_another_key_in_the_slot_is_refused(farreach: CacheSwitch) -> None:
    """The slot has another key by now; the old one is no longer looked up."""
    farreach.admit(ADMITTED | 5)
    farreach.set_valid(0)
    farreach.forget()
    farreach.admit(ADMITTED | 6, key=key_with_slot(slots(PARTITION)[0] + 9))
    refused(farreach, ADMITTED | 5, 17)


@pytest.mark.parametrize("valid", [0, 2, 3])
def test_fill_needs_valid_1(farreach: CacheSwitch, valid: int) -> None:
    farreach.admit(ADMITTED | 5)
    farreach.set_valid(valid)
    refused(farreach, ADMITTED | 5, 17)


@pytest.mark.parametrize("token", [LATEST | 1, SUPERSEDED | 1])
def test_fill_must_have_seen_an_admitted_slot(farreach: CacheSwitch, token: int) -> None:
    """No GETREQ_NLATEST has such a cell: an answer that claims it is not believed."""
    latest(farreach)
    if token & SUPERSEDED:
        farreach.request(large())
    assert farreach.cell("slot_seq.cells") == token
    refused(farreach, token, 17)


def test_large_answer_passes_and_fills_nothing(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5)
    farreach.outcomes()
    body = payload(GETRES_LARGEVALUE_SEQ, KEY, rest=bytes(300))
    out, received = farreach.from_server(body)
    assert out == [(CLIENT.port, bytes(received))]
    assert farreach.cell("slot_seq.cells") == ADMITTED | 5
    assert farreach.outcomes() == {}


@pytest.mark.parametrize("optype", [GETRES_SEQ, PUTRES_SEQ, DELRES_SEQ])
def test_other_answers_of_servers_only_change_their_source(
    farreach: CacheSwitch, optype: int
) -> None:
    body = payload(optype, KEY, value=VALUE, seq=(3, 0), stat=(1, PARTITION))
    out, received = farreach.from_server(body, OTHER_CLIENT)
    assert out == [(OTHER_CLIENT.port, bytes(received))]


# --- Snapshot: CASE1 ------------------------------------------------------------------------------


def case1_of(sent: Packet, *, cell: int, vallen: int, value: bytes, token: int = TOKEN) -> Control:
    """The report of the record that a write of `sent` has replaced."""
    return Control(
        CASE1, SLOT, KEY, valid=1, egress_port=2, request=7, vallen=vallen, value=value, cell=cell,
        token=token, dst_mac="02:00:00:00:00:52", src_mac=sent.src_mac,
    )  # fmt: skip


def after_report(switch: CacheSwitch, sent: Packet, body: bytes) -> tuple[int, bytes]:
    """The answer to a write that was reported; its IPv4 header is new."""
    return switch.at_client(sent.change(identification=0, diffserv=0, ttl=64), body)[0]


@pytest.mark.parametrize(
    ("body", "optype", "outcome"),
    [(put(), PUTRES_SEQ, "put_case1"), (delete(), DELRES_SEQ, "delete_case1")],
    ids=name_of,
)
def test_first_write_of_a_snapshot_reports_the_old_record_and_is_answered(
    farreach: CacheSwitch, body: bytes, optype: int, outcome: str
) -> None:
    latest(farreach)
    farreach.snapshot(TOKEN)
    sent, out = farreach.request(body)
    report = case1_of(sent, cell=LATEST | 1, vallen=40, value=VALUE)
    answer = after_report(farreach, sent, payload(optype, KEY, seq=(2, 0)))
    [reported] = [frame for port, frame in out if port == CPU_PORT]
    # Bytes of the value's place that the value does not fill are those of earlier values.
    assert reported[: 14 + 34] + value_of(reported)[-40:] + reported[-8:] == (
        bytes(report)[: 14 + 34] + VALUE + bytes(report)[-8:]
    )
    assert [frame for frame in out if frame[0] != CPU_PORT] == [answer]
    assert len(reported) == len(bytes(report))
    assert farreach.outcomes() == {outcome: 1}
    # The second write of the same snapshot is an ordinary hit.
    sent, out = farreach.request(body)
    assert out == farreach.at_client(sent, payload(optype, KEY, seq=(3, 0)))
    farreach.snapshot(None)


def test_case1_is_once_per_token_and_slot(farreach: CacheSwitch) -> None:
    other = key_with_slot(slots(PARTITION)[0] + 9)
    farreach.admit(ADMITTED | 5)
    farreach.admit(ADMITTED | 6, key=other, slot=SLOT + 1)
    farreach.outcomes()
    for token, key, reports in [
        (None, KEY, 0), (8, KEY, 1), (8, KEY, 0), (8, other, 1), (8, other, 0),
        (9, KEY, 1), (None, KEY, 0), (9, other, 1), (9, KEY, 0),
    ]:  # fmt: skip
        farreach.snapshot(token)
        _, out = farreach.request(put(key=key))
        assert [port for port, _ in out].count(CPU_PORT) == reports
        assert [port for port, _ in out].count(CLIENT.port) == 1
    farreach.snapshot(None)
    assert farreach.outcomes() == {"put_case1": 4, "put_hit": 5}


def test_case1_of_an_admitted_slot_says_that_there_was_no_record(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5, vallen=DELETED)
    farreach.snapshot(TOKEN)
    sent, out = farreach.request(put())
    farreach.snapshot(None)
    report = case1_of(sent, cell=ADMITTED | 5, vallen=DELETED, value=b"")
    assert (CPU_PORT, bytes(report)) in out


def test_fills_and_gets_report_no_case1(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5)
    farreach.snapshot(TOKEN)
    out, expected, outcome = fill(farreach, ADMITTED | 5, 17)
    assert (out, outcome) == (expected, "fill_taken")
    sent, out = farreach.request(get())
    farreach.snapshot(None)
    assert out == farreach.at_client(sent, payload(GETRES_SEQ, KEY, value=VALUE, seq=(17, 0)))
    assert farreach.cell("case1.cells") == 0


# --- Hot keys -------------------------------------------------------------------------------------


def test_key_becomes_hot_when_all_rows_have_reached_the_threshold(farreach: CacheSwitch) -> None:
    """Threshold 3: the first three sampled requests count up to it, the fourth finds it reached."""
    farreach.sample()
    farreach.hot_threshold(3)
    for _ in range(3):
        sent, out = farreach.request(get())
        assert out == farreach.at_server(sent, get())
    sent, out = farreach.request(get())
    assert out == farreach.at_server(sent, payload(GETREQ_POP, KEY))
    for in_snapshot, optype in enumerate(HOT_PUT_AT_SERVER):
        farreach.snapshot(TOKEN if in_snapshot else None)
        sent, out = farreach.request(put())
        seq = (1 + in_snapshot, TOKEN * in_snapshot)
        assert out == farreach.at_server(sent, payload(optype, KEY, value=NEW, seq=seq))
    farreach.snapshot(None)
    sent, out = farreach.request(delete())  # a delete reports nothing and is not counted
    assert out == farreach.at_server(sent, payload(DELETE_AT_SERVER[0], KEY, seq=(3, 0)))
    assert farreach.outcomes() == {
        "get_uncached": 3, "get_hot": 1, "put_hot": 1, "put_hot+case3": 1, "delete_uncached": 1
    }  # fmt: skip
    for row in range(4):
        cells = farreach.target.command("register_read", table=f"sketch.row_{row}.cells")["values"]
        assert sorted(cells)[-2:] == [0, 6]
    farreach.hot_threshold(7)  # at run time
    assert farreach.request(get())[1] == farreach.at_server(sent.change(payload=get()), get())


def test_rows_of_the_sketch_do_not_collide_together(farreach: CacheSwitch) -> None:
    farreach.sample()
    positions = []
    for number in range(5):
        for row in range(4):
            farreach.target.command("register_clear", table=f"sketch.row_{row}.cells")
        farreach.request(payload(GETREQ, bytes(12) + struct.pack(">I", 1000003 * number)))
        positions.append(tuple(
            farreach.target.command("register_read", table=f"sketch.row_{row}.cells")["values"]
            .index(1)
            for row in range(4)
        ))  # fmt: skip
    for row in range(4):
        assert len({position[row] for position in positions}) == 5
    assert all(len(set(position)) > 1 for position in positions)


def test_sketch_saturates(farreach: CacheSwitch) -> None:
    farreach.sample()
    farreach.hot_threshold(0xFFFF)
    for row in range(4):
        farreach.target.command("register_write", table=f"sketch.row_{row}.cells",
                                values=[0xFFFE] * 65536)  # fmt: skip
    types = [farreach.request(get())[1][0][1][42:44] for _ in range(3)]
    assert [int.from_bytes(t, "big") for t in types] == [GETREQ, GETREQ_POP, GETREQ_POP]
    for row in range(4):
        cells = farreach.target.command("register_read", table=f"sketch.row_{row}.cells")["values"]
        assert max(cells) == 0xFFFF
        assert min(cells) == 0xFFFE


def test_sampling_is_a_share_set_at_run_time(farreach: CacheSwitch) -> None:
    """A quarter: binomial, 400 draws; 60 to 140 are 4.6 standard deviations to each side."""
    farreach.admit(ADMITTED | 5)
    farreach.request(get())
    assert farreach.cell("frequency.cells") == 0  # nothing is sampled without an entry
    farreach.sample(0, 0x3FFF)
    for _ in range(400):
        farreach.request(get())
    assert 60 <= farreach.cell("frequency.cells") <= 140


def test_frequency_counts_gets_and_puts_of_the_slot(farreach: CacheSwitch) -> None:
    farreach.admit(ADMITTED | 5)
    farreach.sample()
    for body in (get(), put(), get(), delete(), large()):
        farreach.request(body)
    assert farreach.cell("frequency.cells") == 3
    assert farreach.load()[20:24] == struct.pack(">I", 3)
    farreach.admit(ADMITTED | 6)
    assert farreach.cell("frequency.cells") == 0
    rows = [
        farreach.target.command("register_read", table=f"sketch.row_{row}.cells")["values"]
        for row in range(4)
    ]
    assert max(max(row) for row in rows) == 0  # cached keys are not counted there


# --- The server's own client, and partitions ------------------------------------------------------


def test_each_partition_has_its_server(farreach: CacheSwitch) -> None:
    for partition in range(16):
        key = key_with_slot(*slots(partition))
        sent, out = farreach.request(put(key=key))
        body = payload(PUT_AT_SERVER[0], key, value=NEW, seq=(1, 0))
        assert out == farreach.at_server(sent, body, partition)


def test_other_traffic_is_routed(farreach: CacheSwitch) -> None:
    packet = Packet(src_ip=CLIENT.ip, dst_ip=SERVER0.ip, dst_port=53, payload=b"x" * 30)
    assert farreach.send(CLIENT.port, packet) == [(SERVER0.port, bytes(packet))]
