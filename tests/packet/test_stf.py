"""The reader and player of STF, with files written by hand and a target that only records."""

from __future__ import annotations

from typing import Any

import pytest

from .stf import Action, Entry, Expected, StfError, parse_stf, play, updates
from .targets import Frame

KEY = "hdr.ipv4.dst_addr:0b1100********* hdr.ipv4.$valid$:0x1"
TEXT = f"""\
# p4testgen seed: 1
# Table SwitchIngress.forward
setdefault SwitchIngress.drops SwitchIngress.deny()
add SwitchIngress.forward 5 {KEY} SwitchIngress.hit(port:0x1F,kind:7)

packet 4 0001 02FF
expect 31 00*102$
"""
SCHEMA = {
    "tables": [
        {"name": "pipe.SwitchIngress.drops", "key": []},
        {
            "name": "pipe.SwitchIngress.forward",
            "key": [
                {
                    "name": "hdr.ipv4.dst_addr[12:0]",
                    "match_type": "Ternary",
                    "type": {"type": "bytes", "width": 16},
                },
                {"name": "hdr.ipv4.$valid", "match_type": "Exact", "type": {"type": "bool"}},
                {"name": "$MATCH_PRIORITY", "match_type": "Exact", "type": {"type": "uint32"}},
            ],
        },
        {
            "name": "pipe.SwitchIngress.route",
            "key": [
                {
                    "name": "hdr.ipv4.dst_addr",
                    "match_type": "LPM",
                    "type": {"type": "bytes", "width": 8},
                }
            ],
        },
    ]
}


class Recorder:
    """Answers every packet with `frames`."""

    def __init__(self, frames: list[Frame]) -> None:
        self.frames = frames
        self.commands: list[tuple[str, dict[str, Any]]] = []

    def command(self, name: str, **arguments: Any) -> Any:
        self.commands.append((name, arguments))
        return SCHEMA

    def send(self, port: int, frame: bytes) -> list[Frame]:
        return list(self.frames)

    def close(self) -> None:
        pass


def test_lines_become_entries_packets_and_expectations() -> None:
    test = parse_stf(TEXT)
    assert test.entries == [
        Entry("SwitchIngress.drops", Action("SwitchIngress.deny", {})),
        Entry(
            "SwitchIngress.forward",
            Action("SwitchIngress.hit", {"port": "0x1F", "kind": "7"}),
            {"hdr.ipv4.dst_addr": "0b1100*********", "hdr.ipv4.$valid$": "0x1"},
            5,
        ),
    ]
    assert test.packets == [(4, bytes.fromhex("000102ff"))]
    assert test.expected == [Expected(31, "00*102", whole=True)]


def test_entries_become_updates_of_the_schema() -> None:
    default, entry = updates(parse_stf(TEXT), SCHEMA)
    assert default == {
        "op": "set_default",
        "table": "pipe.SwitchIngress.drops",
        "action": "SwitchIngress.deny",
        "data": {},
    }
    assert entry == {
        "op": "insert",
        "table": "pipe.SwitchIngress.forward",
        "action": "SwitchIngress.hit",
        "data": {"port": 31, "kind": 7},
        # 1100 and nine free bits are 13 binary digits; the three above them are zero
        "key": {
            "hdr.ipv4.dst_addr[12:0]": {"value": 0b1100 << 9, "mask": 0b1111111 << 9},
            "hdr.ipv4.$valid": 1,
        },
        "priority": 5,
    }


def test_prefixes() -> None:
    test = parse_stf("add route 1 hdr.ipv4.dst_addr:0b101***** f()\n")
    [update] = updates(test, SCHEMA)
    assert update["key"] == {"hdr.ipv4.dst_addr": {"value": 0b10100000, "prefix_len": 3}}
    assert "priority" not in update  # longest prefix first, whatever the file says


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "add SwitchIngress.forward 5 hdr.x:1 f()",
            "'hdr.x' is no key of pipe.SwitchIngress.forward",
        ),
        ("setdefault route f(port:x)", "'x' is no number"),
        ("add nowhere hdr.x:1 f()", "the program has 0 tables 'nowhere'"),
        ("add route hdr.ipv4.dst_addr:0b1*1***** f()", "is no prefix of 8 bits"),
        ("add route hdr.ipv4.dst_addr:0b1******** f()", "at most 8 binary digits"),
    ],
)
def test_entries_that_do_not_fit_the_program(text: str, message: str) -> None:
    with pytest.raises(StfError, match=message):
        updates(parse_stf(text), SCHEMA)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("wait 5", "line 1: 'wait 5': expected add, setdefault, packet or expect"),
        ("\nadd t k:1", "line 2: 'add t k:1': expected ACTION"),
        ("packet 1 abc", "line 1: 'packet 1 abc': "),
        ("expect x 00", "line 1: 'expect x 00': "),
    ],
)
def test_lines_that_are_not_understood(text: str, message: str) -> None:
    with pytest.raises(StfError, match=message):
        parse_stf(text)


PASSING = [
    [(31, "00b102")],
    [(31, "000102")],
]
FAILING = {
    "nothing": [],
    "other port": [(30, "000102")],
    "other bytes": [(31, "000103")],
    "longer": [(31, "00010200")],
    "shorter": [(31, "0001")],
    "one more": [(31, "000102"), (31, "000102")],
}


def frames(written: list[tuple[int, str]]) -> list[Frame]:
    return [(port, bytes.fromhex(digits)) for port, digits in written]


@pytest.mark.parametrize("leaving", PASSING)
def test_expected_frames_pass(leaving: list[tuple[int, str]]) -> None:
    target = Recorder(frames(leaving))
    play(parse_stf(TEXT), target)
    assert [name for name, _ in target.commands] == ["schema", "table_write"]


@pytest.mark.parametrize("name", FAILING)
def test_other_frames_fail(name: str) -> None:
    with pytest.raises(AssertionError, match=r"missing: .*; besides: "):
        play(parse_stf(TEXT), Recorder(frames(FAILING[name])))


def test_without_an_expectation_nothing_may_leave() -> None:
    dropped = parse_stf("packet 1 00\n")
    play(dropped, Recorder([]))
    with pytest.raises(AssertionError, match=r"besides: .*port 5 00"):
        play(dropped, Recorder(frames([(5, "00")])))


def test_other_ports_are_not_seen() -> None:
    play(parse_stf("packet 1 00\n"), Recorder(frames([(64, "00")])), range(64))


def test_without_a_dollar_more_may_follow() -> None:
    play(parse_stf("packet 1 00\nexpect 5 0001\n"), Recorder(frames([(5, "000199")])))
