"""Traces of packets: what is said, of which packets, and that nothing else changes by it."""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packet.frames import Packet, mac
from packet.targets import CommandFailedError, MemoryTarget
from test_samples import PROGRAMS, crc16, number, start, write

CORPUS = Path(__file__).resolve().parents[1] / "fuzz" / "corpus"
INSIDE, OUTSIDE = "10.0.0.1", "192.0.2.80"
REQUEST = Packet(src_ip=INSIDE, dst_ip=OUTSIDE, src_port=5000, dst_port=53, payload=b"?")


@pytest.fixture
def firewall(load_traced) -> Iterator[MemoryTarget]:
    """Port 1 is inside, port 2 outside; every packet is traced."""
    target = start(load_traced, "stateful_firewall")
    write(target, "ports", "from_inside", {"ingress_port": 1}, to=2)
    write(target, "ports", "from_outside", {"ingress_port": 2}, to=1)
    target.command("register_clear")
    target.command("trace_start", filter="count=all")
    yield target
    target.command("trace_stop")
    target.command("trace_read")


def texts(target: MemoryTarget) -> list[str]:
    return target.command("trace_read", format="text")["traces"]


def traces(target: MemoryTarget) -> list[dict[str, Any]]:
    return target.command("trace_read")["traces"]


def events(trace: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [e for step in trace["steps"] for e in step.get("events", []) if kind in e]


# --- What is said ---------------------------------------------------------------------------------


def test_trace_of_a_packet_in_words(firewall: MemoryTarget) -> None:
    flow = b"".join(n.to_bytes(w, "big") for n, w in (
        (number(INSIDE), 4), (number(OUTSIDE), 4), (5000, 2), (53, 2)))  # fmt: skip
    cell1, cell2 = zlib.crc32(flow) & 0xFFFF, crc16(flow)
    checksum = bytes(REQUEST)[24:26].hex()
    firewall.send(1, bytes(REQUEST))
    [text] = texts(firewall)
    title, *lines = text.splitlines()
    assert title.startswith("━━ packet ")
    assert " · port 1 · 43 bytes · at 0 ns ━━━" in title
    assert (
        "\n".join(lines)
        == f"""\
  ingress, port 1
    parser    FrameParser: start → parse_ipv4 → parse_udp → accept
    extract   ig_intr_md resubmit_flag=0 packet_version=0 ingress_port=1 ingress_mac_tstamp=0
    extract   hdr.ethernet dst_addr=02:00:00:00:00:51 src_addr=02:00:00:00:00:c1 ether_type=0x0800
    extract   hdr.ipv4 version=4 ihl=5 diffserv=0 total_len=29 identification=4660 flags=2
                frag_offset=0 ttl=64 protocol=17 hdr_checksum=0x{checksum} src_addr=10.0.0.1
                dst_addr=192.0.2.80
    extract   hdr.udp src_port=5000 dst_port=53 len=9 checksum=0xbeef
    table     pipe.Firewall.ports ig_intr_md.ingress_port=1 (hit)
              → Firewall.from_inside to=2
    table     pipe.Firewall.row1_hash
              → Firewall.hash1
    table     pipe.Firewall.row2_hash
              → Firewall.hash2
    register  pipe.Firewall.row1.flows[{cell1}] 0 → 1 by Firewall.row1.remember
    register  pipe.Firewall.row2.flows[{cell2}] 0 → 1 by Firewall.row2.remember
    emit      hdr.ethernet hdr.ipv4 hdr.udp
    decision  ucast_egress_port=2 bypass_egress=true
  queued for port 2, queue 0, bypasses egress
  sent to port 2, 43 bytes
"""
    )


def test_register_that_is_only_read_and_the_drop_that_follows(firewall: MemoryTarget) -> None:
    stray = REQUEST.change(src_ip=OUTSIDE, dst_ip=INSIDE, src_port=53, dst_port=5001)
    assert firewall.send(2, bytes(stray)) == []
    [trace] = traces(firewall)
    accesses = events(trace, "register")
    assert [(a["by"], a["before"], a["after"], a["returns"]) for a in accesses] == [
        ("Firewall.row1.look_up", 0, 0, 0),
        ("Firewall.row2.look_up", 0, 0, 0),
    ]
    assert trace["steps"][0]["decision"]["drop_ctl"] == 1
    assert trace["steps"][-1] == {
        "step": "dropped", "frame": 1, "port": 2, "reason": "ingress_drop"
    }  # fmt: skip


def test_miss_has_the_default_action(firewall: MemoryTarget) -> None:
    firewall.send(7, bytes(REQUEST))
    [applied] = events(traces(firewall)[0], "table")
    assert (applied["hit"], applied["action"]) == (False, "Firewall.unknown_port")
    assert applied["key"] == {"ig_intr_md.ingress_port": 7}


def test_packet_that_ends_inside_a_header(firewall: MemoryTarget) -> None:
    firewall.send(1, bytes(REQUEST)[:20])
    [trace] = traces(firewall)
    *_, result = events(trace, "parser")
    assert result["result"] == "reject: the packet ended inside a header"
    assert [e["state"] for e in events(trace, "state")] == ["start", "parse_ipv4"]
    assert trace["steps"][-1]["step"] == "dropped"


def test_every_copy_and_every_pass(load_traced) -> None:
    """A probe that goes round once; and a watched frame, mirrored to the collector at port 3."""
    target = start(load_traced, "trace_route")
    target.command("register_clear")
    session = {"$session_enable": True, "$direction": "INGRESS", "$ucast_egress_port": 3,
               "$ucast_egress_port_valid": True}  # fmt: skip
    update = {"op": "upsert", "table": "$mirror.cfg", "key": {"$sid": 5}, "data": session}
    target.command("table_write", updates=[update])
    target.command("trace_start", filter="count=all")
    addresses = mac("02:00:00:00:00:51") + mac("02:00:00:00:00:c1")
    target.send(9, addresses + bytes.fromhex("88b50100") + b"payload")
    target.send(9, addresses + bytes.fromhex("88b6") + b"payload")
    probe, watched = traces(target)

    path = [(step["step"], step["frame"], step.get("port")) for step in probe["steps"]]
    assert path == [
        ("ingress", 1, 9), ("queued", 1, 68), ("recirculated", 1, 68),
        ("ingress", 1, 68), ("queued", 1, 1), ("sent", 1, 1),
    ]  # fmt: skip
    changed = next(e for e in events(probe, "emit") if e["emit"] == "hdr.probe")["changed"]
    assert changed == {"passes": {"before": 1, "after": 0}, "count": {"before": 0, "after": 1}}
    added = next(e for e in events(probe, "emit") if e["emit"] == "hdr.records$0")["added"]
    assert (added["port"], added["number"]) == (9, 1)

    path = [(step["step"], step["frame"], step.get("port")) for step in watched["steps"]]
    assert path == [
        ("ingress", 1, 9), ("mirror", 2, None), ("queued", 2, 3), ("queued", 1, 1),
        ("egress", 2, 3), ("sent", 2, 3), ("sent", 1, 1),
    ]  # fmt: skip
    [mirror] = events(watched, "mirror")
    assert (mirror["session"], mirror["header"]) == (5, "c0ffee000009")
    target.command("trace_stop")


# --- Which packets --------------------------------------------------------------------------------


def chosen(target: MemoryTarget, filter_text: str, *packets: tuple[int, Packet]) -> list[int]:
    """The places of the packets that are traced."""
    target.command("trace_read")
    target.command("trace_start", filter=filter_text)
    frames = [(port, bytes(packet)) for port, packet in packets]
    for port, frame in frames:
        target.send(port, frame)
    traced = [(trace["port"], bytes.fromhex(trace["data"])) for trace in traces(target)]
    return [i for i, sent in enumerate(frames) if sent in traced]


@pytest.mark.parametrize(
    ("filter_text", "places"),
    [
        ("", [0, 1, 2, 3, 4]),
        ("port=2", [1]),
        ("udp=53", [0, 1, 2, 4]),
        ("udp=5000", [0, 1]),
        ("tcp=53", []),
        ("udp=53,port=1", [0, 2, 4]),
        (f"src={INSIDE}", [0, 2]),
        (f"dst={INSIDE}", [1]),
        (f"ip={INSIDE}", [0, 1, 2]),
        ("match=34:138a", [2]),  # the source port 5002
        ("match=34:1300/ff00,match=22:40", [0, 2, 4]),
        ("match=200:00", []),  # beyond the end
        ("ethertype=0800", [0, 1, 2, 3, 4]),
        ("ethertype=86dd", []),
        ("count=2", [0, 1]),
        ("every=2", [0, 2, 4]),
        ("udp=53,every=2,count=2", [0, 2]),
        ("count=0", []),
    ],
)
def test_filter(firewall: MemoryTarget, filter_text: str, places: list[int]) -> None:
    packets = [
        (1, REQUEST),
        (2, Packet(src_ip=OUTSIDE, dst_ip=INSIDE, src_port=53, dst_port=5000)),
        (1, REQUEST.change(src_port=5002)),
        (1, Packet(src_ip="10.9.9.9", dst_ip=OUTSIDE, dst_port=54)),
        (1, Packet(src_ip="10.9.9.9", dst_ip=OUTSIDE, src_port=4900, dst_port=53)),
    ]
    assert chosen(firewall, filter_text, *packets) == places


@pytest.mark.parametrize(
    ("filter_text", "message"),
    [
        ("prot=1", '"prot=1": expected port, udp, tcp, ip, src, dst, ethertype, match, every or'),
        ("port", '"port": expected NAME=VALUE, for instance count=20'),
        ("port=512", '"port=512": expected a number up to 511'),
        ("ip=10.0.0", "expected an IPv4 address, for instance ip=198.18.0.1"),
        ("match=3", "expected match=OFFSET:VALUE or match=OFFSET:VALUE/MASK"),
        ("match=3:0", "value and mask in hexadecimal and whole bytes"),
        ("match=3:00/ffff", "expected a mask as long as the value"),
        ("every=0", "expected a number from 1 on"),
    ],
)
def test_wrong_filter(firewall: MemoryTarget, filter_text: str, message: str) -> None:
    with pytest.raises(CommandFailedError) as error:
        firewall.command("trace_start", filter=filter_text)
    assert error.value.code == "bad_argument"
    assert message in error.value.message


# --- Nothing else changes -------------------------------------------------------------------------


@pytest.mark.parametrize("program", ["stateful_firewall", "trace_route", "tlv_parser"])
def test_traced_program_does_the_same(load, load_traced, program: str) -> None:
    text = (PROGRAMS / f"{program}.p4").read_text()
    plain, traced = load(text), load_traced(text)
    outputs: list[list[Any]] = []
    for target in (plain, traced):
        target.command("register_clear")
        for line in (CORPUS / program / "setup.jsonl").read_text().splitlines():
            request = json.loads(line)
            target.command(request["command"], **request["args"])
    traced.command("trace_start", filter="count=all")
    for target in (plain, traced):
        outputs.append([target.send(port, frame) for port, frame in corpus_frames(program)])
    assert outputs[0] == outputs[1]
    assert any(outputs[0])
    assert len(traces(traced)) == len(outputs[1])


def corpus_frames(program: str) -> list[tuple[int, bytes]]:
    lines = (CORPUS / program / "frames.txt").read_text().splitlines()
    rows = [line.split("#")[0].split() for line in lines]
    return [(int(row[0]), bytes.fromhex(row[1])) for row in rows if row]


def test_library_of_experiments_holds_nothing_of_traces(build_dir: Path) -> None:
    plain = (build_dir / "lib" / "p4" / "nocache.so").read_bytes()
    traced = (build_dir / "lib" / "p4" / "nocache.trace.so").read_bytes()
    for mark in (b"TraceRecorder", b"parse_request"):  # the recorder; a parser state's name
        assert mark in traced
        assert mark not in plain
