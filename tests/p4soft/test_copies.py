"""Mirror, resubmit, recirculation, multicast, CPU copies, digests, meters, random numbers."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from p4_programs import PARSER, PREAMBLE, program
from packet.targets import CommandFailedError
from refusals import check_refused

EGRESS = """
header tag_h { bit<8> kind; bit<8> tag; bit<16> origin; }
struct egress_headers_t { tag_h tag; data_h data; }
struct egress_metadata_t { bit<10> session; }

parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        transition select(pkt.lookahead<bit<8>>()) { 0xEE: tagged; default: plain; }
    }
    state tagged { pkt.extract(hdr.tag); transition plain; }
    state plain { pkt.extract(hdr.data); transition accept; }
}
control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md,
               in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
               inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md,
               inout egress_intrinsic_metadata_for_output_port_t eg_oport_md) {
    apply {
        hdr.data.b = eg_intr_md.egress_rid;
        if (hdr.data.kind == 5 && !hdr.tag.isValid()) {
            eg_dprsr_md.mirror_type = 2;
            hdr.data.a = hdr.data.a + 1;
        }
        if (hdr.data.kind == 6) { eg_dprsr_md.drop_ctl = 1; }
    }
}
control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md,
                       in egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    Mirror() mirror;
    apply {
        if (eg_dprsr_md.mirror_type == 2) { mirror.emit<tag_h>(8, {0xEE, 2, 0xBEEF}); }
        pkt.emit(hdr);
    }
}
"""
BLOCKS = (
    "IngressParser", "Ingress", "IngressDeparser", "EgressParser", "Egress", "EgressDeparser",
)  # fmt: skip
SWITCH = program(
    """
        ig_tm_md.bypass_egress = 0;
        if (ig_intr_md.resubmit_flag == 1) {
            hdr.data.c = md.again.value ++ md.again.note;
            hdr.data.kind = 0;
        } else if (hdr.data.kind == 1) {                 // mirror, with the frame as it arrived
            ig_dprsr_md.mirror_type = 1;
            hdr.data.a = 0xFF;
        } else if (hdr.data.kind == 2) {                 // through ingress again
            ig_dprsr_md.resubmit_type = 1;
            hdr.data.a = 0xFF;
        } else if (hdr.data.kind == 3) {                 // round through port 68, `a` times
            if (hdr.data.a > 0) {
                hdr.data.a = hdr.data.a - 1;
                ig_tm_md.ucast_egress_port = 68;
            }
        } else if (hdr.data.kind == 4) {                 // multicast
            ig_tm_md.mcast_grp_a = hdr.data.b;
            ig_tm_md.level1_exclusion_id = (bit<16>) hdr.data.c[7:0];
            ig_tm_md.rid = hdr.data.c[31:16];
            ig_tm_md.level2_exclusion_id = hdr.data.c[16:8];
            invalidate(ig_tm_md.ucast_egress_port);
        } else if (hdr.data.kind == 7) {
            ig_tm_md.copy_to_cpu = 1;
            ig_dprsr_md.drop_ctl = hdr.data.a[2:0];
        }
        md.session = 7;
""",
    preamble=PREAMBLE + "header again_h { bit<16> value; bit<16> note; bit<32> rest; }\n",
    metadata="""
header mirror_h { bit<8> kind; bit<8> tag; bit<16> port; }
struct headers_t { data_h data; }
struct metadata_t { again_h again; bit<10> session; }
""",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.resubmit_flag) { 1: again; default: first; }
    }
    state again { pkt.extract(md.again); transition data; }
    state first { pkt.advance(PORT_METADATA_SIZE); transition data; }
    state data { pkt.extract(hdr.data); transition accept; }
""",
    deparser_local="    Mirror() mirror;\n    Resubmit() resubmit;\n",
    deparser="""
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(md.session, {0xEE, 1, 0x1234});
        }
        if (ig_dprsr_md.resubmit_type == 1) {
            resubmit.emit<again_h>({hdr.data.b, 0xCAFE, 0});
        }
        pkt.emit(hdr);
""",
    egress=EGRESS,
    blocks=BLOCKS,
)


def data(kind: int, a: int = 0, b: int = 0, c: int = 0, rest: bytes = b"tail") -> bytes:
    head = bytes([kind, a]) + b.to_bytes(2, "big") + c.to_bytes(4, "big")
    return head + b"macmac" + rest


def write(target, table: str, key: dict, values: dict | None = None, op: str = "upsert") -> None:
    update = {"op": op, "table": table, "key": key} | ({"data": values} if values else {})
    target.command("table_write", updates=[update])


def session(target, number: int, port: int, **values) -> None:
    fields = {"$session_enable": True, "$ucast_egress_port": port, "$ucast_egress_port_valid": True}
    write(target, "$mirror.cfg", {"$sid": number}, fields | values)


def test_ingress_mirrors_the_frame_as_it_arrived(load_anywhere) -> None:
    switch = load_anywhere(SWITCH)
    assert switch.send(1, data(1)) == [(5, data(1, 0xFF))]  # no session: no copy
    session(switch, 7, 9)
    mirrored = bytes.fromhex("ee011234") + data(1)
    assert sorted(switch.send(1, data(1))) == [(5, data(1, 0xFF)), (9, mirrored)]
    session(switch, 7, 9, **{"$max_pkt_len": 16})
    assert (9, mirrored[:16]) in switch.send(1, data(1))  # ends inside data_h: goes on as payload
    for whole in (0, 0xFFFF):  # not cut: bf_rt_mirror_table_impl.cpp
        session(switch, 7, 9, **{"$max_pkt_len": whole})
        assert (9, mirrored) in switch.send(1, data(1))
    session(switch, 7, 9, **{"$direction": "EGRESS", "$max_pkt_len": 10240})
    assert switch.send(1, data(1)) == [(5, data(1, 0xFF))]
    write(switch, "$mirror.cfg", {"$sid": 7}, op="delete")
    assert switch.send(1, data(1)) == [(5, data(1, 0xFF))]


def test_egress_mirrors_the_frame_as_it_leaves(load_anywhere) -> None:
    switch = load_anywhere(SWITCH)
    session(switch, 8, 10)
    frames = dict(switch.send(1, data(5, 3)))
    assert frames == {5: data(5, 4), 10: bytes.fromhex("ee02beef") + data(5, 4)}


def test_resubmit_passes_ingress_twice_unchanged(load_anywhere) -> None:
    """The second pass sees the frame as it arrived (a = 0, not 0xFF) and the data of the first."""
    [(port, frame)] = load_anywhere(SWITCH).send(1, data(2, 0, 0x5678))
    assert (port, frame) == (5, data(0, 0, 0, 0x5678CAFE))


def test_recirculation(load_anywhere) -> None:
    switch = load_anywhere(SWITCH)
    assert switch.send(1, data(3, 4)) == [(5, data(3, 0))]
    assert switch.send(1, data(3, 0)) == [(5, data(3, 0))]


def test_multicast(load_anywhere) -> None:
    switch = load_anywhere(SWITCH)
    write(
        switch, "$pre.node", {"$MULTICAST_NODE_ID": 1}, {"$MULTICAST_RID": 17, "$DEV_PORT": [1, 2]}
    )
    write(switch, "$pre.node", {"$MULTICAST_NODE_ID": 2}, {"$MULTICAST_RID": 18, "$DEV_PORT": [3]})
    write(
        switch,
        "$pre.mgid",
        {"$MGID": 4},
        {
            "$MULTICAST_NODE_ID": [1, 2],
            "$MULTICAST_NODE_L1_XID_VALID": [False, True],
            "$MULTICAST_NODE_L1_XID": [0, 0x21],
        },
    )
    write(switch, "$pre.prune", {"$MULTICAST_L2_XID": 6}, {"$DEV_PORT": [2]})

    def copies(c: int) -> dict[int, bytes]:
        return {port: frame[2:4] for port, frame in switch.send(1, data(4, 0, 4, c))}

    assert copies(0) == {1: b"\0\x11", 2: b"\0\x11", 3: b"\0\x12"}  # with the rid of each node
    assert copies(0x21) == {1: b"\0\x11", 2: b"\0\x11"}  # node 2 is excluded by level 1
    assert copies(17 << 16 | 6 << 8) == {1: b"\0\x11", 2: b"\0\x11", 3: b"\0\x12"}  # 9 bits: 0x106
    write(switch, "$pre.prune", {"$MULTICAST_L2_XID": 0x106}, {"$DEV_PORT": [2, 3]})
    assert copies(17 << 16 | 6 << 8) == {1: b"\0\x11", 3: b"\0\x12"}  # port 2 by level 2
    # A frame with the global rid is of all nodes.
    write(switch, "$pre.device_config", {"$DEVICE": 0}, {"$GLOBAL_RID": 17})
    assert copies(17 << 16 | 6 << 8) == {1: b"\0\x11"}
    write(switch, "$pre.device_config", {"$DEVICE": 0}, op="delete")
    assert copies(6 << 8) == {1: b"\0\x11", 3: b"\0\x12"}  # it is 0 unless set
    assert switch.send(1, data(4, 0, 99)) == []  # a group without members
    with pytest.raises(CommandFailedError, match="delete groups before nodes"):
        write(switch, "$pre.node", {"$MULTICAST_NODE_ID": 2}, op="delete")
    assert copies(0).keys() == {1, 2, 3}  # the refused batch changed nothing
    lags = {"$MULTICAST_RID": 17, "$DEV_PORT": [1], "$MULTICAST_LAG_ID": [7]}
    with pytest.raises(CommandFailedError, match="no link aggregation groups"):
        write(switch, "$pre.node", {"$MULTICAST_NODE_ID": 1}, lags)
    assert copies(0).keys() == {1, 2, 3}
    write(switch, "$pre.mgid", {"$MGID": 4}, op="delete")
    write(switch, "$pre.node", {"$MULTICAST_NODE_ID": 2}, op="delete")
    assert copies(0) == {}


FIRST = program(
    """
        ig_tm_md.bypass_egress = 0;
        invalidate(ig_tm_md.ucast_egress_port);
        ig_tm_md.mcast_grp_a = hdr.data.b;
        ig_tm_md.mcast_grp_b = hdr.data.c[15:0];
        ig_tm_md.rid = 17;
        ig_tm_md.level2_exclusion_id = hdr.data.c[24:16];
        if (hdr.data.kind == 1) { ig_tm_md.ucast_egress_port = 9; }
    """,
    egress=EGRESS.replace(
        "hdr.data.b = eg_intr_md.egress_rid;",
        "hdr.data.a = (bit<8>) eg_intr_md.egress_rid; "
        "hdr.data.b = (bit<16>) eg_intr_md.egress_rid_first;",
    ),
    blocks=BLOCKS,
)


def test_first_copy_of_a_replication_id_is_marked(load_anywhere) -> None:
    switch = load_anywhere(FIRST)
    for node, rid, ports in ((1, 17, [1, 2]), (2, 18, [3, 5, 9]), (3, 17, [10])):
        data_of = {"$MULTICAST_RID": rid, "$DEV_PORT": ports}
        write(switch, "$pre.node", {"$MULTICAST_NODE_ID": node}, data_of)
    for group, nodes in ((4, [1, 2, 3]), (5, [3])):
        lists = {"$MULTICAST_NODE_ID": nodes, "$MULTICAST_NODE_L1_XID_VALID": [False] * len(nodes)}
        lists["$MULTICAST_NODE_L1_XID"] = [0] * len(nodes)
        write(switch, "$pre.mgid", {"$MGID": group}, lists)
    write(switch, "$pre.prune", {"$MULTICAST_L2_XID": 6}, {"$DEV_PORT": [1]})

    def firsts(kind: int, group: int, c: int) -> list[tuple[int, int, int]]:
        """Port, rid and egress_rid_first of every copy."""
        copies = switch.send(1, data(kind, 0, group, c))
        return sorted((port, out[1], int.from_bytes(out[2:4], "big")) for port, out in copies)

    whole = [(1, 17, 1), (2, 17, 0), (3, 18, 1), (5, 18, 0), (9, 18, 0), (10, 17, 0)]
    assert firsts(0, 4, 0) == whole
    # Port 1 is pruned: port 2's copy is the first of rid 17.
    assert firsts(0, 4, 6 << 16) == [(2, 17, 1), *whole[2:]]
    assert firsts(0, 4, 5) == [*whole, (10, 17, 1)]  # each group has its own first copies
    assert firsts(1, 99, 0) == [(9, 0, 0)]  # a unicast copy is no replica


def test_copy_to_cpu_and_drop_ctl(load_anywhere) -> None:
    switch = load_anywhere(SWITCH)
    write(switch, "$pre.port", {"$DEV_PORT": 64}, {"$COPY_TO_CPU_PORT_ENABLE": True})
    ports = {drop: sorted(port for port, _ in switch.send(1, data(7, drop))) for drop in range(4)}
    assert ports == {0: [5, 64], 1: [64], 2: [5], 3: []}
    write(switch, "$pre.port", {"$DEV_PORT": 64}, op="delete")
    assert [port for port, _ in switch.send(1, data(7, 0))] == [5]


def test_egress_drop(load_anywhere) -> None:
    assert load_anywhere(SWITCH).send(1, data(6)) == []


WRONG = {
    "unknown table": ({"op": "insert", "table": "$pre.nodes", "key": {}}, "near names are"),
    "missing key": ({"op": "insert", "table": "$pre.node", "key": {}}, "is missing"),
    "missing field": (
        {"op": "insert", "table": "$pre.node", "key": {"$MULTICAST_NODE_ID": 9}, "data": {}},
        r"\$MULTICAST_RID is missing",
    ),
    "too wide": (
        {"op": "insert", "table": "$mirror.cfg", "key": {"$sid": 1024}, "data": {}},
        r"\$sid",
    ),
    "no list": (
        {
            "op": "insert",
            "table": "$pre.node",
            "key": {"$MULTICAST_NODE_ID": 9},
            "data": {"$MULTICAST_RID": 1, "$DEV_PORT": 3},
        },
        "expected a list",
    ),
    "no bool": (
        {
            "op": "insert",
            "table": "$pre.port",
            "key": {"$DEV_PORT": 1},
            "data": {"$COPY_TO_CPU_PORT_ENABLE": 1},
        },
        "expected true or false",
    ),
    "absent": (
        {"op": "modify", "table": "$mirror.cfg", "key": {"$sid": 3}, "data": {}},
        "does not exist",
    ),
    "no operation": ({"op": "add", "table": "$mirror.cfg", "key": {"$sid": 3}}, "is not known"),
    "no text as operation": (
        {"op": 5, "table": "$mirror.cfg", "key": {"$sid": 3}},
        '"op" is 5, no text; expected "insert"',
    ),
    "no bool as from_groups": (
        {"op": "clear", "table": "$pre.node", "from_groups": "all"},
        "expected true or false",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_update_of_a_fixed_table(load_anywhere, name: str) -> None:
    update, message = WRONG[name]
    with pytest.raises(CommandFailedError, match=message) as error:
        load_anywhere(SWITCH).command("table_write", updates=[update])
    assert "updates[0]" in str(error.value)


DIGESTS = program(
    "if (hdr.data.kind == 1) { ig_dprsr_md.digest_type = 2; }",
    metadata="""
struct learn_t { bit<12> small; bit<48> mac; bool yes; bit<32> c; }
struct headers_t { data_h data; extra_h extra; }
struct metadata_t { bit<8> m8; }
""",
    deparser_local="    Digest<learn_t>() learn;\n",
    deparser="""
        if (ig_dprsr_md.digest_type == 2) {
            learn.pack({hdr.data.b[11:0], hdr.data.mac, hdr.data.a == 1, hdr.data.c});
        }
        pkt.emit(hdr);
""",
)


def test_digests(load_anywhere) -> None:
    switch = load_anywhere(DIGESTS)
    switch.command("digest_read")
    for c in range(3):
        switch.send(1, data(1, 1 if c == 0 else 0, 0xFABC, c))
    switch.send(1, data(0))
    first = switch.command("digest_read", max=1)
    assert first["digests"] == [
        {
            "name": "pipe.IngressDeparser.learn",
            "pipe": 0,
            "fields": {"small": 0xABC, "mac": int.from_bytes(b"macmac", "big"), "yes": 1, "c": 0},
        }
    ]
    assert (first["waiting"], first["lost"]) == (2, 0)
    rest = switch.command("digest_wait", deadline_s=20)["digests"]
    assert [d["fields"]["c"] for d in rest] == [1, 2]


def test_a_full_digest_queue_counts_what_it_loses(load) -> None:
    switch = load(DIGESTS)
    switch.command("digest_read")
    lost = switch.command("digest_read")["lost"]
    for _ in range(4096 + 5):
        switch.send(1, data(1))
    read = switch.command("digest_read")
    assert (len(read["digests"]), read["lost"] - lost) == (4096, 5)


METERS = program(
    """
        hdr.data.a = packets.execute(hdr.data.b);
        hdr.data.c = (bit<32>) bytes.execute(hdr.data.b, MeterColor_t.GREEN);
    """,
    local="""
    Meter<bit<16>>(4, MeterType_t.PACKETS) packets;
    Meter<bit<16>>(4, MeterType_t.BYTES) bytes;
""",
)
GREEN, YELLOW, RED = 0, 1, 3
CHECK_SEQUENCE = 4  # bytes at the end of a frame, which count


def colors(switch, at_ns: int, size: int = 100) -> tuple[int, int]:
    frame = data(0, 0, 2, 0, bytes(size - CHECK_SEQUENCE - 14))
    [(_, out)] = switch.send(1, frame, now_ns=at_ns)
    return out[1], int.from_bytes(out[4:8], "big")


def test_meters(load) -> None:
    """Two rates, three colours (RFC 2698): CIR 1,000/s with burst 2, PIR 2,000/s with burst 3."""
    switch = load(METERS)
    assert colors(switch, 0) == (GREEN, GREEN)  # no limits
    limits = {"CIR_PPS": 1000, "PIR_PPS": 2000, "CBS_PKTS": 2, "PBS_PKTS": 3}
    limits = {f"$METER_SPEC_{name}": value for name, value in limits.items()}
    switch.command("meter_write", table="packets", index=2, data=limits)
    assert switch.command("meter_read", table="packets", index=2)["data"] == limits
    start = 10**12
    assert [colors(switch, start)[0] for _ in range(5)] == [GREEN, GREEN, YELLOW, RED, RED]
    # After 1 ms: one committed and two peak tokens.
    later = start + 10**6
    assert [colors(switch, later)[0] for _ in range(3)] == [GREEN, YELLOW, RED]
    assert colors(switch, later + 499_999)[0] == RED  # a peak token takes 0.5 ms
    assert colors(switch, later + 500_000)[0] == YELLOW
    switch.command("meter_write", table="packets", index=2, data=None)
    assert colors(switch, later)[0] == GREEN


def test_byte_meter(load) -> None:
    switch = load(METERS)
    limits = {"CIR_KBPS": 8, "PIR_KBPS": 8, "CBS_KBITS": 2, "PBS_KBITS": 2}  # 1,000 B/s, 250 B
    limits = {f"$METER_SPEC_{name}": value for name, value in limits.items()}
    switch.command("meter_write", table="bytes", index=2, data=limits)
    at = 10**12
    assert [colors(switch, at)[1] for _ in range(3)] == [GREEN, GREEN, RED]  # 250 - 2 x 100 < 100
    assert colors(switch, at, 50)[1] == GREEN
    assert colors(switch, at + 10**8)[1] == GREEN  # 0.1 s: 100 bytes
    with pytest.raises(CommandFailedError, match=r"lacks \"\$METER_SPEC_PIR_KBPS\""):
        switch.command("meter_write", table="bytes", index=0, data={"$METER_SPEC_CIR_KBPS": 1})
    with pytest.raises(CommandFailedError, match="index 4 is not below its size 4"):
        switch.command("meter_read", table="bytes", index=4)


def test_limits_are_whole_bytes(load) -> None:
    """A byte is 0.008 kbit. CBS = PBS = 199 bytes are less than two frames of 100."""
    switch = load(METERS)
    limits = {"CIR_KBPS": 0.008, "PIR_KBPS": 8.008, "CBS_KBITS": 1.592, "PBS_KBITS": 1.592}
    limits = {f"$METER_SPEC_{name}": value for name, value in limits.items()}
    switch.command("meter_write", table="bytes", index=2, data=limits)
    assert switch.command("meter_read", table="bytes", index=2)["data"] == limits
    assert [colors(switch, 10**12)[1] for _ in range(2)] == [GREEN, RED]
    for value, message in ((0.001, "whole number of bytes"), (1e9, "more than 80000000")):
        wrong = limits | {"$METER_SPEC_CIR_KBPS": value}
        with pytest.raises(CommandFailedError, match=message):
            switch.command("meter_write", table="bytes", index=2, data=wrong)
    packets = {"CIR_PPS": 0.5, "PIR_PPS": 1, "CBS_PKTS": 1, "PBS_PKTS": 1}
    packets = {f"$METER_SPEC_{name}": value for name, value in packets.items()}
    with pytest.raises(CommandFailedError, match=r"0\.5 is not a whole number of packets"):
        switch.command("meter_write", table="packets", index=2, data=packets)


def test_all_cells_of_a_meter(load) -> None:
    switch = load(METERS)
    limits = {"CIR_PPS": 1, "PIR_PPS": 2, "CBS_PKTS": 3, "PBS_PKTS": 4}
    limits = {f"$METER_SPEC_{name}": value for name, value in limits.items()}

    def cells() -> list[dict | None]:
        read = switch.command("meter_read", table="packets")["meters"]
        assert [cell["index"] for cell in read] == list(range(4))
        return [cell["data"] for cell in read]

    switch.command("meter_write", table="packets", data=limits)
    assert cells() == [limits] * 4
    switch.command("meter_write", table="packets", index=1, data=None)
    assert cells() == [limits, None, limits, limits]
    switch.command("meter_clear")
    assert cells() == [None] * 4


RANDOMS = program(
    "hdr.data.a = (bit<8>) three.get(); hdr.data.b = sixteen.get(); hdr.data.c = wide.get();",
    local="""
    Random<bit<3>>() three;
    Random<bit<16>>() sixteen;
    Random<bit<32>>() wide;
""",
)


def test_random_numbers(load) -> None:
    switch = load(RANDOMS)

    def draw(count: int) -> list[bytes]:
        return [switch.send(1, data(0))[0][1][1:8] for _ in range(count)]

    switch.command("random_seed", seed=7)
    first = draw(4000)
    switch.command("random_seed", seed=8)
    assert draw(1)[0] != first[0]
    switch.command("random_seed", seed=7)
    assert draw(10) == first[:10]
    counts = Counter(row[0] for row in first)
    # Eight values, 500 expected, standard deviation 21: six of them are 125.
    assert set(counts) == set(range(8))
    assert all(abs(count - 500) < 125 for count in counts.values())
    assert len({row[1:3] for row in first}) > 3700  # of 65,536; 3,881 distinct expected


MISPLACED = {
    "mirror in a control": (
        program(local="    Mirror() /*^*/mirror;"),
        "a Mirror belongs in the ingress deparser or egress deparser",
    ),
    "resubmit in egress": (
        program(
            egress=EGRESS.replace("Mirror() mirror;", "Resubmit() /*^*/again;").replace(
                "if (eg_dprsr_md.mirror_type == 2) { mirror.emit<tag_h>(8, {0xEE, 2, 0xBEEF}); }",
                "",
            ),
            blocks=BLOCKS,
        ),
        "a Resubmit belongs in the ingress deparser of the pipeline",
    ),
    "mirror header too long": (
        program(
            deparser_local="    Mirror() mirror;",
            deparser="mirror.emit<long_h>(1, {/*^*/8w0, 256w0});",
            preamble=PREAMBLE + "header long_h { bit<8> x; bit<128> y; bit<128> z; }\n",
        ).replace("{/*^*/8w0, 256w0}", "/*^*/{8w0, 128w0, 128w0}"),
        "this mirror header has 33 bytes; Tofino takes 32",
    ),
    "resubmit data too long": (
        program(
            deparser_local="    Resubmit() again;", deparser="again.emit<data_h>(/*^*/hdr.data);"
        ),
        "this resubmit data has 14 bytes; Tofino takes 8",
    ),
    "digest too long": (
        program(
            top="struct learn_t { bit<128> a; bit<128> b; bit<128> c; bit<1> d; }\n",
            deparser_local="    Digest<learn_t>() learn;",
            deparser="/*^*/learn.pack({0, 0, 0, 1});",
        ),
        "this digest has 49 bytes; Tofino takes 48",
    ),
    "digest of headers": (
        program(deparser_local="    Digest<headers_t>() /*^*/learn;"),
        "a Digest of headers_t is not supported by p4soft",
    ),
    "meter in a parser": (
        program(
            parser=PARSER.replace("transition", "md.m8 = /*^*/meter.execute(8w1); transition"),
            parser_local="    Meter<bit<8>>(4, MeterType_t.BYTES) meter;",
        ),
        "a meter is executed here; only controls can, not parsers",
    ),
}


@pytest.mark.parametrize("name", MISPLACED)
def test_misplaced(name: str, tmp_path: Path) -> None:
    text, message = MISPLACED[name]
    check_refused(text, message, tmp_path)


TYPED = program(
    """
        ig_dprsr_md.mirror_type = (bit<3>) hdr.data.a[2:0];
        ig_dprsr_md.digest_type = (bit<3>) hdr.data.a[2:0];
        if (ig_intr_md.resubmit_flag == 0) { ig_dprsr_md.resubmit_type = hdr.data.a[6:4]; }
        hdr.data.b = (bit<16>) ig_intr_md.resubmit_flag;
    """,
    top="struct learn_t { bit<8> a; }\n",
    deparser_local="""
    Mirror(1) first;
    Mirror(2) second;
    Digest<learn_t>(2) learn;
    Resubmit(3) resubmit;
""",
    deparser="""
        first.emit<extra_h>(7, {0xAAAA, 1});
        second.emit(7);
        learn.pack({hdr.data.a});
        resubmit.emit();
        pkt.emit(hdr);
""",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        transition accept;
    }
""",
)


def test_instances_made_with_a_type_ask_only_for_that_type(load) -> None:
    switch = load(TYPED)
    session(switch, 7, 9)

    def sent(a: int) -> dict[int, bytes]:
        return dict(switch.send(1, data(0, a)))

    assert sent(0) == {5: data(0, 0)}
    assert sent(1) == {5: data(0, 1), 9: bytes.fromhex("aaaa0001") + data(0, 1)}
    assert sent(2) == {5: data(0, 2), 9: data(0, 2)}
    assert sent(0x30) == {5: data(0, 0x30, 1)}  # resubmitted
    assert sent(0x20) == {5: data(0, 0x20, 0)}
    digests = switch.command("digest_read")["digests"]
    assert [digest["fields"] for digest in digests] == [{"a": 2}]
    switch.send(300, data(0, 2))
    [digest] = switch.command("digest_read")["digests"]
    assert digest["pipe"] == 300 // 128


@pytest.mark.parametrize("data", [[], None, 5])
def test_data_of_a_group_that_are_no_object_are_refused(load, data: object) -> None:
    update = {"op": "upsert", "table": "$pre.mgid", "key": {"$MGID": 9}, "data": data}
    with pytest.raises(CommandFailedError, match=r"table \$pre\.mgid: \"data\" is .*; expected an"):
        load(SWITCH).command("table_write", updates=[update])


# As in the vendor's example tna_resubmit: its test NoResubmitTest assigns no type, and expects the
# packet to leave, although one of the types is 0.
TYPE_ZERO = program(
    """
    if (hdr.data.kind == 1) { ig_dprsr_md.resubmit_type = 0; hdr.data.a = 1; }
    if (hdr.data.kind == 2) { ask(ig_dprsr_md.digest_type); }
    if (hdr.data.kind == 3) { ig_dprsr_md.digest_type = 5; }
    if (ig_intr_md.resubmit_flag == 1) { hdr.data.a = 2; ig_dprsr_md.resubmit_type = 1; }
    """,
    top="struct seen_t { bit<8> kind; }\n",
    local="    action ask(out bit<3> type) { type = 0; }",
    deparser_local="    Resubmit() resubmit;\n    Digest<seen_t>(0) digest;",
    deparser="""
        if (ig_dprsr_md.resubmit_type == 0) { resubmit.emit(); }
        digest.pack({hdr.data.kind});
        pkt.emit(hdr);""",
)


def test_type_zero_asks_only_if_it_was_assigned(load) -> None:
    switch = load(TYPE_ZERO)

    def sent(kind: int) -> tuple[int, int]:
        """The frame's field a, digests."""
        [(_, frame)] = switch.send(1, bytes([kind]) + bytes(13))
        return frame[1], len(switch.command("digest_read")["digests"])

    assert sent(0) == (0, 0)
    assert sent(1) == (2, 0)
    assert sent(2) == (0, 1)
    assert sent(3) == (0, 0)
    assert sent(0) == (0, 0)  # nothing is left of the packets before
