"""Controls: branches, actions, nested controls, exit and return, functions."""

from __future__ import annotations

import pytest
from p4_programs import PARSER, PREAMBLE, program
from packet.reference_crc import crc16

REST = bytes(10)


def run(target, kind: int, a: int = 0, b: int = 0) -> tuple[int, int]:
    """Sends data_h with (kind, a, b); returns the a and b that come out."""
    [(_, frame)] = target.send(1, bytes([kind, a]) + b.to_bytes(2, "big") + REST)
    return frame[1], int.from_bytes(frame[2:4], "big")


BRANCHES = program(
    """
        if (hdr.data.kind == 1) {
            hdr.data.a = 10;
        } else if (hdr.data.kind == 2 || (hdr.data.kind == 3 && hdr.data.b != 0)) {
            hdr.data.a = 20;
        } else {
            switch (hdr.data.kind) {
                4: { hdr.data.a = 40; }
                5:
                6: { hdr.data.a = 56; }
                default: { hdr.data.a = 99; }
            }
        }
    """
)


@pytest.mark.parametrize(
    ("kind", "b", "a"),
    [
        (1, 0, 10),
        (2, 0, 20),
        (3, 1, 20),
        (3, 0, 99),
        (4, 0, 40),
        (5, 0, 56),
        (6, 0, 56),
        (7, 0, 99),
    ],
)
def test_branches(load, kind: int, b: int, a: int) -> None:
    assert run(load(BRANCHES), kind, b=b)[0] == a


ACTIONS = program(
    """
        if (hdr.data.kind == 1) { add(hdr.data.a, 5, hdr.data.b); }
        if (hdr.data.kind == 2) {
            add(n = 7, place = hdr.data.a, old = md.m16);
            hdr.data.b = md.m16;
        }
        if (hdr.data.kind == 3) { add(hdr.data.b[11:4], 1, md.m16); }
        if (hdr.data.kind == 4) { twice(hdr.data.a); }
        if (hdr.data.kind == 5) { alias(hdr.data.a); }
        if (hdr.data.kind == 6) { early(hdr.data.a); hdr.data.b = 1; }
    """,
    local="""
    bit<8> seen = 3;
    action add(inout bit<8> place, in bit<8> n, out bit<16> old) {
        old = (bit<16>) place;
        place = place + n;
    }
    action twice(inout bit<8> place) {
        bit<16> unused;
        add(place, seen, unused);
        add(place, seen, unused);
    }
    // Copy-in, copy-out: the assignment to hdr.data.a is lost when `place` is copied back.
    action alias(inout bit<8> place) { hdr.data.a = 50; place = place + 1; }
    action early(inout bit<8> place) { place = 1; if (hdr.data.b == 0) { return; } place = 2; }
""",
)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ((1, 10, 0), (15, 10)),
        ((2, 10, 0), (17, 10)),
        ((3, 0, 0x1230), (0, 0x1240)),
        ((4, 10, 0), (16, 0)),
        ((5, 10, 0), (11, 0)),
        ((6, 10, 0), (1, 1)),
        ((6, 10, 5), (2, 1)),
    ],
)
def test_actions_with_directions(
    load, given: tuple[int, int, int], expected: tuple[int, int]
) -> None:
    assert run(load(ACTIONS), *given) == expected


NESTED = program(
    "left.apply(hdr, md.m8); right.apply(hdr, md.m8); hdr.data.a = md.m8;",
    top="""
control Leaf(inout bit<8> total)(bit<8> weight) {
    action add() { total = total + weight; }
    table t { actions = { add; } default_action = add(); }
    apply { t.apply(); }
}
control Branch(inout headers_t h, inout bit<8> total)(bit<8> first, bit<8> second) {
    Leaf(first) a;
    Leaf(second) b;
    apply {
        a.apply(total);
        if (h.data.kind == 1) { b.apply(total); }
    }
}
""",
    local="    Branch(1, 10) left;\n    Branch(second = 200, first = 100) right;",
)


def test_instances_of_one_control_are_independent(load) -> None:
    target = load(NESTED)
    assert run(target, 0)[0] == 101
    assert run(target, 1)[0] == (1 + 10 + 100 + 200) % 256
    target.command(
        "table_write", updates=[{"op": "set_default", "table": "left.b.t", "action": "add"}]
    )
    names = {table["name"] for table in target.command("schema")["tables"]}
    assert names == {
        f"pipe.Ingress.{outer}.{inner}.t" for outer in ("left", "right") for inner in "ab"
    }


EXIT = program(
    """
        inner.apply(hdr);
        hdr.data.a = hdr.data.a + 100;
    """,
    top="""
control Inner(inout headers_t h) {
    action stop() { h.data.a = 1; exit; }
    action go_on() { h.data.a = 2; }
    table t {
        key = { h.data.kind: exact; }
        actions = { stop; go_on; }
        const entries = { 1: stop(); }
        default_action = go_on();
    }
    apply {
        if (h.data.kind == 7) { return; }
        t.apply();
        h.data.b = 5;
    }
}
""",
    local="    Inner() inner;",
)


def test_exit_ends_the_pipeline_and_return_one_control(load) -> None:
    target = load(EXIT)
    assert run(target, 1, 50) == (1, 0)  # exit: nothing after it, in no control
    assert run(target, 2, 50) == (102, 5)
    assert run(target, 7, 50) == (150, 0)  # return: the caller goes on
    assert run(target, 2, 50) == (102, 5)  # the next packet is not touched by an earlier exit


FUNCTIONS = program(
    "hdr.data.a = larger(hdr.data.a, hdr.data.kind); bump(hdr.data.b); hdr.data.c = sum({1, 2});",
    top="""
bit<8> larger(in bit<8> x, in bit<8> y) {
    if (x > y) { return x; }
    return y;
}
void bump(inout bit<16> x) { x = x + (bit<16>) larger(1, 2); }
bit<32> sum(in extra_h e) { return (bit<32>) (e.x + e.y); }
""",
)


def test_functions(load) -> None:
    target = load(FUNCTIONS)
    [(_, frame)] = target.send(1, bytes([9, 4, 0, 1]) + REST)
    assert frame == bytes([9, 9, 0, 3, 0, 0, 0, 3]) + bytes(6)


APPLIED = program(
    """
        if (t.apply().hit && !u.apply().hit) { hdr.data.a = hdr.data.a + 100; }
        switch (v.apply().action_run) {
            one: { hdr.data.b = 1; }
            two: { hdr.data.b = 2; }
            default: { hdr.data.b = 3; }
        }
        if (w.apply().miss) { hdr.data.b = hdr.data.b + 0x100; }
    """,
    local="""
    action one() { }
    action two() { }
    action three() { }
    action touch() { hdr.data.a = hdr.data.a + 1; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { one; }
        const entries = { 1: one(); 2: one(); }
    }
    table u {
        key = { hdr.data.kind: exact; } actions = { touch; } const entries = { 2: touch(); }
        const default_action = touch();
    }
    table v {
        key = { hdr.data.kind: exact; } actions = { one; two; three; }
        const entries = { 1: one(); 2: two(); }
        default_action = three();
    }
    table w {
        key = { hdr.data.kind: exact; }
        actions = { one; }
        const entries = { 1: one(); 2: one(); }
    }
""",
)


@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        (1, (101, 1)),  # t hits, u misses (and its default action runs)
        (2, (1, 2)),  # both hit
        (3, (0, 0x103)),  # t misses, so u is not applied at all
    ],
)
def test_results_of_apply(load, kind: int, expected: tuple[int, int]) -> None:
    assert run(load(APPLIED), kind) == expected


MACROS = program(
    """
        SET(a, 3)
        SET(b, 4)
        BOTH(SELECT_)
        GLUE(md.m, 16) = 1;
        hdr.data.b = hdr.data.b + md.m16 EMPTY();
    """,
    top="""
#define SET(NAME, VALUE) select_##NAME##_value = VALUE;
#define SELECT_ select
#define GLUE(LEFT, RIGHT) LEFT##RIGHT
#define EMPTY(X) X
#define BOTH(PREFIX) hdr.data.a = PREFIX##a_value; hdr.data.b = select_b_value;
""".replace("PREFIX##a_value", "GLUE(select, _a_value)"),
    local="    bit<8> select_a_value; bit<16> select_b_value;\n",
)


def test_macros_that_paste_tokens(load) -> None:
    assert run(load(MACROS), 0) == (3, 5)


TUPLES = program(
    """
        tuple<bit<8>, bit<16>> pair = {hdr.data.a, hdr.data.b};
        tuple<bit<8>, bit<16>> other = {3, 4};
        if (pair == other) { hdr.data.c = 1; }
        pair[0] = pair[0] + 1;
        hdr.data.b = pair[1] ++ pair[0] == 24w0x000404 ? 16w7 : h.get(pair);
        hdr.data.a = pair[0];
    """,
    local="    Hash<bit<16>>(HashAlgorithm_t.CRC16) h;\n",
)


def test_tuples(load) -> None:
    target = load(TUPLES)
    [(_, frame)] = target.send(1, bytes([0, 3, 0, 4]) + REST)
    assert frame == bytes([0, 4, 0, 7, 0, 0, 0, 1]) + bytes(6)
    assert run(target, 0, 9, 0x0102) == (10, crc16(bytes([10, 1, 2])))


EXITS = program("if (hdr.data.kind == 1) { hdr.data.a = 1; exit; } else { hdr.data.a = 2; exit; }")


def test_control_whose_every_path_exits(load) -> None:
    assert [run(load(EXITS), kind)[0] for kind in (1, 2)] == [1, 2]


NAMES = program(
    """
        bit<8> to_bit = hdr.data.a;
        concat(hdr.data.a, to_bit, 3);
        stdin = stdin + 1;
        hdr.strange.NULL = hdr.strange.bytes;
        hdr.strange.other = hdr.strange.valid_[7:4] ++ stdin[3:0];
        hdr.data.b = min(hdr.data.a, to_bit) ++ larger(hdr.data.a, stdin);
    """,
    preamble=PREAMBLE
    + """
header class_h { bit<8> bytes; bit<8> other; bit<8> NULL; bit<8> valid_; bit<8> class; }
struct headers_t { data_h data; class_h strange; }
struct metadata_t { bit<8> frame_; }
""",
    metadata="",
    parser=PARSER.replace("extract(hdr.data);", "extract(hdr.data); pkt.extract(hdr.strange);"),
    top="bit<8> larger(in bit<8> max, in bit<8> std) { return max > std ? max : std; }\n",
    local="""
    bit<8> stdin = 4;
    action concat(inout bit<8> slice, in bit<8> EOF, bit<8> errno) {
        slice = slice[3:0] ++ EOF[7:4] | errno;
    }
""",
)


def test_names_that_cpp_or_the_runtime_has_too(load) -> None:
    given = bytes([0, 0x12, 0, 0]) + REST + bytes([0xAB, 1, 2, 0xCD, 0xEF])
    [(_, frame)] = load(NAMES).send(1, given)
    assert frame[:4] == bytes([0, 0x21 | 3, 0x12, 0x23])
    assert frame[14:] == bytes([0xAB, 0xC5, 0xAB, 0xCD, 0xEF])
