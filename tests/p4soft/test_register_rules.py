"""The rules of Tofino's stateful units: programs that break one, and programs that only seem to."""

from __future__ import annotations

from pathlib import Path

import pytest
from p4_programs import EGRESS, PREAMBLE, program
from refusals import MARK, check_refused

from p4soft.cli import translate

REGISTER = "    Register<bit<32>, bit<8>>(16) cells;\n"


def action(name: str, body: str = "value = value + 1; rv = value;", at: str = "") -> str:
    return f"""
    RegisterAction<bit<32>, bit<8>, bit<32>>(cells) {at}{name} = {{
        void apply(inout bit<32> value, out bit<32> rv) {{ {body} }}
    }};
"""


def using(apply: str, *names: str, local: str = "") -> str:
    return program(apply, local=REGISTER + "".join(action(name) for name in names) + local)


TWO_TABLES = """
    action first() { hdr.data.c = up.execute(0); }
    action second() { hdr.data.c = /*^*/down.execute(0); }
    table one { key = { hdr.data.a : exact; } actions = { first; } size = 4; }
    table two { key = { hdr.data.a : exact; } actions = { second; } size = 4; }
"""
PAIR = PREAMBLE + "struct pair_t { bit<16> x; bit<32> y; }\n"

BROKEN = {
    "five actions": (
        program(
            local=REGISTER + "".join(action(n) for n in "abcd") + action("e", at="/*^*/"),
        ),
        "this is RegisterAction 5 of register 'cells'; a stateful unit of Tofino has 4",
    ),
    "three comparisons": (
        program(
            local=REGISTER
            + action(
                "a",
                "if (value < 5) { value = 1; } else if (value == 9) { value = 2; }"
                " else if (value /*^*/> 20) { value = 3; }",
            )
        ),
        "a stateful unit of Tofino has no place for more than 2 comparisons in a RegisterAction",
    ),
    "twice in a row": (
        using("hdr.data.c = up.execute(0); hdr.data.c = /*^*/up.execute(1);", "up"),
        "a packet can access register 'cells' here and at ",
    ),
    "by two actions": (
        using("hdr.data.c = up.execute(0); hdr.data.c = /*^*/down.execute(1);", "up", "down"),
        "allows one access per packet and pass: make the two exclusive, or recirculate",
    ),
    "after a branch": (
        using(
            "if (hdr.data.a == 1) { hdr.data.c = up.execute(0); } hdr.data.c = /*^*/up.execute(1);",
            "up",
        ),
        "a packet can access register 'cells' here and at ",
    ),
    "two tables": (
        using("one.apply(); two.apply();", "up", "down", local=TWO_TABLES),
        "a packet can access register 'cells' here and at ",
    ),
    "table and its hit": (
        using(
            "if (one.apply().hit) { hdr.data.c = up.execute(3); }",
            "up",
            "down",
            local=TWO_TABLES,
        )
        .replace("/*^*/", "")
        .replace("up.execute(3)", "/*^*/up.execute(3)"),
        "a packet can access register 'cells' here and at ",
    ),
    "read and action": (
        using("hdr.data.c = cells.read(1); hdr.data.c = /*^*/up.execute(1);", "up"),
        "a packet can access register 'cells' here and at ",
    ),
    "no body": (
        program(local=REGISTER + "RegisterAction<bit<32>, bit<8>, bit<32>>(cells) /*^*/up;"),
        "RegisterAction 'up' has no body; expected `= { void apply(inout bit<32> value,",
    ),
    "other parameters": (
        program(
            local=REGISTER
            + "RegisterAction<bit<32>, bit<8>, bit<32>>(cells) up = {\n"
            + "    void /*^*/apply(inout bit<16> value, out bit<32> rv) { rv = 0; }\n};"
        ),
        "apply of RegisterAction 'up' has other parameters than (inout bit<32> value)",
    ),
    "multiplication": (
        program(local=REGISTER + action("up", "value = value /*^*/* 2; rv = 0;")),
        "no place for this expression as an operand",
    ),
    "hash inside": (
        program(
            local="    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;\n"
            + REGISTER
            + action("up", "rv = /*^*/hash.get({hdr.data.c});")
        ),
        "no place for this expression as an operand",
    ),
    "64-bit cells": (
        program(local="Register<bit<64>, bit<8>>(16) /*^*/cells;"),
        "a Register of bit<64> is not supported by p4soft; supported: bit<W> or int<W> of 1, 8, 16",
    ),
    "unequal pair": (
        program(local="Register<pair_t, bit<8>>(16) /*^*/cells;", preamble=PAIR),
        "a Register of pair_t is not supported by p4soft",
    ),
    "no cells": (
        program(local="Register<bit<8>, bit<8>>(0) /*^*/cells;"),
        "register 'cells' has 0 cells",
    ),
    "in a deparser": (
        program(
            deparser="hdr.data.c = /*^*/cells.read(0); pkt.emit(hdr);",
            deparser_local=REGISTER,
        ),
        "a register is used here; only controls can, not (de)parsers",
    ),
    "both directions": (
        program(
            "hdr.data.c = cells.read(0);",
            top="Register<bit<32>, bit<8>>(16) cells;\n",
            egress=EGRESS.replace("apply {\n", "apply { /*^*/cells.write(0, 1);\n", 1),
        ),
        "register 'cells' is used in ingress and in egress; it lies in one of them",
    ),
}


def unit(body: str, cell: str = "bit<32>", more: str = "") -> str:
    """A program with one action, on pairs if it names a field; `more` are actions beside it."""
    value = "pair_t" if "value." in body else cell
    return program(
        preamble=PREAMBLE + f"struct pair_t {{ {cell} x; {cell} y; }}\n",
        local=f"""
    Register<{value}, bit<8>>(16) cells;
    RegisterAction<{value}, bit<8>, {cell}>(cells) up = {{
        void apply(inout {value} value, out {cell} rv) {{ {body} }}
    }};
{more}""",
    )


C, B, M = "hdr.data.c", "(bit<32>) hdr.data.b", "md.m32"
NO_ROOM = {
    "two numbers as results that may meet": (
        f"if (value.x > 0) {{ value.y = {C}; rv = 1; }} if ({C} > 4) {{ /*^*/rv = 2; }}",
        "a second value in the same case",
    ),
    "a number and a field as results that may meet": (
        "if (value.x > 0) { rv = value.y; } if (value.y > 0) { /*^*/rv = 1; }",
        "a second value in the same case",
    ),
    "four operations and a shift": (
        f"value = (((value + {C}) ^ {M}) - 3) /*^*/<< 2;",
        "this expression as an operand",
    ),
    "a return": (f"rv = value; if ({C} == 0) {{ /*^*/return; }} value = {C};", "a return"),
    "a return at the end": ("value = 1; /*^*/return;", "a return"),
    "a shift": ("value = value /*^*/<< 1;", "this expression as an operand"),
    "two operations": (f"value = value /*^*/+ {C} + 1;", "this expression as an operand"),
    "two packet fields": (f"value = {C} /*^*/+ {M};", "'. + .' of two packet fields"),
    "a field and its pair": (
        "value.x = value.x /*^*/+ value.y;",
        "'. + .' of two fields of the cell",
    ),
    "a result of a result": (
        f"value.x = value.x + {C}; value.y = /*^*/value.x + 1;",
        "a value computed from one that it computes",
    ),
    "a comparison of what was written": (
        f"value = value + {C}; if (/*^*/value > 5) {{ rv = 1; }}",
        "a value computed from one that it computes",
    ),
    "a value of two cases": (
        f"if (value < 5) {{ value = 1; }} if ({C} == 2) {{ /*^*/value = 2; }}",
        "a second value in the same case",
    ),
    "three values": (
        f"if (value < 5) {{ value = {C}; }} else if (value == 9) {{ value = 0; }}"
        " else { value = value /*^*/+ 1; }",
        "more than 2 different values for one field of the cell",
    ),
    "a third packet field": (
        f"if (value == {C}) {{ value = {M}; }} else {{ value = /*^*/{B}; }}",
        "a third packet field in the actions of one register",
    ),
    "a comparison of two packet fields": (
        f"if (value + {C} /*^*/== {M}) {{ value = 0; }}",
        "a comparison of two packet fields",
    ),
    "a masked comparison": (
        "if ((value /*^*/& 0xFF) == 3) { value = 0; }",
        "this expression as an operand",
    ),
    "a large unsigned comparison": (
        "if (value /*^*/> 0x80000001) { value = 0; }",
        "2147483649 in a comparison",
    ),
    "results of both fields": (
        "if (value.x == 0) { rv = value.x; } else { rv = /*^*/value.y; }",
        "this result of an action on a pair",
    ),
    "a result computed beside a pair": (
        f"rv = value.x /*^*/+ {C};",
        "this result of an action on a pair",
    ),
    "two results of fields": (
        f"if (value == 0) {{ rv = {C}; }} else {{ rv = /*^*/{M}; }}",
        "this result beside another",
    ),
    "a field beside a result computed": (
        f"if (value == 0) {{ rv = value; }} else {{ rv = value /*^*/+ {C}; }}",
        "this result beside another",
    ),
    "a packet field beside the cell": (
        f"if (value == 0) {{ rv = {C}; }} else {{ rv = /*^*/value; }}",
        "this result beside another",
    ),
    "a value of two operations read": (
        f"value = (value + 1) | (value & {C}); if (/*^*/value == 3) {{ rv = 1; }}",
        "a value computed from one that it computes",
    ),
    "a local variable computed from itself": (
        "bit<32> t = value; t = t + 1; rv = /*^*/t;",
        "a local variable that is computed from itself",
    ),
    "a second local variable that is computed": (
        f"bit<32> t = value + 1; bit<32> u = value + {C}; value = {C};"
        " if (value == 0) { rv = t; } else { rv = /*^*/u; }",
        "a second local variable that is computed",
    ),
    "a local variable computed beside a pair": (
        "bit<32> t = value.x + 1; value.x = 0; rv = /*^*/t;",
        "a local variable that is computed, beside a pair",
    ),
    "a value computed from a local variable that is computed": (
        f"bit<32> t = value + 1; value = {C}; if (/*^*/t > 5) {{ rv = 1; }}",
        "a value computed from one that it computes",
    ),
    "a result of a copy of what was written": (
        "value = value + 1; bit<32> t = value; rv = /*^*/t;",
        "a value computed from one that it computes",
    ),
    "a local variable narrower than the cell": (
        "bit<16> t = (bit<16>) value; value = value + 1; rv = (bit<32>) /*^*/t;",
        "a local variable of bit<16>",
    ),
    "a result computed beside a local variable": (
        "bit<32> t = value; value = value + 1; if (t > 5) { rv = /*^*/6; }",
        "this result beside a local variable",
    ),
    "a copy that becomes another value": (
        f"bit<32> t = value; if ({C} == 0) {{ t = {C}; }} rv = /*^*/t;",
        "a copy of the cell that becomes another value",
    ),
    "a local variable computed with the cell last, then otherwise": (
        f"bit<32> t = {C} + value; if ({C} == 0) {{ t = value & {C}; }} rv = /*^*/t;",
        "a local variable that ends with the cell",
    ),
    "a large constant compared for equality": (
        "if (value /*^*/== 0xFFFFFFFF) { value = 0; }",
        "4294967295 in a comparison",
    ),
    "a large constant on the left": (
        "if (32w0x80000000 /*^*/!= value) { value = 0; }",
        "2147483648 in a comparison",
    ),
    "a copy and a sum joined by or": (
        f"value = (value + {C}) /*^*/| value;",
        "a copy and a sum joined by '|' in all cases",
    ),
    "a result of three casts": (
        "rv = /*^*/(bit<32>) (int<32>) (bit<32>) hdr.data.a;",
        "a result of three casts",
    ),
    "a local variable that gets another value in one case": (
        f"bit<32> t = value + 1; if ({C} == 0) {{ t = 7; }} rv = /*^*/t;",
        "a second value in the same case",
    ),
    "a local variable computed with the cell last": (
        f"bit<32> t = {C} + value; rv = /*^*/t;",
        "a local variable that ends with the cell",
    ),
    "a difference from the cell in a local variable": (
        f"bit<32> t = 5 - value; value = {C}; rv = /*^*/t;",
        "a local variable that ends with the cell",
    ),
    "a copy chosen by ?:": (
        f"value = {C} == 0 ? value + 1 : /*^*/{M};",
        "a copy chosen by '? :'",
    ),
    "a complement chosen by ?:": (
        f"value = {C} == 0 ? /*^*/~value : value + 1;",
        "a copy chosen by '? :'",
    ),
    "a local variable without a value": (
        "bit<32> t; value = /*^*/t;",
        "a variable without a value",
    ),
    "concatenation of fields": ("rv = value.x[15:0] /*^*/++ value.y[15:0];", "this expression as"),
    "the result read": ("rv = value; value = /*^*/rv;", "this expression as an operand"),
    "a metadata field": ("/*^*/md.m32 = value;", "an assignment to anything but the cell"),
    "a fifth constant": (
        "if (value == 10) { rv = 13; } else { rv = 14; }"
        " if (value == 10) { value = 11; } else { value = /*^*/12; }",
        "a constant beyond -8 to 7 beside 4 others",
    ),
}


@pytest.mark.parametrize("name", NO_ROOM)
def test_no_room_in_the_unit(name: str, tmp_path: Path) -> None:
    body, message = NO_ROOM[name]
    assert MARK in body
    check_refused(unit(body), f"a stateful unit of Tofino has no place for {message}", tmp_path)


def test_wide_packet_fields_do_not_reach_narrow_cells(tmp_path: Path) -> None:
    text = unit("value = value + 1; if (hdr.data.b /*^*/== 9) { rv = 1; }", "bit<8>")
    check_refused(text, "a packet field of 16 bits in an action on 8", tmp_path)


def test_numbers_are_no_results_beside_casts_of_the_cell(tmp_path: Path) -> None:
    def signed(result: str) -> str:
        body = "if (value > 5) { rv = 3; } else { rv = /*^*/(int<32>) value; }"
        text = unit(body, "int<32>").replace(", out int<32>", f", out {result}")
        return text.replace("bit<8>, int<32>>(cells)", f"bit<8>, {result}>(cells)")

    message = "a number and a value of the cell, cast, as results"
    check_refused(
        signed("bit<32>").replace("(int<32>) value", "(bit<32>) value"), message, tmp_path
    )
    (tmp_path / "same.p4").write_text(signed("int<32>"))
    translate(tmp_path / "same.p4", [], {})


def test_bits_have_no_operations_and_no_conditions(tmp_path: Path) -> None:
    check_refused(unit("value = value /*^*/^ 1;", "bit<1>"), "this value of a bit", tmp_path)
    text = unit("if (value /*^*/== 1) { value = 0; }", "bit<1>")
    check_refused(text, "a condition in an action of a register of bits", tmp_path)


@pytest.mark.parametrize(
    "body", ["value = 1; rv = /*^*/value;", "rv = /*^*/1;", "value = 1; rv = /*^*/0;"]
)
def test_only_the_bit_as_it_was_is_a_result(body: str, tmp_path: Path) -> None:
    check_refused(unit(body, "bit<1>"), "this result of a register of bits", tmp_path)


@pytest.mark.parametrize(
    "body", ["rv = value; value = 1;", "rv = ~value; value = 0;", "rv = 0; rv = value;"]
)
def test_a_bit_is_tested_and_set(body: str, tmp_path: Path) -> None:
    path = tmp_path / "right.p4"
    path.write_text(unit(body, "bit<1>"))
    translate(path, [], {})


def test_actions_of_a_register_share_its_inputs(tmp_path: Path) -> None:
    second = action("down", f"value = /*^*/{B};")
    check_refused(
        unit(f"value = value + {C}; rv = {M};", more=second), "third packet field", tmp_path
    )


# As in published programs for Tofino, which its compiler takes.
FITS = {
    "sequence numbers": f"""
        if ({B} == value.x) {{
            value.y = value.y |+| 2;
            if (value.x == 0xffffff) {{ value.x = 0; }} else {{ value.x = value.x + 1; }}
        }} else {{
            value.y = 0x80000000;
            value.x = value.x;
        }}
        rv = value.y;""",
    "reset of sequence numbers": f"""
        if ({B} == 0xffffff) {{ value.x = 0; }} else {{ value.x = {B} + 1; }}
        value.y = {C};
        rv = value.y;""",
    "bitmaps": f"rv = value.x; value.x = value.x | {C}; value.y = value.y & ~{C};",
    "masked result of a local variable": """
        bit<32> masked = value & 0xffffff;
        rv = masked;
        bit<32> next = value + 1;
        value = next;""",
    "countdown": f"""
        rv = value.x;
        if (value.x == 0) {{ value.x = {C} - 1; }} else {{ value.x = value.x - 1; }}""",
    "maximum": f"value.x = max(value.x, {C}); value.y = max(value.y, {M}); rv = value.x;",
    "two operations joined by or": f"value = (value & 0xFF00) | ({C} + 1);",
    "flag by a condition of two comparisons": f"""
        rv = 0;
        if (value > 5 && {C} != 2) {{ rv = 1; }}
        value = {C};""",
    "difference compared": f"rv = 0; if (value - {C} == 7) {{ value = {C}; rv = 1; }}",
    "a copy that is read again": f"value.x = {C}; value.y = value.x + 1; rv = value.y;",
    "the same value in two cases": f"""
        if (value < 5) {{ value = {C}; }} else if (value == 9) {{ value = {C}; }}
        else {{ value = 0; }}""",
    "results computed in two cases": f"""
        if (value < 5) {{ rv = value + {C}; }} else {{ rv = value; }}""",
    "a large constant subtracted": f"if (value - 0xFFFFFF00 < {C}) {{ value = 0; }}",
    "a copy of the cell in a local variable": """
        bit<32> in_value;
        in_value = value;
        value = in_value + 1;
        rv = in_value;""",
    "a comparison of the old value": """
        bit<32> t = value;
        value = value + 1;
        if (t > 5) { rv = 1; } else { rv = 0; }""",
    "a local variable computed from itself and written": "bit<32> t = value; t = t + 1; value = t;",
    "a local variable computed from another": "bit<32> t = value; bit<32> u = t + 1; rv = u;",
    "a local variable written and returned": "bit<32> t = value + 1; value = t; rv = t;",
    "a local variable computed in some cases": f"""
        bit<32> t = 0;
        if (value < 5) {{ t = value + {C}; }} else if ({C} == 9) {{ t = 77; }}
        value = {C};
        rv = t;""",
    "a copy of the pair": """
        pair_t t = value;
        value.x = value.x + 1;
        value.y = t.x;
        rv = t.y;""",
    "a local variable of two cases": f"""
        bit<32> t;
        if ({C} == 0) {{ t = value; }} else {{ t = value; }}
        value = t + 1;
        rv = t;""",
    "a comparison of two constants": """
        value = 100;
        if (value == 12) { rv = 1; } else { rv = 2; }""",
    "the largest constant compared": "if (value == 0x80000000) { rv = 1; }",
    "a copy and an operation joined by or": f"value = (value ^ {C}) | {M};",
    "a copy and a sum joined by or in one case": f"""
        if (value == 3) {{ value = (value + {C}) | value; }}""",
    "chosen by ?:": f"rv = value; value = {C} == 0 ? value + {C} : value + 1;",
    "a result chosen by ?:": f"rv = {C} == 0 ? value + {C} : value + 1;",
    "a constant before the cell": f"bit<32> t = 5 + value; value = {C}; rv = t;",
    "a local variable that ends with the cell in another case": f"""
        bit<32> t = 0;
        if (value == 3) {{ t = {C} + value; }}
        rv = t;""",
}


@pytest.mark.parametrize("name", FITS)
def test_fits_the_unit(name: str, tmp_path: Path) -> None:
    path = tmp_path / "right.p4"
    path.write_text(unit(FITS[name]))
    translate(path, [], {})


@pytest.mark.parametrize("name", BROKEN)
def test_broken_rule(name: str, tmp_path: Path) -> None:
    text, message = BROKEN[name]
    assert MARK in text
    check_refused(text, message, tmp_path)


EXCLUSIVE = {
    "two branches": using(
        "if (hdr.data.a == 1) { hdr.data.c = up.execute(0); }"
        " else { hdr.data.c = down.execute(0); }",
        "up",
        "down",
    ),
    "after a return": using(
        "if (hdr.data.a == 1) { hdr.data.c = up.execute(0); return; } hdr.data.c = up.execute(1);",
        "up",
    ),
    "after an exit": using(
        "if (hdr.data.a == 1) { hdr.data.c = up.execute(0); exit; } hdr.data.c = up.execute(1);",
        "up",
    ),
    "exclusive tables": using(
        "if (hdr.data.a == 1) { one.apply(); } else { two.apply(); }",
        "up",
        "down",
        local=TWO_TABLES,
    ),
    "another action's case": using(
        "switch (one.apply().action_run) { first: { } default: { hdr.data.c = up.execute(9); } }",
        "up",
        "down",
        local=TWO_TABLES.replace("{ first; }", "{ first; NoAction; } default_action = NoAction();"),
    ),
    "one side of ?:": using(
        "hdr.data.c = hdr.data.a == 1 ? up.execute(0) : down.execute(0);", "up", "down"
    ),
    "two comparisons, written four times": program(
        local=REGISTER
        + action(
            "up",
            "if (value < 5) { rv = 1; } else { rv = 2; }"
            " if (value < 5) { value = 1; } else if (!(value >= 5) || value == 9) { value = 2; }",
        )
    ),
    "a second register": program(
        "hdr.data.c = up.execute(0); hdr.data.c = other.read(0);",
        local=REGISTER + action("up") + "    Register<bit<32>, bit<8>>(16) other;",
    ),
}


@pytest.mark.parametrize("name", EXCLUSIVE)
def test_allowed(name: str, tmp_path: Path) -> None:
    path = tmp_path / "right.p4"
    path.write_text(EXCLUSIVE[name])
    translate(path, [], {})
