"""The reader and player of P4Testgen's PTF files, with text written by hand in the form that its
back end has, and a target that only records.
"""

from __future__ import annotations

import re
from typing import Any

import pytest

from .ptf_file import (
    Cell,
    DirectCells,
    Entry,
    Expected,
    PtfFileError,
    PtfTest,
    direct_updates,
    parse_ptf,
    play,
    updates,
)
from .targets import Frame

# As p4testgen writes it, a closing parenthesis too many included.
PREAMBLE = """\
# PTF test for forward
import bfrt_grpc.client as gc

class AbstractTest(BfRuntimeTest):
    def insertTableEntry(self):
        raise AssertionError("this one is not run")
)
"""
TEXT = (
    PREAMBLE + """
class Test1(AbstractTest):
    # Current statement coverage: 0.5
    '''
    [Parser] start
    '''

    def setupCtrlPlane(self):
        self.insertTableEntry(
            'SwitchIngress.members',
            [
                gc.KeyTuple('$ACTION_MEMBER_ID', 4),
            ],
            'SwitchIngress.hit',
            [
                gc.DataTuple('port', 0x1F),
            ]
        )
        reg_param = self.bfrt_info.table_get('SwitchIngress.limit')
        reg_param.default_entry_set(
                            self.target,
                            reg_param.make_data([gc.DataTuple('value', 0x07)])
                            )
        self.setRegisterValue('SwitchIngress.cells', 0x2A, 3)
        self.setRegisterValue('SwitchIngress.pairs', [('SwitchIngress.pairs.low', 0x01), """
    """('SwitchIngress.pairs.high', 0x02)], 5)
        self.setDirectRegisterValue('SwitchIngress.forward', 0x09)
        # Table SwitchIngress.drops
        self.overrideDefaultEntry(
            'SwitchIngress.drops',
            'SwitchIngress.deny',
            [
            ]
        )
        # Table SwitchIngress.forward
        self.insertTableEntry(
            'SwitchIngress.forward',
            [
                gc.KeyTuple('hdr.ipv4.$valid$', 0x1),
                gc.KeyTuple('hdr.ipv4.ttl', low=0x02, high=0x40),
                gc.KeyTuple('hdr.ipv4.dst_addr', 0x0800, 0xFF00),
                gc.KeyTuple('hdr.ipv4.src_addr', 0xA0, prefix_len=4),
            ],
            None,
            [
                gc.DataTuple('$ACTION_MEMBER_ID', 4),
            ]
        )

    def sendPacket(self):
        ig_port = 4
        pkt = b'\\x00\\x01\\xFF'
        send_packet(self, ig_port, pkt)

    def verifyPackets(self):
        eg_port = 31
        exp_pkt = b'\\x00\\x01\\xFF'
        exp_pkt = Mask(exp_pkt)
        exp_pkt.set_do_not_care(6, 6)
        verify_packet(self, exp_pkt, eg_port)

    def runTest(self):
        self.runTestImpl()

class Test2(AbstractTest):
    def setupCtrlPlane(self):
        pass

    def sendPacket(self):
        send_packet(self, 1, b'\\x00')

    def verifyPackets(self):
        pass

    def runTest(self):
        self.runTestImpl()
"""
)


def field(name: str, kind: str) -> dict[str, Any]:
    return {"name": name, "match_type": kind, "type": {"type": "bytes", "width": 16}}


def pair_field(name: str) -> dict[str, Any]:
    return {"singleton": {"name": f"SwitchIngress.pairs.{name}", "repeated": True}}


FORWARD = {
    "name": "pipe.SwitchIngress.forward",
    "key": [
        field("hdr.ipv4.$valid", "Exact"),
        field("hdr.ipv4.ttl", "Range"),
        field("hdr.ipv4.dst_addr[15:0]", "Ternary"),
        field("hdr.ipv4.src_addr", "LPM"),
        field("$MATCH_PRIORITY", "Exact"),
    ],
    "data": [{"singleton": {"name": "SwitchIngress.hits.f1"}}],
}
SCHEMA = {
    "tables": [
        FORWARD,
        {"name": "pipe.SwitchIngress.drops", "key": []},
        {"name": "pipe.SwitchIngress.members", "key": [field("$ACTION_MEMBER_ID", "Exact")]},
        {"name": "pipe.SwitchIngress.cells", "key": []},
        {"name": "pipe.SwitchIngress.limit", "key": []},
        # In the order of the struct, which is not that of the test.
        {"name": "pipe.SwitchIngress.pairs", "data": [pair_field("high"), pair_field("low")]},
    ]
}


class Recorder:
    """Answers every packet with `frames`; its tables have two entries."""

    def __init__(self, frames: list[Frame]) -> None:
        self.frames = frames
        self.commands: list[tuple[str, dict[str, Any]]] = []

    def command(self, name: str, **arguments: Any) -> Any:
        self.commands.append((name, arguments))
        if name == "table_read":
            return {"entries": [{"key": {"k": 1}, "priority": 5}, {"key": {"k": 2}}]}
        return SCHEMA

    def send(self, port: int, frame: bytes) -> list[Frame]:
        return list(self.frames)

    def close(self) -> None:
        pass


def test_classes_become_tests() -> None:
    first, second = parse_ptf(TEXT)
    assert first.name == "Test1"
    assert first.cells == [
        Cell("SwitchIngress.limit", 0, {"": 7}),
        Cell("SwitchIngress.cells", 3, {"": 42}),
        Cell("SwitchIngress.pairs", 5, {"low": 1, "high": 2}),
    ]
    assert first.direct_cells == [DirectCells("SwitchIngress.forward", {"": 9})]
    assert first.entries == [
        Entry("SwitchIngress.members", "SwitchIngress.hit", {"port": 31}, {"$ACTION_MEMBER_ID": 4}),
        Entry("SwitchIngress.drops", "SwitchIngress.deny", {}),
        Entry(
            "SwitchIngress.forward",
            None,
            {"$ACTION_MEMBER_ID": 4},
            {
                "hdr.ipv4.$valid$": 1,
                "hdr.ipv4.ttl": {"low": 2, "high": 64},
                "hdr.ipv4.dst_addr": {"value": 0x800, "mask": 0xFF00},
                "hdr.ipv4.src_addr": {"value": 0xA0, "prefix_len": 4},
            },
        ),
    ]
    assert first.packets == [(4, b"\x00\x01\xff")]
    # Bits 6 to 11: the last two of the first byte, the first four of the second.
    assert first.expected == [Expected(31, b"\x00\x01\xff", b"\xfc\x0f\xff")]
    assert (second.packets, second.expected) == ([(1, b"\x00")], [])


def test_a_test_that_was_not_written_to_its_end_is_left_out() -> None:
    cut = TEXT[: TEXT.index("class Test2") + 60]
    assert [test.name for test in parse_ptf(cut)] == ["Test1"]


def test_entries_and_cells_become_updates_of_the_schema() -> None:
    written = updates(parse_ptf(TEXT)[0], SCHEMA)
    assert written == [
        {"op": "modify", "table": "pipe.SwitchIngress.limit", "first": 0, "values": [7]},
        {"op": "modify", "table": "pipe.SwitchIngress.cells", "first": 3, "values": [42]},
        {"op": "modify", "table": "pipe.SwitchIngress.pairs", "first": 5, "values": [[2, 1]]},
        {
            "op": "insert",
            "table": "pipe.SwitchIngress.members",
            "action": "SwitchIngress.hit",
            "data": {"port": 31},
            "key": {"$ACTION_MEMBER_ID": 4},
        },
        {
            "op": "set_default",
            "table": "pipe.SwitchIngress.drops",
            "action": "SwitchIngress.deny",
            "data": {},
        },
        {
            "op": "insert",
            "table": "pipe.SwitchIngress.forward",
            "data": {"$ACTION_MEMBER_ID": 4},
            "key": {
                "hdr.ipv4.$valid": 1,
                "hdr.ipv4.ttl": {"low": 2, "high": 64},
                "hdr.ipv4.dst_addr[15:0]": {"value": 0x800, "mask": 0xFF00},
                "hdr.ipv4.src_addr": {"value": 0xA0, "prefix_len": 4},
            },
        },
    ]


def test_direct_cells_are_those_of_every_entry() -> None:
    target = Recorder([])
    play(PtfTest("t", direct_cells=[DirectCells("SwitchIngress.forward", {"": 9})]), target)
    update = {
        "op": "modify",
        "table": "pipe.SwitchIngress.forward",
        "data": {"SwitchIngress.hits.f1": 9},
    }
    assert target.commands[-1] == (
        "table_write",
        {"updates": [update | {"key": {"k": 1}, "priority": 5}, update | {"key": {"k": 2}}]},
    )
    with pytest.raises(PtfFileError, match="forward has 0 data fields 'low'"):
        direct_updates(DirectCells("forward", {"low": 1}), FORWARD, [])


@pytest.mark.parametrize(
    ("entry", "message"),
    [
        (
            Entry("SwitchIngress.forward", "f", {}, {"hdr.x": 1}),
            "'hdr.x' is no key of pipe.SwitchIngress.forward; its keys: hdr.ipv4",
        ),
        (Entry("nowhere", "f", {}, {}), "the program has 0 tables 'nowhere', expected one"),
    ],
)
def test_entries_that_do_not_fit_the_program(entry: Entry, message: str) -> None:
    with pytest.raises(PtfFileError, match=message):
        updates(PtfTest("t", entries=[entry]), SCHEMA)


def test_a_method_that_is_not_known() -> None:
    text = TEXT.replace("self.overrideDefaultEntry", "self.addSession")
    with pytest.raises(PtfFileError, match=r"Test1: AttributeError: .* 'addSession'"):
        parse_ptf(text)


def test_a_test_without_a_packet_shows_nothing() -> None:
    text = re.sub(r"^( +)send_packet\(.*$", r"\1pass", TEXT, flags=re.MULTILINE)
    with pytest.raises(PtfFileError, match="Test1: it sends no packet"):
        parse_ptf(text)


def test_numbers_over_64_bits_are_texts() -> None:
    key = {
        "hdr.ipv4.$valid": 2**64 - 1,
        "hdr.ipv4.src_addr": {"value": 2**64, "prefix_len": 4},
    }
    [update] = updates(PtfTest("t", entries=[Entry("forward", "f", {"a": 2**65}, key)]), SCHEMA)
    assert update["key"] == {
        "hdr.ipv4.$valid": 2**64 - 1,
        "hdr.ipv4.src_addr": {"value": "0x10000000000000000", "prefix_len": 4},
    }
    assert update["data"] == {"a": "0x20000000000000000"}


REST = "77" * 27
EXPECTED = PtfTest(
    "t",
    packets=[(1, b"\x00")],
    expected=[Expected(31, bytes.fromhex("000102" + REST), b"\xff\x0f" + b"\xff" * 28)],
)
PASSING = [
    [(31, "00f102")],
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
    """Each with REST behind."""
    return [(port, bytes.fromhex(digits + REST)) for port, digits in written]


@pytest.mark.parametrize("leaving", PASSING)
def test_expected_frames_pass(leaving: list[tuple[int, str]]) -> None:
    play(EXPECTED, Recorder(frames(leaving)))


@pytest.mark.parametrize("name", FAILING)
def test_other_frames_fail(name: str) -> None:
    with pytest.raises(AssertionError, match=r"missing: .*; besides: "):
        play(EXPECTED, Recorder(frames(FAILING[name])))


def test_without_an_expectation_nothing_may_leave() -> None:
    dropped = PtfTest("t", packets=[(1, b"\x00")])
    play(dropped, Recorder([]))
    with pytest.raises(AssertionError, match=r"besides: .*port 5 00"):
        play(dropped, Recorder(frames([(5, "000102")])))


def test_other_ports_are_not_seen() -> None:
    play(PtfTest("t", packets=[(1, b"\x00")]), Recorder(frames([(64, "000102")])), range(64))


def test_what_is_shorter_than_30_bytes_counts_as_dropped() -> None:
    test = PtfTest("t", packets=[(1, b"\x00")])
    play(test, Recorder([(5, bytes(29))]))
    with pytest.raises(AssertionError, match=r"besides: .*port 5"):
        play(test, Recorder([(5, bytes(30))]))
