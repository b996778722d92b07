"""Packet generators, with the headers of tna.p4. Expected bytes are laid out by hand."""

from __future__ import annotations

from typing import Any

from p4_programs import program
from packet.targets import MemoryTarget

# Generated packets go to port 9 with the fields of their header behind one another, each in whole
# bytes; others with a tag of four bytes to recirculation, and from there to port 10.
PROGRAM = program(
    """
        if (hdr.timer.isValid()) {
            hdr.seen.setValid();
            hdr.seen.pipe_id = (bit<8>) hdr.timer.pipe_id;
            hdr.seen.app_id = (bit<8>) hdr.timer.app_id;
            hdr.seen.middle = (bit<32>) hdr.timer.batch_id;
            hdr.seen.packet_id = hdr.timer.packet_id;
            hdr.timer.setInvalid();
        }
        if (hdr.recirc.isValid()) {
            hdr.seen.setValid();
            hdr.seen.pipe_id = (bit<8>) hdr.recirc.pipe_id;
            hdr.seen.app_id = (bit<8>) hdr.recirc.app_id;
            hdr.seen.middle = (bit<32>) hdr.recirc.key;
            hdr.seen.packet_id = hdr.recirc.packet_id;
            hdr.recirc.setInvalid();
        }
        if (hdr.seen.isValid()) {
            hdr.seen.port = (bit<16>) ig_intr_md.ingress_port;
            ig_tm_md.ucast_egress_port = 9;
        } else if (ig_intr_md.ingress_port == 196) { ig_tm_md.ucast_egress_port = 10; }
        else { ig_tm_md.ucast_egress_port = 196; }
    """,
    preamble="""
#include <core.p4>
#include <tna.p4>
header seen_h { bit<8> pipe_id; bit<8> app_id; bit<32> middle; bit<16> packet_id; bit<16> port; }
struct headers_t { seen_h seen; pktgen_timer_header_t timer; pktgen_recirc_header_t recirc; }
struct metadata_t { }
""",
    metadata="",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port, pkt.lookahead<bit<8>>()) {
            (196, 0x0b): timer;      // pipe 1, application 3
            (196, 0x0c): recirc;     // pipe 1, application 4
            default: accept;
        }
    }
    state timer { pkt.extract(hdr.timer); transition accept; }
    state recirc { pkt.extract(hdr.recirc); transition accept; }
""",
)
PACKET = bytes(range(1, 61))


def configure(switch: Any) -> None:
    enable = {"pktgen_enable": True, "pattern_matching_enable": True}
    switch.command(
        "pktgen_write",
        updates=[
            {"table": "port_cfg", "key": {"dev_port": 196}, "data": enable},
            {
                "table": "pkt_buffer",
                "key": {"pkt_buffer_offset": 160, "pkt_buffer_size": len(PACKET)},
                "data": {"buffer": list(PACKET)},
            },
        ],
    )


def start(switch: Any, app_id: int, trigger: str, **data: Any) -> None:
    fields = {"pkt_len": len(PACKET), "pkt_buffer_offset": 160, "app_enable": True, **data}
    key = {"app_id": app_id}
    update = {"table": "app_cfg", "key": key, "pipe": 1, "action": trigger, "data": fields}
    switch.command("pktgen_write", updates=[update])


def seen(app_id: int, middle: int, packet_id: int) -> bytes:
    return (
        bytes([1, app_id])
        + middle.to_bytes(4, "big")
        + packet_id.to_bytes(2, "big")
        + (196).to_bytes(2, "big")
        + PACKET
    )


def generate(switch: MemoryTarget, now_ns: int) -> list[tuple[int, bytes]]:
    frames = switch.command("generate", now_ns=now_ns)["frames"]
    return [(frame["port"], bytes.fromhex(frame["data"])) for frame in frames]


def test_a_timers_packets_have_their_header(load) -> None:
    switch = load(PROGRAM)
    configure(switch)
    fields = {"timer_nanosec": 1000, "batch_count_cfg": 1, "packets_per_batch_cfg": 1}
    start(switch, 3, "trigger_timer_one_shot", **fields)
    assert generate(switch, 999) == []
    expected = [(9, seen(3, batch, packet)) for batch in (0, 1) for packet in (0, 1)]
    assert generate(switch, 1000) == expected
    [entry] = switch.command("pktgen_read", table="app_cfg", pipe=1, key={"app_id": 3})["entries"]
    counters = ("trigger_counter", "batch_counter", "pkt_counter")
    assert [entry["data"][name] for name in counters] == [1, 2, 4]


def test_a_recirculated_tag_is_the_key_of_what_it_triggers(load) -> None:
    switch = load(PROGRAM)
    configure(switch)
    start(switch, 4, "trigger_recirc_pattern", pattern_value=0xFF000000, pattern_mask=0xFF000000)
    other, tagged = bytes.fromhex("fe123456") + bytes(60), bytes.fromhex("ff123456") + bytes(60)
    assert switch.send(1, other) == [(10, other)]
    assert generate(switch, 0) == []
    assert switch.send(1, tagged) == [(10, tagged)]
    assert generate(switch, 0) == [(9, seen(4, 0x123456, 0))]
