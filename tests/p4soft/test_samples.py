"""The sample programs in programs/: what they do to packets worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from packet.frames import Packet
from packet.reference_crc import crc16
from packet.targets import MemoryTarget

PROGRAMS = Path(__file__).parent / "programs"
CLIENT, SERVICE = "10.0.0.1", "192.0.2.80"
BACKENDS = ("10.1.0.1", "10.1.0.2")


def start(load, name: str) -> MemoryTarget:
    return load((PROGRAMS / f"{name}.p4").read_text())


def number(address: str) -> int:
    return int.from_bytes(bytes(map(int, address.split("."))), "big")


def write(target: MemoryTarget, table: str, action: str, key: dict[str, Any], **data: Any) -> None:
    update = {"op": "upsert", "table": table, "key": key, "action": action, "data": data}
    target.command("table_write", updates=[update])


# --- Load balancer --------------------------------------------------------------------------------


@pytest.fixture
def balancer(load) -> MemoryTarget:
    """One service with two backends, each with half of the hashes, behind port 2."""
    target = start(load, "load_balancer")
    write(target, "virtual_service", "balance",
          {"dst_addr": number(SERVICE), "dst_port": 53}, group=1)  # fmt: skip
    for i, backend in enumerate(BACKENDS):
        hashes = {"low": 0x8000 * i, "high": 0x8000 * i + 0x7FFF}
        write(target, "backend", "to_backend",
              {"group": 1, "flow_hash": hashes}, address=number(backend))  # fmt: skip
        write(target, "answer", "from_service",
              {"src_addr": number(backend), "src_port": 53}, address=number(SERVICE))  # fmt: skip
    for prefix, length, port in (("10.1.0.0", 16, 2), ("10.0.0.0", 16, 1)):
        write(target, "route", "forward",
              {"dst_addr": {"value": number(prefix), "prefix_len": length}}, port=port)  # fmt: skip
    return target


def request(src_port: int, **fields: Any) -> Packet:
    return Packet(src_ip=CLIENT, dst_ip=SERVICE, src_port=src_port, dst_port=53, **fields)


def test_balancer_keeps_flows_together_and_uses_all_backends(balancer: MemoryTarget) -> None:
    chosen = set()
    for src_port in range(2000, 2020):
        flow = b"".join(n.to_bytes(w, "big") for n, w in (
            (number(CLIENT), 4), (number(SERVICE), 4), (src_port, 2), (53, 2)))  # fmt: skip
        backend = BACKENDS[crc16(flow) >> 15]
        chosen.add(backend)
        for payload in (b"first", b"second"):
            sent = request(src_port, payload=payload)
            expected = sent.change(dst_ip=backend)
            assert balancer.send(1, bytes(sent)) == [(2, without_udp_checksum(expected))]
    assert chosen == set(BACKENDS)


def without_udp_checksum(packet: Packet) -> bytes:
    frame = bytearray(bytes(packet))
    frame[40:42] = b"\0\0"
    return bytes(frame)


def test_balancer_gives_answers_the_virtual_address(balancer: MemoryTarget) -> None:
    answer = Packet(src_ip=BACKENDS[1], dst_ip=CLIENT, src_port=53, dst_port=2000)
    expected = without_udp_checksum(answer.change(src_ip=SERVICE))
    assert balancer.send(2, bytes(answer)) == [(1, expected)]


def test_balancer_leaves_other_packets_alone(balancer: MemoryTarget) -> None:
    other = Packet(src_ip=CLIENT, dst_ip=BACKENDS[0], dst_port=80)
    assert balancer.send(1, bytes(other)) == [(2, bytes(other))]
    assert balancer.send(1, bytes(other.change(dst_ip="203.0.113.1"))) == []  # no route
    assert balancer.send(1, b"\xff" * 12 + b"\x08\x06" + bytes(46)) == []  # ARP


# --- Rate limiter ---------------------------------------------------------------------------------


def test_rate_limiter(load) -> None:
    """Customer 10.0.0.0/24: 10 packets/s with a burst of 2, at most 20/s with a burst of 3."""
    target = start(load, "rate_limiter")
    key = {"src_addr": {"value": number("10.0.0.0"), "prefix_len": 24}}
    write(target, "customers", "measure", key, customer=7)
    limits = {"CIR_PPS": 10, "PIR_PPS": 20, "CBS_PKTS": 2, "PBS_PKTS": 3}
    data = {f"$METER_SPEC_{name}": value for name, value in limits.items()}
    target.command("meter_write", table="rate", index=7, data=data)
    target.command("counter_clear")
    sent = Packet(src_ip=CLIENT)
    green, yellow = bytes(sent), bytes(sent.change(diffserv=0x08))
    at = 10**12

    def outcomes(count: int, at_ns: int) -> list[bytes | None]:
        frames = [target.send(4, green, now_ns=at_ns) for _ in range(count)]
        assert all(port == 5 for out in frames for port, _ in out)
        return [out[0][1] if out else None for out in frames]

    assert outcomes(5, at) == [green, green, yellow, None, None]
    assert outcomes(3, at + 10**8) == [green, yellow, None]  # 0.1 s: 1 committed, 2 peak tokens
    counters = target.command("counter_read", table="dropped", index=7)["counters"]
    assert [c["$COUNTER_SPEC_PKTS"] for c in counters] == [3]
    other = bytes(Packet(src_ip="10.0.1.1"))
    assert [target.send(5, other, now_ns=at) for _ in range(6)] == [[(4, other)]] * 6


# --- Heavy hitter ---------------------------------------------------------------------------------


def test_heavy_hitter_is_reported_once(load) -> None:
    target = start(load, "heavy_hitter")
    target.command("register_clear")
    target.command("digest_read")
    update = {"op": "set_default", "table": "threshold", "action": "set_threshold",
              "data": {"packets": 5}}  # fmt: skip
    target.command("table_write", updates=[update])
    heavy, light = Packet(src_ip="10.0.0.9"), Packet(src_ip="10.0.0.8")

    def reports(packet: Packet, count: int) -> list[dict[str, int]]:
        for _ in range(count):
            assert target.send(2, bytes(packet)) == [(3, bytes(packet))]
        digests = target.command("digest_read")["digests"]
        assert all(d["name"] == "pipe.HeavyHitterDeparser.report" for d in digests)
        return [d["fields"] for d in digests]

    assert reports(heavy, 5) == []
    assert reports(light, 5) == []
    assert reports(heavy, 1) == [{"src_addr": number("10.0.0.9"), "port": 2}]  # sees 5 before it
    assert reports(heavy, 20) == []
    target.command("register_clear", table="HeavyHitter.reported")
    assert len(reports(heavy, 3)) == 1
    assert sum(target.command("register_read", table="row1.counts")["values"]) == 5 + 5 + 1 + 23


# --- Mirror and recirculation ---------------------------------------------------------------------


def probe(passes: int, *records: tuple[int, int], rest: bytes = b"") -> bytes:
    head = bytes(12) + b"\x88\xb5" + bytes([passes, len(records)])
    return head + b"".join(p.to_bytes(2, "big") + n.to_bytes(2, "big") for p, n in records) + rest


def test_probe_recirculates_and_collects_records(load) -> None:
    target = start(load, "trace_route")
    target.command("register_clear")
    assert target.send(9, probe(0)) == [(1, probe(0, (9, 1)))]
    assert target.send(9, probe(2, rest=b"rest")) == [
        (1, probe(0, (68, 4), (68, 3), (9, 2), rest=b"rest"))
    ]
    four = ((1, 11), (2, 12), (3, 13), (4, 14))
    assert target.send(9, probe(0, *four)) == [(1, probe(0, (9, 5), *four[:3]))]  # the oldest goes
    assert target.send(9, probe(0, *four, (5, 15))) == []  # more than a probe may have
    assert target.send(9, probe(1, *four)[:-1]) == []  # ends inside a record


def test_watched_frames_are_mirrored(load) -> None:
    target = start(load, "trace_route")
    data = {"$session_enable": True, "$direction": "INGRESS", "$ucast_egress_port": 30,
            "$ucast_egress_port_valid": True}  # fmt: skip
    update = {"op": "upsert", "table": "$mirror.cfg", "key": {"$sid": 5}, "data": data}
    target.command("table_write", updates=[update])
    frame = bytes(12) + b"\x88\xb6watched"
    copy = bytes.fromhex("c0ffee00") + (300).to_bytes(2, "big") + frame
    assert sorted(target.send(300, frame)) == [(1, frame), (30, copy)]
    assert target.send(300, bytes(12) + b"\x88\xb8other") == [(1, bytes(12) + b"\x88\xb8other")]


# --- Stateful firewall ----------------------------------------------------------------------------


def test_firewall_lets_answers_in_and_nothing_else(load) -> None:
    target = start(load, "stateful_firewall")
    target.command("register_clear")
    write(target, "ports", "from_inside", {"ingress_port": 1}, to=2)
    write(target, "ports", "from_outside", {"ingress_port": 2}, to=1)
    target.command("counter_clear")
    out = Packet(src_ip="10.0.0.5", dst_ip="198.51.100.7", src_port=4000, dst_port=53)
    back = Packet(src_ip="198.51.100.7", dst_ip="10.0.0.5", src_port=53, dst_port=4000)
    assert target.send(2, bytes(back)) == []
    assert target.send(1, bytes(out)) == [(2, bytes(out))]
    assert target.send(2, bytes(back)) == [(1, bytes(back))]
    assert target.send(2, bytes(back.change(src_port=54))) == []
    assert target.send(2, bytes(back.change(dst_ip="10.0.0.6"))) == []
    assert target.send(2, bytes(out)) == []  # not the answer, but the request from outside
    assert target.send(3, bytes(out)) == []  # no such port
    assert target.send(1, bytes(out)[:40]) == []  # ends inside UDP
    target.command("register_clear")
    assert target.send(2, bytes(back)) == []
    counters = target.command("counter_read", table="ports")
    packets = {c["key"]["ig_intr_md.ingress_port"]: c["$COUNTER_SPEC_PKTS"]
               for c in counters["counters"]}  # fmt: skip
    assert packets == {1: 1, 2: 6}
    assert counters["default"]["$COUNTER_SPEC_PKTS"] == 1


# --- Type, length, value --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("00", "00"),
        ("02041111 02042222 00 payload", "02041111 02042222 00 payload"),
        # Padding and skippable kinds go; the stamp comes first and is one more.
        ("01 02041111 01 8002 0306000000ff 90041234 a008ffffffffffff 00",
         "030600000100 02041111 00"),
        ("0306ffffffff 00", "030600000000 00"),
        ("02040001 02040002 02040003 00", "02040001 02040002 02040003 00"),
        ("02040001 02040002 02040003 02040004 00", None),  # one mark too many for the stack
        ("0205111111 00", None),  # a wrong length
        ("04021111 00", None),  # must not be skipped
        ("8003ff 00", None),  # a length that cannot be skipped
        ("02041111", None),  # no end
        ("0204", None),
        ("a008ffff", None),  # ends inside what is skipped
        ("02", None),
        ("", None),
    ],
)  # fmt: skip
def test_options(load, given: str, expected: str | None) -> None:
    target = start(load, "tlv_parser")

    def frame(options: str) -> bytes:
        options = options.replace("payload", b"payload".hex())
        return bytes(12) + b"\x88\xb7" + bytes.fromhex(options)

    assert target.send(6, frame(given)) == ([] if expected is None else [(6, frame(expected))])
