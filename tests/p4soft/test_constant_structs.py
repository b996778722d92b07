"""Constants that are structs, headers or tuples."""

from __future__ import annotations

from p4_programs import program

CONSTANTS = program(
    """
        hdr.extra = EXTRA;
        pair_t pair = PAIR;
        hdr.data.a = pair.small + NESTED.pair.small;
        hdr.data.b = NESTED.pair.large ++ NESTED.kind == 24w0x010207 ? TUPLE[1] : 0;
        hdr.data.c = BY_NAME.large == 16w0x0102 ? (bit<32>) WIDTH : 0;
        bit<(BY_NAME.small)> eleven = 2047;
        hdr.data.mac = (bit<48>) eleven;
    """,
    top="""
struct pair_t { bit<8> small; bit<16> large; }
struct nested_t { pair_t pair; bit<8> kind; }
const extra_h EXTRA = {0x1122, 0x3344};
const pair_t PAIR = {4, 0x0102};
const pair_t BY_NAME = {large = 0x0102, small = 11};
const nested_t NESTED = {PAIR, 7};
const tuple<bit<8>, bit<16>> TUPLE = {1, 0x5566};
const bit<8> WIDTH = BY_NAME.small;
""",
)


def test_parts_of_constants(load) -> None:
    [(_, frame)] = load(CONSTANTS).send(1, bytes(14))
    assert frame[1:4].hex() == "085566"  # 4 + 4; the comparison holds
    assert frame[4:8].hex() == "0000000b"
    assert frame[8:14].hex() == "0000000007ff"
    assert frame[14:].hex() == "11223344"  # a list makes a header valid
