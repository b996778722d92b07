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
        "RegisterAction 'a' needs 3 comparisons; a stateful unit of Tofino has 2",
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
        program(local=REGISTER + action("up", "value = value /*^*/* 3; rv = 0;")),
        "a stateful unit of Tofino cannot compute '*'",
    ),
    "hash inside": (
        program(
            local="    Hash<bit<32>>(HashAlgorithm_t.CRC32) hash;\n"
            + REGISTER
            + action("up", "rv = /*^*/hash.get({hdr.data.c});")
        ),
        "a RegisterAction cannot call this; compute it before and pass it in",
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
            "if (value < 5) { value = 1; } if (value < 5) { rv = 1; } else { rv = 2; }"
            " if (value == 9) { value = 2; } if (value == 9) { value = 4; }",
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
