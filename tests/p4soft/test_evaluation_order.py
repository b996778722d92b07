"""Operands are evaluated from left to right; arguments are copied in and out in that order."""

from __future__ import annotations

import pytest
from p4_programs import METADATA, PREAMBLE, program

# `a` is hdr.data.a, which is 10; bump makes it 11 and returns 111, then 12 and 112.
A, BUMP = 10, 111
TOP = """
bit<8> bump(inout bit<8> x) { x = x + 1; return x + 100; }
bit<8> both_sides(inout bit<8> x) { return x + bump(x); }
bit<16> pair(in bit<8> x, in bit<8> y) { return x ++ y; }
bit<16> change(inout bit<8> x, inout bit<8> y) { x = x + 1; y = y + 2; return x ++ y; }
void set(out bit<8> x, in bit<8> y) { x = y + 5; }
void add(inout bit<8> x, in bit<8> y) { x = x + y; }
void note(inout data_h d, in bit<8> y) { d.c = 16w0 ++ d.a ++ y; }
void whole_and_part(inout data_h d, inout bit<8> x) { d.a = 1; x = 2; }
void part_and_whole(inout bit<8> x, inout data_h d) { x = 2; d.a = 1; }
void wholes(inout data_h d, inout data_h e) { d.a = 1; e.a = e.a + 1; }
void copy_before(in data_h d, inout data_h e) { e.a = 1; e.c = (bit<32>) d.a; }
void leave(out extra_h e) { }
void fill(out extra_h e, in bit<16> v) { e.setValid(); e.x = v; e.y = 3; }
"""
LOCAL = """
    Hash<bit<16>>(HashAlgorithm_t.IDENTITY) same;
    Register<bit<8>, bit<8>>(4) cells;
    Meter<bit<8>>(4, MeterType_t.PACKETS) meter;
    action pair_of(in bit<8> x, in bit<8> y, out bit<32> result) { result = 16w0 ++ x ++ y; }
    action see(in data_h d) { hdr.data.a = 50; hdr.data.c = (bit<32>) d.a; }
    action redo(inout data_h d) { hdr.data.a = 50; d.c = (bit<32>) d.a; }
    action found() { hdr.data.c = 1; }
    action bumped() { hdr.data.a = hdr.data.a + 1; }
    table keys {
        key = { hdr.data.a: exact @name("first"); bump(hdr.data.a): exact @name("second"); }
        actions = { found; NoAction; }
        const entries = { (10, 111): found(); }
    }
    table hits {
        key = { hdr.data.a: exact; }
        actions = { bumped; }
        const entries = { 10: bumped(); }
    }
    table arguments { actions = { pair_of(hdr.data.a, bump(hdr.data.a), hdr.data.c); }
                      default_action = pair_of(); }
"""
# Name: (statements, hdr.data.a and hdr.data.c afterwards)
CASES: dict[str, tuple[str, int, int]] = {
    "sum": ("c = (bit<32>) (a + bump(a));", 11, 10 + 111),
    "sum, call on the left": ("c = (bit<32>) (bump(a) + a);", 11, 111 + 11),
    "two calls": ("c = (bit<32>) (bump(a) + bump(a));", 12, 111 + 112),
    "nested": ("c = (bit<32>) (a - (bump(a) - a));", 11, (10 - (111 - 11)) % 256),
    "three operands": ("c = (bit<32>) (a + bump(a) + a);", 11, 10 + 111 + 11),
    "comparison": ("if (a < bump(a) - 100) { c = 1; }", 11, 1),
    "equality": ("if (a == bump(a) - 100) { c = 1; }", 11, 0),
    "shift": ("c = (bit<32>) (bump(a) << 1) + (bit<32>) a;", 11, (111 << 1) + 11),
    "concatenation": ("c = 16w0 ++ a ++ bump(a);", 11, 10 << 8 | 111),
    "slices": ("c = 24w0 ++ a[3:0] ++ (bump(a))[3:0];", 11, 0xA << 4 | 0xF),
    "slice of a call": ("c = 24w0 ++ (bump(a))[6:3] ++ a[3:0];", 11, 0b1101 << 4 | 0xB),
    "casts": ("c = (bit<32>) a + (bit<32>) bump(a);", 11, 10 + 111),
    "unary": ("c = (bit<32>) (-a + bump(a));", 11, 111 - 10),
    "saturating": ("c = (bit<32>) (a |-| (bump(a) - 101));", 11, 0),
    "list": (
        "hdr.extra = {(bit<16>) a, (bit<16>) bump(a)}; c = hdr.extra.x ++ hdr.extra.y;",
        11, 10 << 16 | 111,
    ),
    "struct by names": (
        "hdr.extra = {y = (bit<16>) bump(a), x = (bit<16>) a}; c = hdr.extra.x ++ hdr.extra.y;",
        11, 11 << 16 | 111,
    ),
    "tuple": ("tuple<bit<8>, bit<8>> t = {a, bump(a)}; c = 16w0 ++ t[0] ++ t[1];",
              11, 10 << 8 | 111),
    "function's arguments": ("c = 16w0 ++ pair(a, bump(a));", 11, 10 << 8 | 111),
    "named arguments": ("c = 16w0 ++ pair(y = bump(a), x = a);", 11, 11 << 8 | 111),
    "copy out from left to right": ("c = 16w0 ++ change(a, a);", 12, 11 << 8 | 12),
    "copy out of named arguments": ("c = 16w0 ++ change(y = a, x = a);", 11, 11 << 8 | 12),
    "out and in": ("set(a, a);", 15, 0),
    "inout before a call": ("add(a, bump(a));", 10 + 111, 0),
    "header before a call": ("note(hdr.data, bump(a));", 10, 10 << 8 | 111),
    "whole and part": ("whole_and_part(hdr.data, a);", 2, 0),
    "part and whole": ("part_and_whole(a, hdr.data);", 1, 0),
    "whole twice": ("wholes(hdr.data, hdr.data);", 11, 0),
    "read and written": ("copy_before(hdr.data, hdr.data);", 1, 10),
    "out header begins invalid": (
        "hdr.extra = {1, 2}; leave(hdr.extra); c = hdr.extra.isValid() ? 32w1 : 32w2;", 10, 2,
    ),
    "out header and its field": (
        "hdr.extra = {7, 8}; fill(hdr.extra, hdr.extra.y); c = hdr.extra.x ++ hdr.extra.y;",
        10, 8 << 16 | 3,
    ),
    "action's arguments": ("pair_of(a, bump(a), c);", 11, 10 << 8 | 111),
    "table's action's arguments": ("arguments.apply();", 11, 10 << 8 | 111),
    "header seen by an action": ("see(hdr.data);", 50, 10),
    "header changed by an action": ("redo(hdr.data);", 10, 10),
    "chosen branch": ("c = (bit<32>) (a == 10 ? bump(a) : a) + (bit<32>) a;", 11, 111 + 11),
    "other branch": ("c = (bit<32>) (a == 9 ? bump(a) : a);", 10, 10),
    "choice as an operand": ("c = (bit<32>) (a + (a == 10 ? bump(a) : 0));", 11, 10 + 111),
    "condition of a choice": ("c = (bit<32>) (bump(a) == 111 ? a : 0);", 11, 11),
    "and, not reached": ("if (a == 9 && bump(a) == 111) { c = 1; }", 10, 0),
    "or, not reached": ("if (a == 10 || bump(a) == 111) { c = 1; }", 10, 1),
    "and, reached": ("if (a == 10 && bump(a) == 111 && a == 11) { c = 1; }", 11, 1),
    "or, reached": ("if (a == 9 || (bump(a) == 111 && a == 11)) { c = 1; }", 11, 1),
    "logic as an operand": (
        "if ((a == 10) == (bump(a) == 111 && a == 11)) { c = 1; }", 11, 1,
    ),
    "target of an assignment": ("a[7:4] = (bump(a))[3:0];", 0xFB, 0),
    "compound assignment": ("a += bump(a);", 10 + 111, 0),
    "return": ("c = (bit<32>) both_sides(a);", 11, 10 + 111),
    "else if": ("if (bump(a) == 0) { c = 1; } else if (a == 11) { c = 2; }", 11, 2),
    "switch": ("switch (bump(a)) { 111: { c = (bit<32>) a; } default: { c = 99; } }", 11, 11),
    "initial value": ("bit<8> v = a + bump(a); c = (bit<32>) v;", 11, 10 + 111),
    "hash": ("c = (bit<32>) same.get({a, bump(a)});", 11, 10 << 8 | 111),
    "hash of nested lists": ("c = (bit<32>) same.get({{a}, {bump(a)}});", 11, 10 << 8 | 111),
    "min": ("c = (bit<32>) min(a, bump(a));", 11, 10),
    "register write": ("cells.write(a - 10, bump(a));", 11, 0),
    "meter": ("c = (bit<32>) meter.execute(a - 10, (MeterColor_t) (bump(a) - 110));", 11, 3),
    "table's keys": ("keys.apply();", 11, 1),
    "applied table": ("c = (bit<32>) (a + (hits.apply().hit ? 8w1 : 8w0));", 11, 10 + 1),
}  # fmt: skip


def statements(text: str) -> str:
    """`a` and `c` are short for the header's fields."""
    words = {"a": "hdr.data.a", "c": "hdr.data.c"}
    out, word = "", ""
    for character in text + " ":
        if character.isalnum() or character in "_.":
            word += character
            continue
        out += words.get(word, word) + character
        word = ""
    return out


PROGRAM = program(
    "".join(
        f"if (hdr.data.kind == {i}) {{ {statements(text)} }}\n"
        for i, (text, _, _) in enumerate(CASES.values())
    )
    + "hdr.extra.setInvalid();",
    top=TOP,
    local=LOCAL,
)


def result_of(load, name: str) -> tuple[int, int]:
    kind = list(CASES).index(name)
    [(_, out)] = load(PROGRAM).send(1, bytes([kind, A]) + bytes(12))
    return out[1], int.from_bytes(out[4:8], "big")


@pytest.mark.parametrize("name", CASES)
def test_evaluation_is_from_left_to_right(load, name: str) -> None:
    switch = load(PROGRAM)
    if name == "meter":  # cell 0 lets nothing through; the others leave the colour as it is
        limits = {"CIR_PPS": 0, "PIR_PPS": 0, "CBS_PKTS": 0, "PBS_PKTS": 0}
        data = {f"$METER_SPEC_{limit}": value for limit, value in limits.items()}
        switch.command("meter_write", table="meter", index=0, data=data)
    assert result_of(load, name) == CASES[name][1:]
    if name == "register write":
        assert switch.command("register_read", table="cells")["values"] == [BUMP, 0, 0, 0]


PARSER = program(
    "hdr.data.c = 24w0 ++ md.m8;",
    top=TOP
    + """
bit<8> shift(inout item_h[3] items) { items.push_front(1); return 5; }
""",
    preamble=PREAMBLE + "header item_h { bit<8> v; }\n",
    metadata=METADATA.replace("data_h data;", "data_h data; item_h[3] items;"),
    parser="""
    state start {
        pkt.extract(ig_intr_md);
        pkt.advance(PORT_METADATA_SIZE);
        pkt.extract(hdr.data);
        pkt.extract(hdr.items.next);
        md.m8 = hdr.data.a;
        transition select(md.m8, bump(md.m8), md.m8) {
            (10, 111, 11): right;
            default: accept;
        }
    }
    state right {
        md.m8 = 77;
        hdr.items.next.v = shift(hdr.items);
        transition accept;
    }
""",
)


def test_select_and_a_target_that_moves(load) -> None:
    """`next` is items[1] before the call, which moves the extracted item there and `next` on."""
    [(_, out)] = load(PARSER).send(1, bytes([0, A]) + bytes(12) + b"\x09")
    assert out[4:8] == bytes([0, 0, 0, 77])
    assert out[14:] == b"\x05"
