"""Parsers: select, lookahead, advance, stacks, subparsers, errors. Frames worked out by hand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from p4_programs import METADATA, PARSER, PREAMBLE, program

from p4soft.cli import translate
from p4soft.errors import P4Error

START = """
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        transition first;
    }
"""


def marks(*names: str) -> str:
    """States that write their number to md.m8 and accept."""
    return "".join(
        f"    state {name} {{ md.m8 = {i}; transition accept; }}\n"
        for i, name in enumerate(names, start=1)
    )


SELECT = program(
    "hdr.data.a = md.m8;",
    parser=START
    + """
    state first {
        pkt.extract(hdr.data);
        transition select(hdr.data.kind, hdr.data.b, hdr.data.c[7:0]) {
            (1, _, _): exact_one;
            (2, 0x1200 &&& 0xFF00, _): masked;
            (2, 5 .. 9, _): ranged;
            (3, 1 << 4, 0x0F &&& 0x0F): several;
            (KIND, _, 3): by_name;
            (5, _, _): reject;
            (6, _, _): nothing_matches;
            default: other;
        }
    }
    state nothing_matches {
        transition select(hdr.data.b) {
            1: accept;
        }
    }
"""
    + marks("exact_one", "masked", "ranged", "several", "by_name", "other"),
    top="const bit<8> KIND = 4;\n",
)


@pytest.mark.parametrize(
    ("kind", "b", "c", "state"),
    [
        (1, 0, 0, 1),
        (2, 0x1234, 0, 2),
        (2, 4, 0, 6),
        (2, 5, 0, 3),
        (2, 9, 0, 3),
        (2, 10, 0, 6),
        (3, 16, 0xFF, 4),
        (3, 16, 0xFE, 6),
        (4, 0, 0x103, 5),
        (4, 0, 4, 6),
        (5, 0, 0, 0),  # reject ends the parser, and the packet goes on
        (6, 0, 0, None),
        (6, 1, 0, 0),
        (99, 0, 0, 6),
    ],
)
def test_select(load, kind: int, b: int, c: int, state: int | None) -> None:
    rest = b.to_bytes(2, "big") + c.to_bytes(4, "big") + bytes(6) + b"payload"
    frames = load(SELECT).send(1, bytes([kind, 0]) + rest)
    assert frames == ([] if state is None else [(5, bytes([kind, state]) + rest)])


TLV = program(
    """
        hdr.count.seen = md.seen;
        hdr.count.setValid();
        if (hdr.tlv[1].isValid()) { hdr.tlv[1].value = 0xEE; }
    """,
    preamble=PREAMBLE
    + """
header tlv_h { bit<8> type; bit<8> value; }
header wide_h { bit<8> type; bit<24> value; }
header count_h { bit<8> seen; }
struct headers_t { count_h count; tlv_h[3] tlv; wide_h wide; extra_h extra; }
struct metadata_t { bit<8> seen; bit<16> ahead; }
""",
    metadata="",
    parser=START
    + """
    state first {
        transition select(pkt.lookahead<bit<8>>()) {
            1: parse_tlv;
            2: parse_wide;
            3: skip;
            4: parse_ahead;
            default: accept;
        }
    }
    state parse_tlv {
        pkt.extract(hdr.tlv.next);
        md.seen = md.seen + hdr.tlv.last.value;
        transition first;
    }
    state parse_wide {
        pkt.extract(hdr.wide);
        transition first;
    }
    state skip {
        pkt.advance(16);
        transition first;
    }
    state parse_ahead {
        extra_h ahead = pkt.lookahead<extra_h>();
        md.seen = ahead.y[7:0];
        transition accept;
    }
""",
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("00aa", "0000aa"),
        ("010300", "03010300"),  # one TLV, then the end marker
        ("0103010400", "0701030 1ee00".replace(" ", "")),
        ("020a0b0c0103ff", "030103020a0b0cff"),  # emitted in the deparser's order: stack, then wide
        ("03ff010900", "09010900"),  # two bytes skipped
        ("04070809aa", "0904070809aa"),  # lookahead takes nothing
        ("0101010101010101", None),  # a fourth element does not fit into the stack
        ("01", None),  # ends inside an extract
        ("03", None),  # ends inside an advance
        ("040708", None),  # ends inside a lookahead
        ("", None),  # nothing to look at
    ],
)
def test_type_length_value(load, given: str, expected: str | None) -> None:
    frames = load(TLV).send(1, bytes.fromhex(given))
    assert frames == ([] if expected is None else [(5, bytes.fromhex(expected))])


def test_endless_loop_is_ended(load) -> None:
    source = program(
        parser=START
        + """
    state first { transition select(pkt.lookahead<bit<8>>()) { 0: first; default: accept; } }
"""
    )
    target = load(source)
    assert target.send(1, b"\0\0") == []
    assert target.send(1, b"\1\0") == [(5, b"\1\0")]


SUBPARSER = program(
    "hdr.data.a = md.m8;",
    top="""
parser Inner(packet_in pkt, out extra_h extra, inout bit<8> count, in bit<8> step) {
    bit<8> twice = step + step;
    state start {
        pkt.extract(extra);
        count = count + twice;
        transition select(extra.x) { 0xBAD: reject; default: accept; }
    }
}
""",
    parser_local="    Inner() inner;",
    parser=START
    + """
    state first {
        pkt.extract(hdr.data);
        md.m8 = 1;
        inner.apply(pkt, hdr.extra, md.m8, hdr.data.kind);
        transition accept;
    }
""",
)


def test_subparser_with_parameters(load) -> None:
    data, extra = bytes([3, 0]) + bytes(12), bytes.fromhex("00010002")
    assert load(SUBPARSER).send(1, data + extra) == [(5, bytes([3, 7]) + bytes(12) + extra)]
    # Rejected inside: the parser around it ends too, without an error.
    bad = bytes.fromhex("0bad0000")
    assert load(SUBPARSER).send(1, data + bad) == [(5, bytes([3, 7]) + bytes(12) + bad)]


def test_parser_error_drops_unless_the_program_reads_it(load) -> None:
    body = "if (ig_prsr_md.parser_err != 0) { hdr.extra = {1, ig_prsr_md.parser_err}; }"
    reading = load(program(body))
    assert reading.send(1, b"\1\2\3") == [(5, bytes.fromhex("00010002") + b"\1\2\3")]
    assert load(program("ig_tm_md.qid = 1;")).send(1, b"\1\2\3") == []
    unmatched = PARSER.replace("accept;", "select(hdr.data.kind) { 9: accept; }")
    assert load(program(body, parser=unmatched)).send(1, bytes(14)) == []  # dropped all the same


VERIFY = program(
    parser=START
    + """
    state first {
        pkt.extract(hdr.data);
        verify(hdr.data.a != 0 && hdr.data.b > 3, error.NoMatch);
        transition accept;
    }
"""
)


def test_verify(load) -> None:
    good = bytes([1, 1, 0, 4]) + bytes(10)
    assert load(VERIFY).send(1, good) == [(5, good)]
    assert load(VERIFY).send(1, bytes([1, 0, 0, 4]) + bytes(10)) == []
    assert load(VERIFY).send(1, bytes([1, 1, 0, 3]) + bytes(10)) == []


def test_headers_have_unaligned_fields(load) -> None:
    """Bit by bit: 3 + 13, 1 + 47 + 16, 5 + 59 bits."""
    source = program(
        """
        hdr.bits.b = hdr.bits.b + 1;
        hdr.bits.d = hdr.bits.d + 1;
        hdr.bits.g = hdr.bits.g - 1;
    """,
        preamble=PREAMBLE
        + """
header bits_h { bit<3> a; bit<13> b; bit<1> c; bit<47> d; int<16> e; bit<5> f; bit<59> g; }
struct headers_t { bits_h bits; }
struct metadata_t { }
""",
        metadata="",
        parser=START.replace("transition first;", "pkt.extract(hdr.bits); transition accept;"),
    )
    given = 0b101 << 13 | 0x1FFE
    given = given << 48 | 1 << 47 | 0x7FFFFFFFFFFE
    given = given << 16 | 0x8001
    given = given << 64 | 0b10110 << 59 | 0
    expected = 0b101 << 13 | 0x1FFF
    expected = expected << 48 | 1 << 47 | 0x7FFFFFFFFFFF
    expected = expected << 16 | 0x8001
    expected = expected << 64 | 0b10110 << 59 | (1 << 59) - 1
    assert load(source).send(1, given.to_bytes(18, "big")) == [(5, expected.to_bytes(18, "big"))]


def test_metadata_begins_at_zero_for_every_packet(load) -> None:
    source = program("hdr.data.a = md.m8; md.m8 = 9;", metadata=METADATA)
    for _ in range(2):
        assert load(source).send(1, bytes([1, 7]) + bytes(12)) == [(5, bytes([1, 0]) + bytes(12))]


STACK_OPERATIONS = program(
    """
        if (hdr.count.seen == 1) { hdr.s.push_front(1); }
        if (hdr.count.seen == 2) { hdr.s.push_front(1); hdr.s[0] = {0xA, 0xB}; }
        if (hdr.count.seen == 3) { hdr.s.pop_front(2); }
        if (hdr.count.seen == 4) { hdr.s[1].setInvalid(); hdr.s[2].y = hdr.s[0].x; }
        hdr.count.last = (bit<8>) md.last;
    """,
    preamble=PREAMBLE
    + """
header count_h { bit<8> seen; bit<8> last; }
struct headers_t { count_h count; extra_h[3] s; }
struct metadata_t { bit<32> last; }
""",
    metadata="",
    parser=START
    + """
    state first { pkt.extract(hdr.count); transition element; }
    state element {
        pkt.extract(hdr.s.next);
        md.last = hdr.s.lastIndex;
        transition select(hdr.s.last.x) { 0: accept; default: element; }
    }
""",
)


@pytest.mark.parametrize(
    ("operation", "given", "last", "expected"),
    [
        (0, "00010002 00000003", 1, "00010002 00000003"),
        (1, "00010002 00000003", 1, "00010002 00000003"),  # the new first element is invalid
        (2, "00010002 00000003", 1, "000a000b 00010002 00000003"),
        (2, "00010002 00030004 00000005", 2, "000a000b 00010002 00030004"),  # one falls out
        (3, "00010002 00030004 00000005", 2, "00000005"),
        (3, "00000005", 0, ""),
        (4, "00010002 00030004 00000005", 2, "00010002 00000001"),
    ],
)
def test_header_stack_operations(
    load, operation: int, given: str, last: int, expected: str
) -> None:
    frame = bytes([operation, 0]) + bytes.fromhex(given) + b"rest"
    out = bytes([operation, last]) + bytes.fromhex(expected) + b"rest"
    assert load(STACK_OPERATIONS).send(1, frame) == [(5, out)]


ADVANCE = program(
    parser=START
    + """
    state first {
        pkt.extract(hdr.data);
        pkt.advance((bit<32>) hdr.data.a << 3);
        pkt.extract(hdr.extra);
        transition accept;
    }
"""
)


def test_advance_by_a_field(load) -> None:
    data = bytes([0, 3]) + bytes(12)
    switch = load(ADVANCE)
    assert switch.send(1, data + b"abc" + b"wxyz" + b"!") == [(5, data + b"wxyz" + b"!")]
    assert switch.send(1, data + b"abc" + b"wxy") == []  # ends inside the extract


ENUMS = program(
    """
        color_t seen = (color_t) hdr.data.a;
        if (hdr.painted.color == color_t.BLUE && md.where == place_t.INSIDE) {
            hdr.data.b = (bit<16>) (bit<8>) hdr.painted.color;
        }
        switch (seen) {
            color_t.RED: { hdr.painted.color = color_t.BLUE; }
            color_t.BLUE: { hdr.painted.color = color_t.RED; }
            default: { hdr.painted.color = seen; }
        }
    """,
    preamble=PREAMBLE
    + """
enum bit<8> color_t { RED = 5, BLUE = 0xB0 }
enum place_t { OUTSIDE, INSIDE }
header painted_h { color_t color; }
struct headers_t { painted_h painted; data_h data; }
struct metadata_t { place_t where; }
""",
    metadata="",
    parser=START
    + """
    state first {
        pkt.extract(hdr.painted);
        pkt.extract(hdr.data);
        transition select(hdr.painted.color) {
            color_t.RED: reject;
            color_t.BLUE: inside;
            default: accept;
        }
    }
    state inside { md.where = place_t.INSIDE; transition accept; }
""",
)


@pytest.mark.parametrize(
    ("color", "a", "out_color", "b"),
    [(5, 5, 0xB0, 0), (0xB0, 5, 0xB0, 0xB0), (0xB0, 0xB0, 5, 0xB0), (7, 9, 9, 0)],
)
def test_enums_on_the_wire_in_select_and_switch(
    load, color: int, a: int, out_color: int, b: int
) -> None:
    [(_, frame)] = load(ENUMS).send(1, bytes([color, 0, a]) + bytes(12))
    assert frame == bytes([out_color, 0, a, 0, b]) + bytes(10)


OPTIONS = program(
    """
        hdr.data.b = (bit<16>) options_h.maxSizeInBytes();
        if (hdr.data.a == 9) { hdr.options.setInvalid(); }
        if (hdr.options == hdr.others) { hdr.data.c = 1; }
    """,
    preamble=PREAMBLE + "header options_h { bit<8> kind; varbit<64> rest; }\n",
    metadata="""
struct headers_t { data_h data; options_h options; options_h others; }
struct metadata_t { bit<8> m8; }
""",
    parser=PARSER.replace(
        "transition",
        "pkt.extract(hdr.options, (bit<32>) hdr.data.kind); pkt.extract(hdr.others, 16);\n"
        "transition",
    ),
)


def options(load, kind: int, behind: str, a: int = 0) -> list[str]:
    """What leaves behind the first header, and its two fields."""
    sent = load(OPTIONS).send(1, bytes([kind, a]) + bytes(12) + bytes.fromhex(behind))
    return [out[14:].hex() for _, out in sent]


def test_varbit_field_is_as_long_as_the_packet_says(load) -> None:
    """A header of a byte and 24 bits more, then one of a byte and 16, then the payload."""
    behind = "01aabbcc" + "02ddee" + "beef"
    assert options(load, 24, behind) == [behind]
    assert options(load, 0, "01" + "02ddee" + "beef") == ["0102ddeebeef"]
    assert options(load, 24, behind, a=9) == ["02ddee" + "beef"]
    ((_, out),) = load(OPTIONS).send(1, bytes([16]) + bytes(13) + bytes.fromhex("01aabb01aabb"))
    assert (int.from_bytes(out[2:4], "big"), out[7]) == (9, 1)  # 1 + 64 / 8 bytes at most; equal
    ((_, out),) = load(OPTIONS).send(1, bytes([8]) + bytes(13) + bytes.fromhex("01aa01aa00"))
    assert out[7] == 0  # of another length


@pytest.mark.parametrize("bits", [12, 72, 64])
def test_varbit_field_of_a_wrong_size_drops(load, bits: int) -> None:
    """Not whole bytes; more than the field has; more than the packet has."""
    assert options(load, bits, "01aabbcc" + "02ddee") == []


WIDE = program(
    """
        if (hdr.first == hdr.second) { hdr.data.a = 1; }
        if (hdr.data.kind == 2) { hdr.first = hdr.second; }
        if (hdr.data.kind == 3) { hdr.first.rest = hdr.second.rest; }
        if (hdr.data.kind == 4) { hdr.second.setInvalid(); hdr.first.setInvalid(); }
        if (hdr.data.kind == 5) { hdr.first = { 5, hdr.second.rest }; }
    """,
    preamble=PREAMBLE + "header wide_h { bit<8> kind; bit<296> rest; }\n",
    metadata="""
struct headers_t { data_h data; wide_h first; wide_h second; }
struct metadata_t { bit<8> m8; }
""",
    parser=PARSER.replace(
        "transition", "pkt.extract(hdr.first); pkt.extract(hdr.second); transition"
    ),
)


def test_wide_fields_are_taken_copied_compared_and_sent(load) -> None:
    one, two = bytes(range(1, 39)), bytes(range(101, 139))

    def leaves(kind: int, first: bytes = one, second: bytes = two) -> bytes:
        [(_, out)] = load(WIDE).send(1, bytes([kind]) + bytes(13) + first + second + b"end")
        assert out[1] == (first == second)
        return out[14:]

    assert leaves(0) == one + two + b"end"
    assert leaves(0, one, one) == one + one + b"end"
    assert leaves(0, one, one[:-1] + b"\xff") == one + one[:-1] + b"\xff" + b"end"
    assert leaves(2) == two + two + b"end"
    assert leaves(3) == one[:1] + two[1:] + two + b"end"
    assert leaves(4) == b"end"
    assert leaves(5) == b"\5" + two[1:] + two + b"end"


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("hdr.first.rest = 0;", "is int, expected bit<296>"),
        ("hdr.data.kind = hdr.first.rest[7:0];", "a slice of bit<296>"),
        ("hdr.data.kind = hdr.first.rest.bits_127_0[7:0];", "bit<296> has no member 'bits_127_0'"),
        ("hdr.data.kind = (bit<8>) (hdr.first.rest ^ hdr.second.rest);", "of bit<296>"),
    ],
)
def test_nothing_is_computed_with_wide_fields(statement: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "wide.p4"
    path.write_text(WIDE.replace("if (hdr.first == ", f"{statement} if (hdr.first == "))
    with pytest.raises(P4Error, match=re.escape(message)):
        translate(path, [], {})
