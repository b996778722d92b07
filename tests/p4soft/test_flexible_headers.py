"""Headers with @flexible fields, which the Tofino compiler pads; structs inside headers."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import pytest
from p4_programs import PARSER, PREAMBLE, program
from refusals import check_refused

HEADERS = """
header bridge_h {
    bit<8> kind;
    @flexible bit<3> small;
    @flexible bit<9> port;
    @flexible bool yes;
}
@flexible
struct inner_t { bit<9> port; bit<2> color; }
header outer_h { bit<8> kind; inner_t inner; }
header given_h { @padding bit<7> pad; @flexible bit<9> port; @flexible bit<4> rest; }
header mirror_h { bit<8> kind; @flexible bit<10> session; }
"""
EGRESS = """
struct egress_headers_t {
    bridge_h bridge; outer_h outer; given_h given; mirror_h mirror; data_h data;
}
struct egress_metadata_t { bit<128> seen; }
parser EgressParser(packet_in pkt, out egress_headers_t hdr, out egress_metadata_t md,
                    out egress_intrinsic_metadata_t eg_intr_md) {
    state start {
        pkt.extract(eg_intr_md);
        md.seen = pkt.lookahead<bit<128>>();
        transition select(pkt.lookahead<bit<8>>()) {
            0xB1: bridge;
            0xB2: outer;
            0xB4: mirror;
            default: given;
        }
    }
    state bridge { pkt.extract(hdr.bridge); transition data; }
    state outer { pkt.extract(hdr.outer); transition data; }
    state given { pkt.extract(hdr.given); transition data; }
    state mirror { pkt.extract(hdr.mirror); transition data; }
    state data { pkt.extract(hdr.data); transition accept; }
}
control Egress(inout egress_headers_t hdr, inout egress_metadata_t md,
               in egress_intrinsic_metadata_t eg_intr_md) {
    apply {
        if (hdr.bridge.isValid()) {
            hdr.data.a = 5w0 ++ hdr.bridge.small;
            hdr.data.b = 7w0 ++ hdr.bridge.port;
            hdr.data.kind = hdr.bridge.yes ? 8w1 : 8w0;
        } else if (hdr.outer.isValid()) {
            hdr.data.a = 6w0 ++ hdr.outer.inner.color;
            hdr.data.b = 7w0 ++ hdr.outer.inner.port;
        } else if (hdr.given.isValid()) {
            hdr.data.a = 4w0 ++ hdr.given.rest;
            hdr.data.b = 7w0 ++ hdr.given.port;
        } else {
            hdr.data.b = 6w0 ++ hdr.mirror.session;
        }
        hdr.data.c = 16w0 ++ eg_intr_md.pkt_length;
        hdr.data.mac = md.seen[127:80];
        hdr.bridge.setInvalid();
        hdr.outer.setInvalid();
        hdr.given.setInvalid();
        hdr.mirror.setInvalid();
    }
}
control EgressDeparser(packet_out pkt, inout egress_headers_t hdr, in egress_metadata_t md) {
    apply { pkt.emit(hdr); }
}
"""
BLOCKS = (
    "IngressParser", "Ingress", "IngressDeparser", "EgressParser", "Egress", "EgressDeparser",
)  # fmt: skip
METADATA = """
struct headers_t { bridge_h bridge; outer_h outer; given_h given; data_h data; }
struct metadata_t { bit<8> m8; }
"""
FLEXIBLE = program(
    """
        ig_tm_md.bypass_egress = 0;
        if (hdr.data.kind == 1) {
            hdr.bridge = {0xB1, hdr.data.a[2:0], hdr.data.b[8:0], true};
        } else if (hdr.data.kind == 2) {
            hdr.outer = {kind = 0xB2, inner = {hdr.data.b[8:0], hdr.data.a[1:0]}};
        } else if (hdr.data.kind == 3) {
            hdr.given = {0, hdr.data.b[8:0], hdr.data.a[3:0]};
        } else {
            ig_dprsr_md.mirror_type = 1;
            ig_dprsr_md.drop_ctl = 1;
        }
""",
    preamble=PREAMBLE + HEADERS,
    metadata=METADATA,
    deparser_local="    Mirror(1) mirror;",
    deparser="""
        if (ig_dprsr_md.mirror_type == 1) {
            mirror.emit<mirror_h>(7, {session = hdr.data.b[9:0], kind = 0xB4});
        }
        pkt.emit(hdr);
    """,
    egress=EGRESS,
    blocks=BLOCKS,
)


@pytest.mark.parametrize(
    ("kind", "layout"),
    [
        # Every field ends at the end of a byte: b1 | 00000 101 | 0000000 1 00100011 | 0000000 1
        (1, "b105012301"),
        (2, "b2012301"),  # b2 | 0000000 1 00100011 | 000000 01
        (3, "01230d"),  # the padding that the program gives | 1 00100011 | 0000 1101
        (4, "b40123"),  # a mirror header: b4 | 000000 01 00100011
    ],
)
def test_fields_are_padded_to_bytes_between_ingress_and_egress(
    load, kind: int, layout: str
) -> None:
    switch = load(FLEXIBLE)
    session = {"$session_enable": True, "$ucast_egress_port": 5, "$ucast_egress_port_valid": True}
    update = {"op": "upsert", "table": "$mirror.cfg", "key": {"$sid": 7}, "data": session}
    switch.command("table_write", updates=[update])
    a, b = 0x0D, 0x0123
    [(port, out)] = switch.send(1, bytes([kind, a]) + b.to_bytes(2, "big") + bytes(10))
    size = len(layout) // 2
    assert port == 5
    assert len(out) == 14  # the header does not leave the switch
    assert out[8:14].hex().startswith(layout)
    assert int.from_bytes(out[4:8], "big") == size + 14 + 4  # pkt_length, with the check sequence
    assert int.from_bytes(out[2:4], "big") == b
    assert out[1] == {1: a & 7, 2: a & 3, 3: a & 15, 4: a}[kind]
    assert out[0] == {1: 1}.get(kind, kind)


SIZES = program(
    "hdr.data.a = (bit<8>) sizeInBytes(hdr.bridge); hdr.data.b = (bit<16>) sizeInBits(hdr.outer);",
    preamble=PREAMBLE + HEADERS,
    metadata=METADATA,
    deparser="pkt.emit(hdr.data);",
)


def test_size_of_a_flexible_header_is_the_padded_one(load) -> None:
    [(_, out)] = load(SIZES).send(1, bytes(14))
    assert out[:4].hex() == "00050020"


PLAIN = program(
    """
        hdr.nested.inner.b = hdr.nested.inner.b + 1;
        if (hdr.nested.inner == {5, 6, true}) { hdr.nested.last = 9; }
        hdr.data.c = (bit<32>) same.get(hdr.nested);
    """,
    preamble=PREAMBLE
    + """
struct deepest_t { bit<4> a; bit<11> b; bool c; }
header nested_h { bit<8> first; deepest_t inner; bit<8> last; }
""",
    metadata="struct headers_t { nested_h nested; data_h data; }\nstruct metadata_t { }\n",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.nested);
        pkt.extract(hdr.data);
        transition accept;
    }
""",
    local="    Hash<bit<32>>(HashAlgorithm_t.IDENTITY) same;",
)


@pytest.mark.parametrize(("inner", "after", "last"), [("500b", "500d", 9), ("5009", "500b", 7)])
def test_struct_in_a_header_has_its_fields_on_the_wire(
    load, inner: str, after: str, last: int
) -> None:
    """inner is 0101 00000000101 1: a = 5, b = 5, c; one more for b adds 2."""
    [(_, out)] = load(PLAIN).send(1, bytes.fromhex(f"aa{inner}07") + bytes(14))
    wire = f"aa{after}{last:02x}"
    assert out[:4].hex() == wire
    assert out[8:12].hex() == wire


RECIRCULATED = program(
    """
        if (hdr.bridge.isValid()) {
            hdr.data.a = 5w0 ++ hdr.bridge.small;
            hdr.data.b = 7w0 ++ hdr.bridge.port;
            hdr.bridge.setInvalid();
        } else {
            hdr.bridge.setValid();
            hdr.bridge.small = 5;
            hdr.bridge.port = 0x123;
            ig_tm_md.ucast_egress_port = 68;
        }
""",
    preamble=PREAMBLE + HEADERS,
    metadata=METADATA,
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition select(ig_intr_md.ingress_port) { 68: bridge; default: data; }
    }
    state bridge { pkt.extract(hdr.bridge); transition data; }
    state data { pkt.extract(hdr.data); transition accept; }
""",
    deparser="pkt.emit(hdr.bridge); pkt.emit(hdr.data);",
    egress=EGRESS,
    blocks=BLOCKS,
)


def test_a_flexible_header_that_ingress_makes_comes_back_by_recirculation(load) -> None:
    ((port, out),) = load(RECIRCULATED).send(1, bytes(14))
    assert (port, len(out), out[1], int.from_bytes(out[2:4], "big")) == (5, 14, 5, 0x123)


ADVICE = "without @flexible, pad it to whole bytes with @padding fields"
REFUSED = {
    "flexible header from the wire": (
        program(
            preamble=PREAMBLE + HEADERS,
            metadata=METADATA,
            parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        /*^*/pkt.extract(hdr.bridge);
        pkt.extract(hdr.data);
        transition accept;
    }
""",
        ),
        "header 'bridge_h' has @flexible fields, whose layout the Tofino compiler chooses, but it "
        f"is read from the wire here; {ADVICE}",
    ),
    "flexible header that egress does not take off": (
        program(preamble=PREAMBLE + HEADERS, metadata=METADATA, deparser="/*^*/pkt.emit(hdr);"),
        "is emitted here and the egress parser does not extract it",
    ),
    "flexible header that leaves": (
        FLEXIBLE.replace("hdr.outer.setInvalid();", "").replace(
            "{ pkt.emit(hdr); }", "{ /*^*/pkt.emit(hdr); }"
        ),
        "header 'outer_h' has @flexible fields, whose layout the Tofino compiler chooses, but it "
        "leaves the switch here",
    ),
    "header that is no whole bytes": (
        program(preamble=PREAMBLE + "header /*^*/odd_h { bit<3> x; }\n"),
        "add a @padding field, or mark a header that only the switch sees @flexible",
    ),
    "packed flexible header": (
        program(preamble=PREAMBLE + "header /*^*/odd_h { @flexible @packed bit<3> x; }\n"),
        "header 'odd_h' has 3 bits",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_flexible_headers_outside_the_switch_are_refused(name: str, tmp_path: Path) -> None:
    check_refused(*REFUSED[name], tmp_path)


WIDE = program(
    """
        hdr.bridge.setValid();
        hdr.bridge.wide = hdr.given.wide;
        hdr.bridge.last = 5;
        hdr.data.a = (bit<8>) sizeInBytes(hdr.padded);
        hdr.data.b = (bit<16>) sizeInBits(hdr.bridge);
        hdr.data.c = crc.get(hdr.bridge);
    """,
    preamble=PREAMBLE
    + """
header given_h { bit<4> front; bit<300> wide; }
@flexible header bridge_h { bit<300> wide; bit<4> last; }
@flexible header padded_h { @padding bit<300> gap; bit<4> last; }
""",
    metadata="""
struct headers_t { data_h data; given_h given; bridge_h bridge; padded_h padded; }
struct metadata_t { bit<8> m8; }
""",
    parser=PARSER.replace(
        "pkt.extract(hdr.data);", "pkt.extract(hdr.data); pkt.extract(hdr.given);"
    ),
    local="Hash<bit<32>>(HashAlgorithm_t.CRC32) crc;",
    deparser="pkt.emit(hdr.data);",
)


def test_wide_fields_are_padded_as_a_whole(load) -> None:
    """Four bits before the 300, not within them; padding given in the program counts."""
    wide = int.from_bytes(random.Random(300).randbytes(38), "big") % (1 << 300)
    frame = bytes(14) + wide.to_bytes(38, "big")
    [(_, out)] = load(WIDE).send(1, frame)
    assert (out[1], int.from_bytes(out[2:4], "big")) == ((300 + 4) // 8, 4 + 300 + 4 + 4)
    laid_out = wide.to_bytes(38, "big") + b"\x05"
    assert int.from_bytes(out[4:8], "big") == zlib.crc32(laid_out)
