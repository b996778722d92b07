"""Lists that give header stacks their elements. Frames worked out by hand."""

from __future__ import annotations

from p4_programs import METADATA, program

STACKS = METADATA.replace("extra_h extra;", "extra_h extra; extra_h[3] listed;")

INITIAL = program(
    """
        extra_h[3] pairs = {{1, 2}, hdr.extra, {y = 6, x = (bit<16>) hdr.data.a}};
        hdr.listed = pairs;
    """,
    metadata=STACKS,
)


def test_elements_of_a_list_are_valid_where_the_list_says_so(load) -> None:
    """hdr.extra has not been extracted: the second element is copied with its validity."""
    [(_, frame)] = load(INITIAL).send(1, bytes([0, 9, *bytes(12)]))
    assert frame[14:].hex() == "00010002" + "00090006"


CONSTANT = program(
    "hdr.listed = PAIRS; hdr.data.b = PAIRS[2].y;",
    metadata=STACKS,
    top="const extra_h[3] PAIRS = {{1, 2}, {3, 4}, {5, 6}};",
)


def test_a_constant_may_be_a_stack(load) -> None:
    [(_, frame)] = load(CONSTANT).send(1, bytes(14))
    assert frame[2:4].hex() == "0006"
    assert frame[14:].hex() == "000100020003000400050006"


SWAPPED = program(
    """
        hdr.listed = (extra_h[3]) {{1, 2}, {3, 4}, {5, 6}};
        hdr.listed = {hdr.listed[2], hdr.listed[0], hdr.listed[1]};
    """,
    metadata=STACKS,
)


def test_elements_are_read_before_any_is_written(load) -> None:
    [(_, frame)] = load(SWAPPED).send(1, bytes(14))
    assert frame[14:].hex() == "000500060001000200030004"


FILLED = program(
    metadata=STACKS,
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        pkt.extract(hdr.listed.next);
        hdr.listed = {{1, 2}, {3, 4}, {5, 6}};
        pkt.extract(hdr.listed.next);
        transition accept;
    }
""",
)


def test_a_list_leaves_the_parsers_place_in_the_stack(load) -> None:
    """As if each element was assigned: the second extract fills the second one."""
    packet = bytes(14) + bytes.fromhex("aaaaaaaa" + "bbbbcccc")
    [(_, frame)] = load(FILLED).send(1, packet)
    assert frame[14:].hex() == "00010002" + "bbbbcccc" + "00050006"
