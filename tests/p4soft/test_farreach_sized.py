"""A program of FarReach's size behaves: the paths of its requests, with packets worked out by hand.

Operations, layouts and the state of a slot are those of programs/farreach_sized.p4.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from packet.targets import MemoryTarget

GETREQ, PUTREQ, DELREQ = 0x0001, 0x0002, 0x0003
GETREQ_POP, GETREQ_NLATEST, PUTREQ_SEQ = 0x0011, 0x0012, 0x0013
GETRES, PUTRES, DELRES, GETRES_LATEST = 0x0101, 0x0102, 0x0103, 0x0111
CACHE_POP = 0x0201

CLIENT, SERVER = 1, 2  # ports
CLIENT_IP, SERVER_IP = 0x0A000001, 0x0A000002
SESSION = 31
KEY = bytes(range(16))
SLOT = 77
PROGRAM = (Path(__file__).parent / "programs" / "farreach_sized.p4").read_text()


def checksum(header: bytes) -> int:
    total = sum(int.from_bytes(header[i : i + 2], "big") for i in range(0, len(header), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total ^ 0xFFFF


def frame(
    operation: int,
    rest: bytes = b"",
    key: bytes = KEY,
    *,
    answer: bool = False,
    udp_port: int = 1152,
) -> bytes:
    """A request as its client sends it (`answer`: as the switch turns it round)."""
    payload = operation.to_bytes(2, "big") + key + rest
    source, destination = (SERVER_IP, CLIENT_IP) if answer else (CLIENT_IP, SERVER_IP)
    ports = (udp_port, 40000) if answer else (40000, udp_port)
    udp = b"".join(n.to_bytes(2, "big") for n in (*ports, 8 + len(payload), 0)) + payload
    head = (
        bytes.fromhex("4500") + (20 + len(udp)).to_bytes(2, "big") + bytes.fromhex("000000004011")
    )
    addresses = source.to_bytes(4, "big") + destination.to_bytes(4, "big")
    ipv4 = head + checksum(head + addresses).to_bytes(2, "big") + addresses
    return bytes.fromhex("0200000000020200000000010800") + ipv4 + udp


def value(length: int, seed: int = 0) -> bytes:
    """vallen and the value's words, as on the wire."""
    words = (length + 7) // 8
    return length.to_bytes(2, "big") + bytes((seed + i) % 256 for i in range(8 * words))


def state(seq: int, *, exists: bool, hot: bool = False) -> bytes:
    return seq.to_bytes(4, "big") + bytes([exists, hot])


def decide(operation: int, action: str, becomes: int, **conditions: int) -> dict:
    names = ("optype", "is_cached", "is_hot", "valid", "latest", "deleted", "has_large_value")
    fields = dict.fromkeys((*names, "case1", "snapshot_flag"), 0) | conditions
    fields["optype"] = operation
    data = {"optype": becomes}
    return {"op": "insert", "table": "decision", "key": fields, "action": action, "data": data}


def cached(operation: int, action: str, becomes: int, **conditions: int) -> list[dict]:
    """One decision for a key in the cache, whatever the other bits of its slot."""
    free = [name for name in ("latest", "deleted") if name not in conditions]
    combinations = [{}]
    for name in free:
        combinations = [c | {name: bit} for c in combinations for bit in (0, 1)]
    return [
        decide(operation, action, becomes, is_cached=1, valid=1, **conditions, **combination)
        for combination in combinations
    ]


@pytest.fixture
def switch(load) -> MemoryTarget:
    """Keys are spread over one server; SLOT holds KEY; nothing is stored or counted yet."""
    target = load(PROGRAM)
    updates: list[dict] = [
        {"op": "clear", "table": table}
        for table in ("partition", "lookup", "ipv4_forward", "client_session", "sampling",
                      "decision", "need_recirculate")
    ]  # fmt: skip
    everything = {"low": 0, "high": 0xFFFF}
    for operation in (GETREQ, PUTREQ, DELREQ, CACHE_POP):
        key = {"optype": operation, "key_hash": everything}
        data = {"udp_port": 1152, "port": SERVER}
        updates.append(
            {"op": "insert", "table": "partition", "key": key, "action": "to_server", "data": data}
        )
    updates += [
        {"op": "insert", "table": "ipv4_forward",
         "key": {"dst_addr": {"value": CLIENT_IP, "prefix_len": 32}},
         "action": "forward", "data": {"port": CLIENT}},
        {"op": "insert", "table": "client_session",
         "key": {"src_addr": {"value": CLIENT_IP, "prefix_len": 24}},
         "action": "to_client", "data": {"session": SESSION}},
        {"op": "insert", "table": "sampling", "key": {"optype": GETREQ}, "action": "sample_always"},
        lookup(KEY, SLOT),
        decide(GETREQ, "forward_as", GETREQ),
        decide(GETREQ, "forward_as", GETREQ_POP, is_hot=1),
        decide(PUTREQ, "forward_as", PUTREQ_SEQ),
        *cached(GETREQ, "answer_as", GETRES, latest=1),
        *cached(GETREQ, "forward_as", GETREQ_NLATEST, latest=0),
        *cached(PUTREQ, "answer_as", PUTRES),
        *cached(DELREQ, "answer_as", DELRES),
    ]  # fmt: skip
    target.command("table_write", updates=updates)
    session = {"$session_enable": True, "$direction": "EGRESS", "$ucast_egress_port": CLIENT,
               "$ucast_egress_port_valid": True}  # fmt: skip
    mirror = {"op": "upsert", "table": "$mirror.cfg", "key": {"$sid": SESSION}, "data": session}
    target.command("table_write", updates=[mirror])
    target.command("register_clear")
    target.command("counter_clear")
    return target


def lookup(key: bytes, slot: int) -> dict:
    fields = {"keylolo": key[0:4], "keylohi": key[4:8], "keyhilo": key[8:12],
              "keyhihilo": key[12:14], "keyhihihi": key[14:16]}  # fmt: skip
    numbers = {name: int.from_bytes(part, "big") for name, part in fields.items()}
    return {"op": "insert", "table": "lookup", "key": numbers,
            "action": "cached_at", "data": {"index": slot}}  # fmt: skip


def make_valid(switch: MemoryTarget) -> None:
    switch.command("register_write", table="valid_reg", first=SLOT, values=[1])


def read(switch: MemoryTarget, register: str, index: int = SLOT) -> int:
    answer = switch.command("register_read", table=register, first=index, count=1)
    [cell] = answer["values"]
    return cell


def test_uncached_request_goes_to_its_server(switch: MemoryTarget) -> None:
    other = bytes(16)
    out = switch.send(CLIENT, frame(GETREQ, key=other))
    # The client's request, now with the (unassigned) sequence number in front of its payload.
    # Lengths are rewritten for answers only.
    [(port, bytes_out)] = out
    assert port == SERVER
    assert bytes_out == frame(GETREQ, key=other) + state(0, exists=True)


def test_key_becomes_hot_when_all_rows_pass_the_threshold(switch: MemoryTarget) -> None:
    """The predicate is `old count >= 10`: the 11th request is the first hot one."""
    operations = []
    for _ in range(12):
        [(_, out)] = switch.send(CLIENT, frame(GETREQ, key=bytes(16)))
        operations.append(int.from_bytes(out[42:44], "big"))
    assert operations == [GETREQ] * 10 + [GETREQ_POP] * 2


@pytest.mark.parametrize("length", [0, 1, 8, 9, 64, 121, 128])
def test_put_then_get_is_answered_by_the_switch(switch: MemoryTarget, length: int) -> None:
    make_valid(switch)
    stored = value(length, seed=length)
    [(port, out)] = switch.send(CLIENT, frame(PUTREQ, stored))
    assert port == CLIENT  # by the mirror session; nothing went to the server
    assert out == frame(PUTRES, state(1, exists=True), answer=True)
    [(port, out)] = switch.send(CLIENT, frame(GETREQ))
    assert port == CLIENT
    answered = frame(GETRES, stored + state(0, exists=True), answer=True)
    assert out[42:] == answered[42:]
    # The lengths in IPv4 and UDP count the value's bytes, not the padding to words.
    assert int.from_bytes(out[16:18], "big") == 54 + length
    assert int.from_bytes(out[38:40], "big") == 34 + length
    assert checksum(out[14:34]) == 0
    counters = switch.command("counter_read", table="answered")["counters"]
    assert [c["$COUNTER_SPEC_PKTS"] for c in counters[:2]] == [1, 1]


def test_large_value_is_spread_over_all_registers(switch: MemoryTarget) -> None:
    make_valid(switch)
    switch.send(CLIENT, frame(PUTREQ, value(128, seed=1)))
    # The wire starts with value16: bytes 1, 2, 3, 4 are its `lo`.
    assert read(switch, "value16_lo.words") == 0x01020304
    assert read(switch, "value16_hi.words") == 0x05060708
    assert read(switch, "value1_hi.words") == 0x7D7E7F80
    assert read(switch, "vallen_reg") == 128
    assert read(switch, "latest_reg") == 1


def test_delete_resets_value_and_is_seen_by_get(switch: MemoryTarget) -> None:
    make_valid(switch)
    switch.send(CLIENT, frame(PUTREQ, value(8, seed=1)))
    [(_, out)] = switch.send(CLIENT, frame(DELREQ))
    assert out == frame(DELRES, state(2, exists=True), answer=True)  # the old bit: not deleted
    assert read(switch, "deleted_reg") == 1
    [(_, out)] = switch.send(CLIENT, frame(GETREQ))
    assert out[42:44] == GETRES.to_bytes(2, "big")
    assert out[-6:] == state(0, exists=False)


def test_admission_keeps_reads_at_the_server_until_the_slot_is_filled(
    switch: MemoryTarget,
) -> None:
    """CACHE_POP stores the record with latest = 0; the answer of the server sets it."""
    make_valid(switch)
    [(port, _)] = switch.send(CLIENT, frame(CACHE_POP, value(16, seed=3)))
    assert port == SERVER
    assert read(switch, "value2_lo.words") == 0x03040506
    [(port, out)] = switch.send(CLIENT, frame(GETREQ))
    assert port == SERVER
    assert out[42:44] == GETREQ_NLATEST.to_bytes(2, "big")
    answer = frame(GETRES_LATEST, value(8, seed=9), answer=True)
    # The parser knows key-value packets by their destination port.
    answer = answer[:36] + (1152).to_bytes(2, "big") + answer[38:]
    [(port, _)] = switch.send(SERVER, answer)
    assert port == CLIENT
    [(port, out)] = switch.send(CLIENT, frame(GETREQ))
    assert port == CLIENT
    assert out[42:] == frame(GETRES, value(8, seed=9) + state(0, exists=True), answer=True)[42:]


def test_sequence_numbers_wrap_to_zero(switch: MemoryTarget) -> None:
    make_valid(switch)
    size = 32768
    switch.command("register_write", table="seq_reg", values=[0x7FFFFFFE] * size)
    outs = [switch.send(CLIENT, frame(PUTREQ, value(8)))[0][1] for _ in range(3)]
    sequence = [int.from_bytes(out[-6:-2], "big") for out in outs]
    assert sequence == [0x7FFFFFFF, 0, 1]


def test_recirculation_passes_ingress_again(switch: MemoryTarget) -> None:
    """Requests from the client's port take another turn; from the recirculation port they go on."""
    entry = {"op": "insert", "table": "need_recirculate", "action": "recirculate",
             "key": {"optype": GETREQ, "ingress_port": CLIENT}}  # fmt: skip
    switch.command("table_write", updates=[entry])
    [(port, out)] = switch.send(CLIENT, frame(GETREQ, key=bytes(16)))
    assert port == SERVER
    assert out == frame(GETREQ, key=bytes(16)) + state(0, exists=True)
    counts = switch.command("register_read", table="sketch1.counts")["values"]
    assert sum(counts) == 1  # counted in the second pass only


def test_other_packets_are_forwarded(switch: MemoryTarget) -> None:
    packet = frame(GETREQ, answer=True, udp_port=53)
    assert switch.send(SERVER, packet) == [(CLIENT, packet)]
