"""Checksum in parsers and deparsers. Expected values are the sums of RFC 1071, or shown by hand."""

from __future__ import annotations

import pytest
from p4_programs import program

ONES = 0xFFFF


def ones_complement_sum(*words: int) -> int:
    total = sum(words)
    while total >> 16:
        total = (total & ONES) + (total >> 16)
    return total


def words_of(data: bytes) -> list[int]:
    padded = data + bytes(len(data) % 2)
    return [int.from_bytes(padded[i : i + 2], "big") for i in range(0, len(padded), 2)]


def checksum_of(data: bytes) -> int:
    return ONES - ones_complement_sum(*words_of(data))


CHECKSUMS = program(
    "if (hdr.data.kind == 1) { hdr.extra.setInvalid(); }",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        pkt.extract(hdr.extra);
        total.add(hdr.extra);
        total.add({hdr.data.a, hdr.data.kind});
        total.subtract({hdr.data.b});
        total.subtract_all_and_deposit(md.m16);
        md.flag = total.verify();
        transition accept;
    }
""",
    parser_local="    Checksum() total;",
    deparser_local="    Checksum() sum;",
    deparser="""
        if (md.flag) { pkt.emit(hdr.extra); }
        hdr.data.b = md.m16;
        hdr.data.c = 16w0 ++ sum.update(
            {hdr.data.a, hdr.data.kind, hdr.extra.x, hdr.extra.y}, true);
        pkt.emit(hdr);
    """,
)


def test_residue_is_the_sum_of_what_was_added_less_what_was_subtracted(load) -> None:
    """x + y + (a, kind) - b is 1234 + fedc + a002 - 0101 = 1_b011 = b012: no complement of it."""
    x, y, b = 0x1234, 0xFEDC, 0x0101
    body = x.to_bytes(2, "big") + y.to_bytes(2, "big")
    frame = bytes([2, 0xA0]) + b.to_bytes(2, "big") + bytes(10) + body
    [(_, out)] = load(CHECKSUMS).send(1, frame)
    out = out[4:]  # extra was emitted before: the sum is not ffff, so verify() told an error
    assert out[2:4].hex() == "b012"
    update = ONES - ones_complement_sum(0xA002, x, y)
    assert out[4:8] == update.to_bytes(4, "big")


def test_checksum_leaves_invalid_headers_out(load) -> None:
    [(_, out)] = load(CHECKSUMS).send(1, bytes([1, 0xA0]) + bytes(12) + b"\x12\x34\x56\x78")
    assert out[4:8] == (ONES - 0xA001).to_bytes(4, "big")
    assert len(out) == 14


def test_checksum_of_zero_becomes_ones(load) -> None:
    kind, a, x = 0xFE, 0xFF, 1  # (a ++ kind) + x = 0xFFFF
    frame = bytes([kind, a]) + bytes(12) + x.to_bytes(2, "big") + bytes(2)
    [(_, out)] = load(CHECKSUMS).send(1, frame)
    assert out[4:8].hex() == "0000ffff"


@pytest.mark.parametrize(("x", "is_wrong"), [(ONES - 2, False), (ONES - 3, True)])
def test_verify_tells_of_an_error(load, x: int, is_wrong: bool) -> None:
    """x + y + (a, kind) - b is ffff if the checksum is right: x = ffff - (a, kind) = ffff - 2."""
    frame = bytes([2, 0]) + bytes(12) + x.to_bytes(2, "big") + bytes(2)
    [(_, out)] = load(CHECKSUMS).send(1, frame)
    assert len(out) - len(frame) == (4 if is_wrong else 0)  # extra twice where the flag is set


IPV4 = """
#include <core.p4>
#include <tna.p4>
header ethernet_h { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_h { bit<80> front; bit<16> checksum; bit<32> src; bit<32> dst; }
"""
NAT = program(
    """
        if (md.is_wrong) { hdr.ethernet.dst = 0x0000deadbeef; }
        hdr.ipv4.src = 32w0x04030201;
    """,
    preamble=IPV4
    + """
header ports_h { bit<16> src; bit<16> dst; }
header tcp_h { bit<64> numbers; bit<32> flags; bit<16> checksum; bit<16> urgent; }
header udp_h { bit<16> length; bit<16> checksum; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; ports_h ports; tcp_h tcp; udp_h udp; }
struct metadata_t { bool is_wrong; bit<16> residue; }
""",
    metadata="",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        ipv4_sum.add(hdr.ipv4);
        md.is_wrong = ipv4_sum.verify();
        segment.subtract({hdr.ipv4.src});
        pkt.extract(hdr.ports);
        transition select(hdr.ipv4.front[7:0]) { 6: tcp; default: udp; }
    }
    state tcp {
        pkt.extract(hdr.tcp);
        segment.subtract({hdr.tcp.checksum});
        md.residue = segment.get();
        transition accept;
    }
    state udp {
        pkt.extract(hdr.udp);
        segment.subtract({hdr.udp.checksum});
        md.residue = segment.get();
        transition accept;
    }
""",
    parser_local="    Checksum() ipv4_sum;\n    Checksum() segment;",
    deparser_local="    Checksum() tcp_sum;\n    Checksum() udp_sum;",
    deparser="""
        if (hdr.tcp.isValid()) { hdr.tcp.checksum = tcp_sum.update({hdr.ipv4.src, md.residue}); }
        if (hdr.udp.isValid()) { hdr.udp.checksum = udp_sum.update({hdr.ipv4.src, md.residue}); }
        pkt.emit(hdr);
    """,
)
# A header may have a name that begins as what stacks have.
NAT = NAT.replace("udp_h udp;", "udp_h next_udp;").replace("hdr.udp", "hdr.next_udp")
TCP, UDP = 6, 17
SOURCE, TRANSLATED, DESTINATION = bytes([1, 2, 3, 4]), bytes([4, 3, 2, 1]), bytes([100, 99, 98, 97])


def segment_of(protocol: int, checksum: int, payload: bytes) -> bytes:
    """TCP with its checksum at 16, UDP at 6."""
    ports = bytes.fromhex("1234abcd")
    sum_bytes = checksum.to_bytes(2, "big")
    if protocol == TCP:
        return ports + bytes(8) + bytes.fromhex("50022000") + sum_bytes + bytes(2) + payload
    return ports + (8 + len(payload)).to_bytes(2, "big") + sum_bytes + payload


def segment_checksum(protocol: int, source: bytes, payload: bytes) -> int:
    """With the pseudo header."""
    segment = segment_of(protocol, 0, payload)
    pseudo = source + DESTINATION + bytes([0, protocol]) + len(segment).to_bytes(2, "big")
    return checksum_of(pseudo + segment)


def frame_of(protocol: int, segment: bytes, ipv4_error: int = 0) -> bytes:
    """With `ipv4_error` added to the right checksum of the IPv4 header."""
    front = bytes.fromhex("4500") + (20 + len(segment)).to_bytes(2, "big") + bytes([0, 101, 0, 0])
    front += bytes([64, protocol])
    checksum = checksum_of(front + bytes(2) + SOURCE + DESTINATION) + ipv4_error
    ipv4 = front + checksum.to_bytes(2, "big") + SOURCE + DESTINATION
    return bytes([0x11] * 6) + bytes(6) + b"\x08\0" + ipv4 + segment


@pytest.mark.parametrize(
    ("protocol", "before", "after"),
    # RFC 1624: the sum of the address's words grows from 0102 + 0304 = 0406 to 0403 + 0201 = 0604,
    # by 01fe, so the checksum falls by it.
    [(TCP, 0x26DD, 0x24DF), (UDP, 0x7AA3, 0x78A5)],
)
def test_residue_carries_a_checksum_over_translated_addresses(
    load, protocol: int, before: int, after: int
) -> None:
    # One word of the payload makes the checksum what it is before.
    word = ones_complement_sum(segment_checksum(protocol, SOURCE, bytes(2)), ONES - before)
    payload = word.to_bytes(2, "big")
    assert segment_checksum(protocol, SOURCE, payload) == before
    assert segment_checksum(protocol, TRANSLATED, payload) == after
    [(_, out)] = load(NAT).send(1, frame_of(protocol, segment_of(protocol, before, payload)))
    assert out[26:30] == TRANSLATED
    assert out[34:] == segment_of(protocol, after, payload)


@pytest.mark.parametrize(("error", "mac"), [(0, "11" * 6), (1, "0000deadbeef")])
def test_frame_with_a_wrong_ipv4_checksum_is_marked(load, error: int, mac: str) -> None:
    [(_, out)] = load(NAT).send(1, frame_of(TCP, segment_of(TCP, 0, b""), error))
    assert out[:6].hex() == mac


# UDP that carries two headers of odd lengths, as an overlay does. The parser takes them after the
# call, so the deparser adds them again; it translates an address, changes a field of the second
# header, and leaves out the two bytes that the parser passes over.
OVERLAY = program(
    "hdr.ipv4.src = 32w0x04030201; hdr.second.tag = 16w0xbeef;",
    preamble=IPV4
    + """
header udp_h { bit<32> ports; bit<16> length; bit<16> checksum; }
header first_h { bit<24> flags; }
header second_h { bit<24> vni; bit<16> tag; }
struct headers_t { ethernet_h ethernet; ipv4_h ipv4; udp_h udp; first_h first; second_h second; }
struct metadata_t { bit<16> residue; }
""",
    metadata="",
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.ethernet);
        pkt.extract(hdr.ipv4);
        segment.subtract({hdr.ipv4.src});
        pkt.extract(hdr.udp);
        segment.subtract_all_and_deposit(md.residue);
        segment.subtract({hdr.udp.checksum});
        transition overlay;
    }
    state overlay {
        pkt.extract(hdr.first);
        pkt.extract(hdr.second);
        pkt.advance(16);
        transition accept;
    }
""",
    parser_local="    Checksum() segment;",
    deparser_local="    Checksum() sum;",
    deparser="""
        hdr.udp.checksum = sum.update(
            {hdr.ipv4.src, md.residue, hdr.first.flags, hdr.second.vni, hdr.second.tag});
        pkt.emit(hdr);
    """,
)


def overlay_udp(source: bytes, inner: bytes) -> bytes:
    """A datagram whose length field stays that of twelve bytes and more."""
    head = bytes.fromhex("1234abcd") + (8 + 14).to_bytes(2, "big")
    pseudo = source + DESTINATION + bytes([0, UDP]) + head[4:6]
    checksum = checksum_of(pseudo + head + bytes(2) + inner)
    return head + checksum.to_bytes(2, "big") + inner


def test_headers_behind_the_call_are_subtracted(load) -> None:
    first, vni, skipped, payload = (
        b"\x81\x52\xf3",
        b"\x0a\xb4\xc7",
        b"\x5a\x3c",
        b"\xe1\x77\x19\x08",
    )
    before = overlay_udp(SOURCE, first + vni + b"\x20\x01" + skipped + payload)
    after = overlay_udp(TRANSLATED, first + vni + b"\xbe\xef" + payload)
    assert before[6:8].hex() == "d913"  # as scapy 2.8 computes it
    [(_, out)] = load(OVERLAY).send(1, frame_of(UDP, before))
    assert out[26:30] == TRANSLATED
    assert out[34:] == after


def test_residue_of_a_packet_that_ends_in_a_header_is_what_was_taken(load) -> None:
    """The parser's error ends it: `first` was taken, `second` was not."""
    program_that_goes_on = OVERLAY.replace(
        "hdr.ipv4.src = 32w", "if (ig_prsr_md.parser_err != 0) {} hdr.ipv4.src = 32w"
    )
    first = b"\x81\x52\xf3"
    before = overlay_udp(SOURCE, first + b"\x99")
    [(_, out)] = load(program_that_goes_on).send(1, frame_of(UDP, before))
    assert out[34:] == overlay_udp(TRANSLATED, first + b"\x99")
