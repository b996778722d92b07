"""Hash, counters and the intrinsic metadata of TNA."""

from __future__ import annotations

import zlib

import pytest
from p4_programs import EGRESS, METADATA, PREAMBLE, program
from packet.reference_crc import crc, crc16

DATA = bytes.fromhex("01a2b3c4d5e6f708192a3b4c5d6e")  # data_h
ALL = "{hdr.data.kind, hdr.data.a, hdr.data.b, hdr.data.c, hdr.data.mac}"


def test_own_crc_is_right() -> None:
    """The check values of the CRC catalogue, over "123456789"."""
    digits = b"123456789"
    assert (
        crc(digits, 32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, True)
        == zlib.crc32(digits)
        == 0xCBF43926
    )
    assert crc16(digits) == 0xBB3D  # CRC-16/ARC
    assert crc(digits, 16, 0x1021, 0xFFFF, 0, False) == 0x29B1  # CRC-16/IBM-3740
    assert crc(digits, 8, 0x07, 0, 0, False) == 0xF4  # CRC-8/SMBUS
    assert crc(digits, 64, 0x42F0E1EBA9EA3693, 0, 0, False) == 0x6C40DF5F0B497347  # CRC-64/ECMA-182
    assert crc(digits, 16, 0x1021, 0, 0, True) == 0x2189  # CRC-16/KERMIT
    assert crc(digits, 32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, True) == 0xE3069283  # CRC-32/ISCSI


HASHES = program(
    f"""
        hdr.results.h32 = h32.get({ALL});
        hdr.results.h32_16 = h32_16.get({ALL});
        hdr.results.h16 = h16.get({ALL});
        hdr.results.h8 = h8.get({ALL});
        hdr.results.h64 = h64.get({ALL});
        hdr.results.custom = custom.get(hdr.data);
        hdr.results.same = same.get({{hdr.data.b, hdr.data.c}});
        hdr.results.two = h16.get({{hdr.data.c[19:4], 8w0, hdr.data.a[3:0], hdr.data.a[7:4]}});
        hdr.results.x8 = x8.get(hdr.data);
        hdr.results.x16 = x16.get({{hdr.data.kind, hdr.data.c}});
        hdr.results.x32 = x32.get({{hdr.data.c, hdr.data.mac}});
        hdr.results.setValid();
        hdr.data.setInvalid();
    """,
    preamble=PREAMBLE
    + """
header out_h {
    bit<32> h32; bit<16> h32_16; bit<16> h16; bit<8> h8; bit<64> h64; bit<16> custom; bit<16> same;
    bit<16> two; bit<8> x8; bit<16> x16; bit<24> x32; }
struct headers_t { data_h data; out_h results; extra_h extra; }
struct metadata_t { }
""",
    metadata="",
    local="""
    Hash<bit<32>>(HashAlgorithm_t.CRC32) h32;
    Hash<bit<16>>(HashAlgorithm_t.CRC32) h32_16;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) h16;
    Hash<bit<8>>(HashAlgorithm_t.CRC8) h8;
    Hash<bit<64>>(HashAlgorithm_t.CRC64) h64;
    CRCPolynomial<bit<16>>(0x1021, false, false, false, 0xFFFF, 0x0000) polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, polynomial) custom;
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) same;
    Hash<bit<8>>(HashAlgorithm_t.XOR8) x8;
    Hash<bit<16>>(HashAlgorithm_t.XOR16) x16;
    Hash<bit<24>>(HashAlgorithm_t.XOR32) x32;
""",
).replace("struct metadata_t { }", "struct metadata_t { bit<8> m8; }")


def test_hashes(load) -> None:
    [(_, out)] = load(HASHES).send(1, DATA)
    c, a = int.from_bytes(DATA[4:8], "big"), DATA[1]
    pieces = (c >> 4 & 0xFFFF).to_bytes(2, "big") + bytes([0, (a & 15) << 4 | a >> 4])
    expected = (
        zlib.crc32(DATA).to_bytes(4, "big")
        + (zlib.crc32(DATA) & 0xFFFF).to_bytes(2, "big")
        + crc16(DATA).to_bytes(2, "big")
        + crc(DATA, 8, 0x07, 0, 0, False).to_bytes(1, "big")
        + crc(DATA, 64, 0x42F0E1EBA9EA3693, 0, 0, False).to_bytes(8, "big")
        + crc(DATA, 16, 0x1021, 0xFFFF, 0, False).to_bytes(2, "big")
        + DATA[6:8]  # the low 16 bits of b ++ c
        + crc16(pieces).to_bytes(2, "big")
        # 01^a2^b3^c4^d5^e6^f7^08^19^2a^3b^4c^5d^6e
        + bytes([0x6F])
        # 01 d5e6f708 and d5e6f708 192a3b4c5d6e in words, the last one with zeros behind it
        + (0x01D5 ^ 0xE6F7 ^ 0x0800).to_bytes(2, "big")
        + ((0xD5E6F708 ^ 0x192A3B4C ^ 0x5D6E0000) & 0xFFFFFF).to_bytes(3, "big")
    )
    assert out.hex() == expected.hex()


RANDOM_HASH = program(
    "hdr.data.c = h.get({hdr.data.c, hdr.data.mac});",
    local="    Hash<bit<32>>(HashAlgorithm_t.RANDOM) h;",
)


def test_random_hash_spreads_and_is_linear(load) -> None:
    """A matrix over GF(2): h(a ^ b) = h(a) ^ h(b). Which one is not said."""
    switch = load(RANDOM_HASH)

    def h(value: int) -> int:
        [(_, out)] = switch.send(1, bytes(4) + value.to_bytes(10, "big"))
        return int.from_bytes(out[4:8], "big")

    values = [0x1234567890, 0xFFFF << 60, 1, 2, 0]
    for a in values:
        for b in values:
            assert h(a ^ b) == h(a) ^ h(b)
    assert len({h(i) for i in range(500)}) == 500


COUNTERS = program(
    "c.count(hdr.data.kind); if (hdr.data.kind == 2) { p.count(3, 4); } t.apply();",
    local="""
    Counter<bit<64>, bit<8>>(4, CounterType_t.PACKETS_AND_BYTES) c;
    Counter<bit<64>, bit<8>>(8, CounterType_t.BYTES) p;
    DirectCounter<bit<64>>(CounterType_t.PACKETS) d;
    action count() { d.count(); }
    action ignore() { }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { count; ignore; }
        default_action = count();
        counters = d;
        size = 8;
    }
""",
)


def test_counters(load) -> None:
    """Bytes are those on the wire: a frame's check sequence has four."""
    target = load(COUNTERS)
    for kind, action in ((1, "count"), (3, "ignore")):
        update = {"op": "upsert", "table": "t", "key": {"kind": kind}, "action": action}
        target.command("table_write", updates=[update])
    for kind in (1, 1, 2, 3, 9):
        target.send(1, bytes([kind]) + bytes(19))
    counts = target.command("counter_read", table="c")["counters"]
    assert counts == [
        {"index": 0, "$COUNTER_SPEC_PKTS": 0, "$COUNTER_SPEC_BYTES": 0},
        {"index": 1, "$COUNTER_SPEC_PKTS": 2, "$COUNTER_SPEC_BYTES": 48},
        {"index": 2, "$COUNTER_SPEC_PKTS": 1, "$COUNTER_SPEC_BYTES": 24},
        {"index": 3, "$COUNTER_SPEC_PKTS": 1, "$COUNTER_SPEC_BYTES": 24},
    ]  # kind 9 is outside: lost
    assert target.command("counter_read", table="p", index=3)["counters"] == [
        {"index": 3, "$COUNTER_SPEC_BYTES": 20}
    ]
    direct = target.command("counter_read", table="t")
    assert {e["key"]["hdr.data.kind"]: e["$COUNTER_SPEC_PKTS"] for e in direct["counters"]} == {
        1: 2,
        3: 0,
    }
    assert direct["default"] == {"$COUNTER_SPEC_PKTS": 2}
    target.command("counter_clear")
    assert target.command("counter_read", table="t")["default"] == {"$COUNTER_SPEC_PKTS": 0}


INTRINSIC = program(
    """
        hdr.data.a = (bit<8>) ig_intr_md.ingress_port;
        if (hdr.data.kind == 1) { ig_tm_md.ucast_egress_port = 300; ig_tm_md.bypass_egress = 0; }
        if (hdr.data.kind == 2) { ig_dprsr_md.drop_ctl = 1; }
        if (hdr.data.kind == 3) { invalidate(ig_tm_md.ucast_egress_port); }
        if (hdr.data.kind == 4) { ig_tm_md.bypass_egress = 0; }
    """,
    egress="""
struct eheaders_t { data_h data; }
struct emetadata_t { bit<8> n; }
parser EgParser(packet_in pkt, out eheaders_t hdr, out emetadata_t md,
                out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        pkt.extract(hdr.data);
        transition accept;
    }
}
control Eg(inout eheaders_t hdr, inout emetadata_t md, in egress_intrinsic_metadata_t eg_intr_md,
           in egress_intrinsic_metadata_from_parser_t eg_prsr_md,
           inout egress_intrinsic_metadata_for_deparser_t eg_dprsr_md) {
    apply {
        hdr.data.b = (bit<16>) eg_intr_md.egress_port;
        hdr.data.c = (bit<32>) eg_intr_md.pkt_length;
        if (hdr.data.kind == 4) { eg_dprsr_md.drop_ctl = 1; }
    }
}
control EgDeparser(packet_out pkt, inout eheaders_t hdr, in emetadata_t md) {
    apply { pkt.emit(hdr); }
}
""",
    blocks=("IngressParser", "Ingress", "IngressDeparser", "EgParser", "Eg", "EgDeparser"),
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (0, [(5, "0011" + "00" * 12 + "aabb")]),  # egress bypassed
        (1, [(300, "0111" + "012c" + "00000014" + "00" * 6 + "aabb")]),  # seen by egress
        (2, []),  # dropped in ingress
        (3, []),  # no port
        (4, []),  # dropped in egress
    ],
)
def test_intrinsic_metadata(load, kind: int, expected: list[tuple[int, str]]) -> None:
    frames = load(INTRINSIC).send(0x11, bytes([kind]) + bytes(13) + b"\xaa\xbb")
    assert [(port, frame.hex()) for port, frame in frames] == expected


TIMES = program(
    """
        ig_tm_md.bypass_egress = 0;
        hdr.data.b = ig_intr_md.ingress_mac_tstamp[15:0];
        hdr.data.c = ig_prsr_md.global_tstamp[31:0];
    """,
    egress=INTRINSIC[INTRINSIC.index("struct eheaders_t") : INTRINSIC.rindex("Pipeline(")].replace(
        INTRINSIC[
            INTRINSIC.index("hdr.data.b = (bit<16>)") : INTRINSIC.index(
                "if (hdr.data.kind == 4) { eg_dp"
            )
        ],
        "hdr.data.mac = 4w0 ++ eg_intr_md.enq_tstamp ++ eg_intr_md.deq_timedelta[7:0] "
        "++ eg_prsr_md.global_tstamp[17:0];",
    ),
    blocks=("IngressParser", "Ingress", "IngressDeparser", "EgParser", "Eg", "EgDeparser"),
)


def test_timestamps(load) -> None:
    """In memory a packet takes no time: all are those of its arrival, as many bits as they have."""
    now = 0x123456789ABC
    frame = load(TIMES).send(1, bytes(14), now_ns=now)[0][1]
    assert frame[2:4].hex() == "9abc"
    assert frame[4:8].hex() == "56789abc"
    low = now & (1 << 18) - 1
    assert int.from_bytes(frame[8:14], "big") == low << 26 | low


def test_packet_without_a_port_goes_nowhere(load) -> None:
    source = program().replace("ig_tm_md.ucast_egress_port = 5;", "")
    assert load(source).send(1, bytes(14)) == []


def test_packet_grows_and_shrinks_in_the_deparser(load) -> None:
    source = program(
        "if (hdr.data.kind == 1) { hdr.extra = {1, 2}; } else { hdr.data.setInvalid(); }",
        metadata=METADATA,
        egress=EGRESS,
    )
    assert load(source).send(1, b"\1" + bytes(13) + b"rest") == [
        (5, b"\1" + bytes(13) + b"\0\1\0\2rest")
    ]
    assert load(source).send(1, bytes(14) + b"rest") == [(5, b"rest")]


QUEUES = program(
    "ig_tm_md.qid = hdr.data.a[4:0]; ig_tm_md.bypass_egress = 0;",
    egress="""
struct queue_headers_t { data_h data; }
struct queue_metadata_t { bit<8> n; }
parser QueueParser(packet_in pkt, out queue_headers_t hdr, out queue_metadata_t md,
                   out egress_intrinsic_metadata_t eg_intr_md) {
    state start { pkt.extract(eg_intr_md); pkt.extract(hdr.data); transition accept; }
}
control Queue(inout queue_headers_t hdr, inout queue_metadata_t md,
              in egress_intrinsic_metadata_t eg_intr_md) {
    apply { hdr.data.b = (bit<16>) eg_intr_md.egress_qid; }
}
control QueueDeparser(packet_out pkt, inout queue_headers_t hdr, in queue_metadata_t md) {
    apply { pkt.emit(hdr); }
}
""",
    blocks=(
        "IngressParser", "Ingress", "IngressDeparser", "QueueParser", "Queue", "QueueDeparser",
    ),
)  # fmt: skip


def test_queue_id_says_which_of_eight_queues(load_anywhere) -> None:
    """Egress sees the queue that served the packet: of a qid's five bits, the lower three."""
    switch = load_anywhere(QUEUES)
    served = {}
    for qid in (0, 3, 7, 8, 21, 31):
        [(_, out)] = switch.send(1, bytes([0, qid]) + bytes(12))
        served[qid] = int.from_bytes(out[2:4], "big")
    assert served == {0: 0, 3: 3, 7: 7, 8: 0, 21: 5, 31: 7}


POLYNOMIALS = program(
    """
        hdr.data.b = kermit.get({hdr.data.a, hdr.data.kind});
        hdr.data.mac[31:0] = castagnoli.get({hdr.data.a, hdr.data.kind});
    """,
    local="""
    CRCPolynomial<bit<16>>(16w0x1021, true, false, false, 16w0, 16w0) kermit_polynomial;
    Hash<bit<16>>(HashAlgorithm_t.CUSTOM, kermit_polynomial) kermit;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, CRCPolynomial<bit<32>>(
        32w0x1EDC6F41, true, false, false, 32w0xFFFFFFFF, 32w0xFFFFFFFF)) castagnoli;
""",
)


def test_custom_polynomials_with_reflection_initial_value_and_final_xor(load) -> None:
    [(_, out)] = load(POLYNOMIALS).send(1, DATA)
    fields = bytes([DATA[1], DATA[0]])
    assert int.from_bytes(out[2:4], "big") == crc(fields, 16, 0x1021, 0, 0, True)
    expected = crc(fields, 32, 0x1EDC6F41, 0xFFFFFFFF, 0xFFFFFFFF, True)
    assert int.from_bytes(out[10:14], "big") == expected


WITH_MSB = program(
    "hdr.data.c = icrc.get({hdr.data.a, hdr.data.kind});",
    local="""
    CRCPolynomial<bit<32>>(0x04C11DB7, true, true, false, 0xFFFFFFFF, 0xFFFFFFFF) polynomial;
    Hash<bit<32>>(HashAlgorithm_t.CUSTOM, polynomial) icrc;
""",
)


def test_msb_changes_nothing_of_a_hash_as_wide_as_its_polynomial(load) -> None:
    """As mpitofino computes the ICRC of RoCE, which is the CRC-32 of Ethernet."""
    [(_, out)] = load(WITH_MSB).send(1, DATA)
    assert int.from_bytes(out[4:8], "big") == zlib.crc32(bytes([DATA[1], DATA[0]]))


# Declaration of h, its arguments, and its value according to the hash library of the open Tofino
# compiler (p4c backends/tofino/bf-utils/dynamic_hash, determine_seed of constant inputs).
DIGITS = "{32w0x31323334, 32w0x35363738, 8w0x39}"
POLYNOMIAL = "CRCPolynomial<bit<16>>(0x1021, true, false, {extended}, 0x89EC, 0x0001)"
COMPILER_HASHES = [
    ("bit<16>", "HashAlgorithm_t.CRC16", DIGITS, 0xBB3D),
    ("bit<32>", "HashAlgorithm_t.CRC16", DIGITS, 0xBB3DBB3D),
    ("bit<32>", "HashAlgorithm_t.CRC32", DIGITS, 0xCBF43926),
    (
        "bit<32>",
        "HashAlgorithm_t.CUSTOM, " + POLYNOMIAL.format(extended="false"),
        DIGITS,
        0xA6B1,
    ),
    (
        "bit<32>",
        "HashAlgorithm_t.CUSTOM, " + POLYNOMIAL.format(extended="true"),
        DIGITS,
        0xA6B1A6B1,
    ),
    ("bit<16>", "HashAlgorithm_t.CRC16", "{4w0xA, 8w0xC3}", 0xF146),
    ("bit<12>", "HashAlgorithm_t.CRC16", "{8w1, 8w2}", 0x180),
    ("bit<16>", "HashAlgorithm_t.XOR16", "{8w1, 32w0xD5E6F708}", 0xEF22),
    ("bit<24>", "HashAlgorithm_t.XOR16", "{8w1, 32w0xD5E6F708}", 0xEF22),
    ("bit<24>", "HashAlgorithm_t.XOR32", "{32w0xD5E6F708, 48w0x192A3B4C5D6E}", 0xA2CC44),
    ("bit<8>", "HashAlgorithm_t.XOR8", "{8w0xA5, 4w9}", 0x35),
    ("bit<16>", "HashAlgorithm_t.IDENTITY", "{16w0xB3C4, 32w0xD5E6F708}", 0xF708),
    ("bit<32>", "HashAlgorithm_t.IDENTITY", "{16w0xB3C4}", 0xB3C4),
]


def test_hashes_equal_those_of_the_tofino_compiler(load) -> None:
    """All in one program, chosen by the first byte."""
    local = "".join(
        f"    Hash<{width}>({algorithm}) h{i};\n"
        for i, (width, algorithm, _, _) in enumerate(COMPILER_HASHES)
    )
    calls = "".join(
        f"if (hdr.data.kind == {i}) {{ hdr.data.c = (bit<32>) h{i}.get({arguments}); }}\n"
        for i, (_, _, arguments, _) in enumerate(COMPILER_HASHES)
    )
    switch = load(program(calls, local=local))
    for i, (width, algorithm, arguments, expected) in enumerate(COMPILER_HASHES):
        [(_, out)] = switch.send(1, bytes([i]) + bytes(13))
        assert out[4:8].hex() == f"{expected:08x}", f"{algorithm} {arguments} in {width}"


def test_an_out_parameter_that_is_not_assigned_assigns_no_port(load) -> None:
    """P4Testgen's tests of p4c's sample tna_simple_switch expect a drop where its control for the
    link aggregation misses.
    """
    source = program(
        "choose.apply(hdr, ig_tm_md.ucast_egress_port);",
        top="""
control Choose(in headers_t hdr, out PortId_t port) {
    apply { if (hdr.data.kind == 1) { port = 9; } }
}
""",
        local="Choose() choose;",
    ).replace("ig_tm_md.ucast_egress_port = 5;", "")
    switch = load(source)
    assert [port for port, _ in switch.send(5, bytes([1]) + bytes(13))] == [9]
    assert switch.send(5, bytes(14)) == []


UNUSED_DIRECT = program(
    "hdr.data.a = 1;",
    local="""
    DirectCounter<bit<64>>(CounterType_t.PACKETS) counter;
    DirectMeter(MeterType_t.BYTES) meter;
    DirectLpf<bit<16>>() filter;
    DirectRegister<bit<16>>() cells;
""",
)


def test_direct_externs_that_no_table_uses_are_no_part_of_the_program(load) -> None:
    switch = load(UNUSED_DIRECT)
    assert switch.command("schema")["tables"] == []
    assert switch.send(1, bytes(14))[0][1][1] == 1
