"""Controls and parsers applied by their type (P4-16 specification, 15.1)."""

from __future__ import annotations

from pathlib import Path

import pytest
from p4_programs import PARSER, program
from refusals import check_refused

REST = bytes(10)
ADD = """
control Add(inout data_h data)(bit<8> by = 3) {
    bit<8> before = data.a;
    apply { data.a = before + by; }
}
"""
COUNT = """
control Count(inout data_h data) {
    action set(bit<8> n) { data.b[7:0] = n; }
    table t { key = { data.kind : exact; } actions = { set; NoAction; } size = 4; }
    apply { t.apply(); }
}
control Both(inout data_h data) { apply { Count.apply(data); } }
"""


def test_each_call_is_an_instance(load) -> None:
    switch = load(program("Add.apply(hdr.data); Add.apply(hdr.data);", top=ADD))
    [(_, frame)] = switch.send(1, bytes([0, 10, 0, 0]) + REST)
    assert frame[1] == 16  # 10 + 3 + 3


def test_instance_has_the_name_of_its_type(load) -> None:
    switch = load(program("Count.apply(hdr.data); Both.apply(hdr.data);", top=COUNT))
    tables = {table["name"] for table in switch.command("schema")["tables"]}
    assert tables == {"pipe.Ingress.Count.t", "pipe.Ingress.Both.Count.t"}
    update = {"op": "insert", "table": "Ingress.Both.Count.t", "key": {"data.kind": 1}}
    update |= {"action": "set", "data": {"n": 7}}
    switch.command("table_write", updates=[update])
    assert switch.send(1, bytes([1, 0, 0, 0]) + REST)[0][1][3] == 7


def test_parser_applied_by_its_type(load) -> None:
    inner = """
parser Inner(packet_in pkt, inout headers_t hdr) {
    state start { pkt.extract(hdr.data); transition accept; }
}
"""
    outer = PARSER.replace("pkt.extract(hdr.data)", "Inner.apply(pkt, hdr)")
    switch = load(program("hdr.data.a = 5;", top=inner, parser=outer))
    assert switch.send(1, bytes([0, 1, 0, 0]) + REST)[0][1][1] == 5


def test_two_calls_with_one_name_for_the_control_plane_are_refused(tmp_path: Path) -> None:
    twice = program("Count.apply(hdr.data); /*^*/Count.apply(hdr.data);", top=COUNT)
    check_refused(twice, "'Count' is applied by its type here and at ", tmp_path)


@pytest.mark.parametrize("first", ["Count.apply(hdr.data);", "other.apply(hdr.data);"])
def test_two_tables_of_one_name_are_refused(first: str, tmp_path: Path) -> None:
    """The control plane could reach one of them alone."""
    local = '@name("Count") Count() named; @name("Count") Count() other;'
    text = program(f"{first} named.apply(hdr.data);", top=COUNT, local=local)
    check_refused(text, "the control plane calls this 'Ingress.Count.t', and so it does", tmp_path)


@pytest.mark.parametrize("inner", ["R.apply(data);", "r.apply(data);"])
def test_no_control_is_in_itself(inner: str, tmp_path: Path) -> None:
    local = "R() r;" if inner.startswith("r") else ""
    top = f"control /*^*/R(inout data_h data) {{ {local} apply {{ {inner} }} }}"
    check_refused(program("R.apply(hdr.data);", top=top), "'R' is in itself", tmp_path)


PARSES = """
parser Inner(packet_in pkt, inout headers_t hdr) { state start { transition accept; } }
"""
PLACES = {
    "a function outside of all controls and parsers cannot apply 'Add'": program(
        "f(hdr.data);", top=ADD + "void f(inout data_h d) { /*^*/Add.apply(d); }"
    ),
    "a parser cannot apply a control": program(
        top=ADD, parser=PARSER.replace("transition", "/*^*/Add.apply(hdr.data); transition")
    ),
    "a control cannot apply a parser": program("/*^*/Inner.apply(hdr);", top=PARSES),
}


@pytest.mark.parametrize("message", PLACES)
def test_where_blocks_cannot_be_applied(message: str, tmp_path: Path) -> None:
    check_refused(PLACES[message], message, tmp_path)


def test_what_needs_an_argument_is_refused(tmp_path: Path) -> None:
    wrong = program("/*^*/Add.apply(hdr.data);", top=ADD.replace(" = 3", ""))
    check_refused(wrong, "'Add' needs an argument for 'by'", tmp_path)
