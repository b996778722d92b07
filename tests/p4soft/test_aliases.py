"""@pa_alias: two fields of metadata are one, as the Tofino compiler allocates them."""

from __future__ import annotations

from pathlib import Path

import pytest
from p4_programs import EGRESS, METADATA, PARSER, program
from refusals import check_refused

from p4soft.cli import translate

KIND, A, B = 0, 1, slice(2, 4)  # of the answer

METADATA = METADATA.replace("bool flag;", "bool flag; inner_t inner; bit<9> port; bit<16> other;")
ALIASES = """\
@pa_alias("ingress", "md.inner.wide", "ig_tm_md.qid")
@pa_alias("ingress", "md.port", "ig_tm_md.ucast_egress_port")
@pa_alias("ingress", "md.m16", "md.other")
struct inner_t {
    bit<8> wide;
    bit<8> apart;
}
"""
BELOW = """
control Below(inout headers_t hdr, inout metadata_t md) {
    action choose(bit<9> port) { md.port = port; }
    table ports {
        key = { hdr.data.kind: exact; }
        actions = { choose; NoAction; }
        const entries = { 3: choose(33); }
    }
    apply {
        ports.apply();
        if (hdr.data.kind == 4) { md = { 0, 0x1234, 0, false, { 0xE7, 0x55 }, 44, 0x1234 }; }
    }
}

void change(inout metadata_t md) { md.inner.wide = 0xC2; }
control Out(out bit<5> number) { apply { number = 9; } }
"""
PROGRAM = program(
    """
        below.apply(hdr, md);
        if (hdr.data.kind == 5) { change(md); }
        if (hdr.data.kind == 6) { md.inner.wide = 0xFF; outer.apply(ig_tm_md.qid); }
        if (hdr.data.kind == 7) { md.inner.wide[1:0] = 3; }
        if (hdr.data.kind == 8) { md.m16 = 0xABCD; }
        if (hdr.data.kind == 9) { md.m16 = 1; md.other = 0xABCD; }
        hdr.data.a = (bit<8>) ig_tm_md.qid;
        hdr.data.kind = md.inner.wide;
        hdr.data.b = hdr.data.b == 1 ? md.m16 : md.other;
        hdr.data.c = (bit<32>) md.port;
        hdr.data.mac = (bit<48>) md.inner.apart;
    """,
    metadata=ALIASES + METADATA,
    top=BELOW,
    local="Below() below; Out() outer;",
)


@pytest.mark.parametrize(
    "below", ["enum bit<8> kind_t { ONE = 1 }", "typedef bit<8> small_t;", "const bit<8> ONE = 1;"]
)
def test_it_may_stand_before_anything(below: str, tmp_path: Path) -> None:
    path = tmp_path / "program.p4"
    alias = f'@pa_alias("ingress", "md.m8", "md.inner.apart")\n{below}\n'
    path.write_text(program(metadata=ALIASES + METADATA + alias))
    assert "Alias<8, 8>" in translate(path, [], {}).code


def answer(load, kind: int, b: int = 0) -> tuple[int, bytes]:
    """Port and bytes."""
    frame = bytes([kind, 0]) + b.to_bytes(2, "big") + bytes(10)
    ((port, out),) = load(PROGRAM).send(1, frame)
    return port, out


@pytest.mark.parametrize(("kind", "port"), [(0, 5), (3, 33), (4, 44)])
def test_a_port_is_read_from_either_field(load, kind: int, port: int) -> None:
    """Written to intrinsic metadata, to the other field by an action, and with its struct."""
    left_from, out = answer(load, kind)
    assert left_from == port
    assert int.from_bytes(out[4:8], "big") == port


@pytest.mark.parametrize(
    ("kind", "wide", "qid"), [(4, 0xE7, 7), (5, 0xC2, 2), (6, 0xE9, 9), (7, 3, 3)]
)
def test_the_narrower_field_is_the_low_bits(load, kind: int, wide: int, qid: int) -> None:
    """By a struct, by a function, by an out argument for the narrow one, by a slice."""
    _, out = answer(load, kind)
    assert (out[KIND], out[A]) == (wide, qid)
    assert out[13] == (0x55 if kind == 4 else 0)  # its neighbour stays


@pytest.mark.parametrize("kind", [8, 9])
def test_two_fields_of_one_struct_are_one(load, kind: int) -> None:
    for b in (0, 1):
        assert answer(load, kind, b)[1][B] == b"\xab\xcd"


def test_the_other_half_has_two_fields(load) -> None:
    """The struct is that of both halves, and the alias of egress alone."""
    text = program(
        "md.m16 = 7; hdr.data.b = md.other; ig_tm_md.bypass_egress = 0;",
        metadata=ALIASES.replace('"ingress", "md.m16"', '"egress", "md.m16"') + METADATA,
        egress=EGRESS.replace("no_headers_t", "headers_t")
        .replace("no_metadata_t", "metadata_t")
        .replace("struct headers_t {\n}\n", "")
        .replace("struct metadata_t {\n}\n", "")
        .replace("pkt.extract(eg_intr_md);", "pkt.extract(eg_intr_md); pkt.extract(hdr.data);")
        .replace("    apply {\n", "    apply { md.m16 = 8; hdr.data.c = (bit<32>) md.other;\n", 1)
        .replace(
            "in metadata_t md) {\n    apply {", "in metadata_t md) {\n    apply { pkt.emit(hdr);"
        ),
    )
    ((_, out),) = load(text).send(1, bytes(14))
    assert out[B] == b"\0\0"
    assert out[4:8] == b"\0\0\0\x08"


# Functions of the top level, which either half may call; what is written past an assignment; and
# two pairs that differ only by a dot.
ELSEWHERE = program(
    """
        if (hdr.data.kind >= 3) { md.port = 33; invalidate(ig_tm_md.ucast_egress_port); }
        if (hdr.data.kind == 3) { md.port = 33; }
        if (hdr.data.kind == 1) { last_wins(md); }
        if (hdr.data.kind == 2) { reads_the_other(md, hdr.data.b); }
        hdr.data.c = 16w0 ++ md.other;
    """,
    metadata=ALIASES.replace(
        "struct",
        """\
@pa_alias("ingress", "md.inner.apart", "md.m8")
@pa_alias("ingress", "md.inner_apart", "md.inner_wide")
struct""",
    )
    + METADATA.replace("bool", "bit<8> inner_apart; bit<8> inner_wide; bool"),
    top="""
void last_wins(inout metadata_t md) { md.m16 = 1; md.other = 0; }
void reads_the_other(inout metadata_t md, out bit<16> found) { md.m16 = 0x4321; found = md.other; }
""",
    parser_local="Checksum() sum;",
    parser=PARSER.replace(
        "hdr.data);", "hdr.data); sum.subtract(hdr.data.b); sum.subtract_all_and_deposit(md.m16);"
    ),
)


@pytest.mark.parametrize(
    ("kind", "port", "b", "other"),
    [(0, 5, 0x1234, 0xEDCB), (1, 5, 0x1234, 0), (2, 5, 0x4321, 0x4321), (3, 33, 0x1234, 0xEDCB)],
)
def test_a_field_follows_wherever_the_other_is_written(
    load, kind: int, port: int, b: int, other: int
) -> None:
    """By the residue of a checksum (0 less 0x1234), by functions, and after invalidate."""
    frame = bytes([kind, 0]) + b"\x12\x34" + bytes(10)
    ((left_from, out),) = load(ELSEWHERE).send(1, frame)
    assert (left_from, out[B], out[4:8]) == (port, b.to_bytes(2, "big"), other.to_bytes(4, "big"))


def test_an_invalid_port_is_no_port_in_either_field(load) -> None:
    assert load(ELSEWHERE).send(1, bytes([4]) + bytes(13)) == []


WRONG = {
    "an unknown parameter": ("no.m16", "md.m8", "'no' is no parameter of Ingress"),
    "an unknown field": ("md.m16", "md.m7", "metadata_t has no field 'm7'"),
    "a field with itself": ("md.m16", "md.m16", "'md.m16' has an alias already"),
    "a field of another alias": ("md.m8", "md.port", "'md.port' has an alias already"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_no_alias_can_be(name: str, tmp_path: Path) -> None:
    one, other, message = WRONG[name]
    wrong = f'/*^*/@pa_alias("ingress", "{one}", "{other}")\n'
    text = program(metadata=ALIASES.replace("struct", wrong + "struct") + METADATA)
    check_refused(text, message, tmp_path)
