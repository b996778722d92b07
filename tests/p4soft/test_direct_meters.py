"""DirectMeter: every entry of a table has a meter of its own (RFC 2698)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from p4_programs import program
from packet.targets import CommandFailedError, MemoryTarget
from refusals import check_refused

TABLE = "by_kind"
GREEN, YELLOW, RED = 0, 1, 3  # MeterColor_t
START = 10**12  # of the clock, ns
MS = 10**6
UNLIMITED = 2**64 - 1
LOCAL = """
    {counter}
    DirectMeter(MeterType_t.{unit}{values}) meter;
    action color(bit<8> mark) {{
        hdr.data.a = meter.execute({argument});
        hdr.data.b[7:0] = mark;
        {count}
    }}
    table by_kind {{
        key = {{ hdr.data.kind: exact; }}
        actions = {{ color; @defaultonly NoAction; }}
        default_action = {default};
        meters = meter;
        {counters}
        size = 8;
    }}
"""


def metering(
    unit: str,
    argument: str = "",
    *,
    values: str = "",
    default: str = "NoAction",
    counted: bool = False,
) -> str:
    return program(
        "by_kind.apply();",
        local=LOCAL.format(
            unit=unit,
            argument=argument,
            values=values,
            default=default,
            counter="DirectCounter<bit<64>>(CounterType_t.PACKETS) seen;" if counted else "",
            count="seen.count();" if counted else "",
            counters="counters = seen;" if counted else "",
        ),
    )


PACKETS = metering("PACKETS")
BYTES = metering("BYTES")
AWARE = metering("PACKETS", "(MeterColor_t) hdr.data.c[7:0]")
COUNTED = metering("PACKETS", counted=True)


def limits(cir: int, pir: int, cbs: int, pbs: int, unit: str = "PACKETS") -> dict[str, int]:
    names = {
        "PACKETS": ("CIR_PPS", "PIR_PPS", "CBS_PKTS", "PBS_PKTS"),
        "BYTES": ("CIR_KBPS", "PIR_KBPS", "CBS_KBITS", "PBS_KBITS"),
    }[unit]
    given = zip(names, (cir, pir, cbs, pbs), strict=True)
    return {f"$METER_SPEC_{name}": value for name, value in given}


# A packet's committed rate is one in 2 ms, its peak rate one in a ms; bursts of 2 and 3.
LIMITS = limits(500, 1000, 2, 3)
NONE = limits(*[UNLIMITED] * 4)


def write(switch: MemoryTarget, op: str, kind: int | None = None, **more: Any) -> None:
    key = {} if kind is None else {"key": {"hdr.data.kind": kind}}
    switch.command("table_write", updates=[{"op": op, "table": TABLE} | key | more])


def put(switch: MemoryTarget, op: str, kind: int, *, mark: int = 0x11, **data: int) -> None:
    write(switch, op, kind, action="color", data={"mark": mark} | data)


def color(switch: MemoryTarget, kind: int, at_ns: int, *, before: int = 0, size: int = 14) -> int:
    frame = bytes([kind, 0xFF, 0, 0]) + before.to_bytes(4, "big") + bytes(size - 8)
    ((_, out),) = switch.send(1, frame, now_ns=at_ns)
    return out[1]


def colors(switch: MemoryTarget, kind: int, at_ns: int, count: int) -> list[int]:
    return [color(switch, kind, at_ns) for _ in range(count)]


def read(switch: MemoryTarget, kind: int) -> dict[str, Any]:
    wanted = [{"key": {"hdr.data.kind": kind}}]
    return switch.command("table_read", table=TABLE, entries=wanted)["entries"][0]


@pytest.fixture
def start(load: Any) -> Iterator[Any]:
    """What the test wrote is cleared behind it."""
    started: list[MemoryTarget] = []

    def of(text: str) -> MemoryTarget:
        started.append(load(text))
        return started[-1]

    yield of
    for switch in started:
        write(switch, "clear")
        write(switch, "reset_default")


def test_without_limits_every_packet_is_green(start: Any) -> None:
    switch = start(PACKETS)
    put(switch, "insert", 1)
    assert colors(switch, 1, START, 20) == [GREEN] * 20
    assert read(switch, 1)["data"] == {"mark": 0x11} | NONE


def test_colors_are_those_of_rfc_2698(start: Any) -> None:
    """Section 3, colour-blind. Tc and Tp begin at CBS = 2 and PBS = 3; a packet costs 1.

    Tp < 1: red; else Tp -= 1, and Tc < 1: yellow; else Tc -= 1, green. So of five at once two are
    green (Tc 2, 1), one is yellow (Tp 1), two are red. In 1 ms Tp gains 1, Tc 0.5: one yellow. In
    another 1 ms Tc has 1 and Tp 1: one green. After a second both are full again.
    """
    switch = start(PACKETS)
    put(switch, "insert", 1, **LIMITS)
    assert colors(switch, 1, START, 5) == [GREEN, GREEN, YELLOW, RED, RED]
    assert colors(switch, 1, START + MS, 2) == [YELLOW, RED]
    assert colors(switch, 1, START + 2 * MS, 2) == [GREEN, RED]
    assert colors(switch, 1, START + 1000 * MS, 4) == [GREEN, GREEN, YELLOW, RED]


def test_a_color_aware_meter_never_improves_a_color(start: Any) -> None:
    """Section 3, colour-aware: red stays red and costs nothing; yellow costs of Tp alone."""
    switch = start(AWARE)
    put(switch, "insert", 1, **LIMITS)
    before_and_after = [
        (RED, RED),  # Tc 2, Tp 3
        (YELLOW, YELLOW),  # Tc 2, Tp 2
        (GREEN, GREEN),  # Tc 1, Tp 1
        (YELLOW, YELLOW),  # Tc 1, Tp 0
        (GREEN, RED),
    ]
    for before, after in before_and_after:
        assert color(switch, 1, START, before=before) == after
    put(switch, "insert", 2)
    assert [color(switch, 2, START, before=c) for c in (GREEN, YELLOW, RED)] == [
        GREEN, YELLOW, RED
    ]  # fmt: skip


def test_bytes_are_counted_with_the_check_sequence(start: Any) -> None:
    """CBS = 2 kbit = 250 bytes, PBS = 3 kbit = 375 bytes; a frame of 96 + 4 bytes. Tc: 250, 150,
    50 (yellow from here). Tp: 375, 275, 175, 75 (red). 8 kbit/s are one byte in a ms: after 25 ms
    Tp has 75 + 25 = 100, Tc 50 + 25 < 100: yellow.
    """
    switch = start(BYTES)
    put(switch, "insert", 1, **limits(8, 8, 2, 3, "BYTES"))
    got = [color(switch, 1, START, size=96) for _ in range(4)]
    assert got == [GREEN, GREEN, YELLOW, RED]
    assert color(switch, 1, START + 25 * MS, size=96) == YELLOW


def test_the_bytes_may_be_adjusted(start: Any) -> None:
    """A burst of 125 bytes holds one frame of 96 + 4, or two with 50 bytes taken off."""
    one_kbit = limits(1, 1, 1, 1, "BYTES")
    for text, greens in ((BYTES, 1), (metering("BYTES", "adjust_byte_count = 50"), 2)):
        switch = start(text)
        put(switch, "insert", 1, **one_kbit)
        got = [color(switch, 1, START, size=96) for _ in range(3)]
        assert got == [GREEN] * greens + [RED] * (3 - greens)


def test_a_program_may_have_its_own_values_for_colors(start: Any) -> None:
    switch = start(metering("PACKETS", values=", 8w0x77, 8w0x55, 8w0x22"))
    put(switch, "insert", 1, **LIMITS)
    assert colors(switch, 1, START, 4) == [0x22, 0x22, 0x55, 0x77]


def test_each_entry_has_its_own(start: Any) -> None:
    switch = start(PACKETS)
    put(switch, "insert", 1, **limits(1, 1, 1, 1))
    put(switch, "insert", 2, **limits(1, 1, 2, 2))
    put(switch, "insert", 3)
    assert colors(switch, 1, START, 3) == [GREEN, RED, RED]
    assert colors(switch, 2, START, 3) == [GREEN, GREEN, RED]
    assert colors(switch, 3, START, 3) == [GREEN, GREEN, GREEN]


def test_the_default_entry_has_one_too(start: Any) -> None:
    switch = start(metering("PACKETS", default="color(0x33)"))
    assert colors(switch, 9, START, 3) == [GREEN] * 3
    write(switch, "set_default", action="color", data={"mark": 1} | limits(1, 1, 1, 1))
    assert colors(switch, 9, START, 3) == [GREEN, RED, RED]
    default = switch.command("table_read", table=TABLE)["default"]
    assert default["data"] == {"mark": 1} | limits(1, 1, 1, 1)
    write(switch, "reset_default")
    assert colors(switch, 9, START, 3) == [GREEN] * 3


def test_the_default_entrys_counter_and_meter_run_on(start: Any) -> None:
    switch = start(metering("PACKETS", default="color(0x33)", counted=True))
    write(switch, "set_default", data=limits(1, 1, 1, 1))  # without an action, nothing else changes
    assert colors(switch, 9, START, 2) == [GREEN, RED]
    write(switch, "set_default", action="color", data={"mark": 1})
    assert color(switch, 9, START) == RED
    default = switch.command("table_read", table=TABLE)["default"]
    assert default["data"] == {"mark": 1, "$COUNTER_SPEC_PKTS": 3} | limits(1, 1, 1, 1)
    write(switch, "reset_default")
    default = switch.command("table_read", table=TABLE)["default"]
    assert default["data"] == {"mark": 0x33, "$COUNTER_SPEC_PKTS": 0} | NONE


def test_all_meters_are_cleared(start: Any) -> None:
    switch = start(metering("PACKETS", default="color(0x33)"))
    put(switch, "insert", 1, **limits(1, 1, 1, 1))
    write(switch, "set_default", data=limits(1, 1, 1, 1))
    switch.command("meter_clear")
    assert read(switch, 1)["data"] == {"mark": 0x11} | NONE
    assert colors(switch, 1, START, 2) == [GREEN, GREEN]
    assert colors(switch, 9, START, 2) == [GREEN, GREEN]


def test_a_modification_without_limits_leaves_the_meter_as_it_is(start: Any) -> None:
    switch = start(PACKETS)
    put(switch, "insert", 1, **limits(1, 1, 1, 1))
    assert colors(switch, 1, START, 2) == [GREEN, RED]
    put(switch, "modify", 1, mark=0x22)
    assert read(switch, 1)["data"] == {"mark": 0x22} | limits(1, 1, 1, 1)
    assert color(switch, 1, START) == RED  # tokens, too
    rows = {"key": {"kind": [1]}, "action": "color", "data": {"mark": [0x44]}}
    switch.command("table_write", updates=[{"op": "upsert_columns", "table": TABLE} | rows])
    assert read(switch, 1)["data"] == {"mark": 0x44} | limits(1, 1, 1, 1)
    assert color(switch, 1, START) == RED


def test_new_limits_begin_with_full_buckets(start: Any) -> None:
    switch = start(PACKETS)
    put(switch, "insert", 1, **limits(1, 1, 1, 1))
    assert colors(switch, 1, START, 2) == [GREEN, RED]
    write(switch, "modify", 1, data=limits(1, 1, 2, 2))  # without an action, nothing else changes
    assert read(switch, 1)["data"] == {"mark": 0x11} | limits(1, 1, 2, 2)
    assert colors(switch, 1, START, 3) == [GREEN, GREEN, RED]
    write(switch, "modify", 1, data=NONE)
    assert colors(switch, 1, START, 3) == [GREEN] * 3
    assert read(switch, 1)["data"] == {"mark": 0x11} | NONE


def test_an_entry_in_the_place_of_a_deleted_one_has_no_limits(start: Any) -> None:
    switch = start(PACKETS)
    put(switch, "insert", 1, **limits(1, 1, 1, 1))
    assert colors(switch, 1, START, 2) == [GREEN, RED]
    write(switch, "delete", 1)
    put(switch, "insert", 1)
    assert colors(switch, 1, START, 2) == [GREEN, GREEN]


def test_a_batch_that_fails_leaves_limits_and_tokens_as_they_were(start: Any) -> None:
    switch = start(PACKETS)
    put(switch, "insert", 1, **limits(1, 1, 1, 1))
    assert colors(switch, 1, START, 2) == [GREEN, RED]
    key = {"key": {"hdr.data.kind": 1}}
    updates = [
        {"op": "modify", "table": TABLE, "data": limits(9, 9, 9, 9)} | key,
        {"op": "delete", "table": TABLE} | key,
        {"op": "delete", "table": TABLE} | key,
    ]
    with pytest.raises(CommandFailedError, match=r"updates\[2\]"):
        switch.command("table_write", updates=updates)
    assert read(switch, 1)["data"] == {"mark": 0x11} | limits(1, 1, 1, 1)
    assert color(switch, 1, START) == RED


def test_a_counter_and_a_meter_beside_each_other(start: Any) -> None:
    switch = start(COUNTED)
    put(switch, "insert", 1, **limits(1, 1, 1, 1))
    assert colors(switch, 1, START, 3) == [GREEN, RED, RED]
    counted = {"mark": 0x11, "$COUNTER_SPEC_PKTS": 3}
    assert read(switch, 1)["data"] == counted | limits(1, 1, 1, 1)
    switch.command("counter_clear", table=TABLE)
    assert color(switch, 1, START) == RED
    assert read(switch, 1)["data"] == counted | limits(1, 1, 1, 1) | {"$COUNTER_SPEC_PKTS": 1}


WRONG_LIMITS = {
    "some": ({"$METER_SPEC_CIR_PPS": 1}, r'data lacks "\$METER_SPEC_PIR_PPS"; expected all of'),
    "of the other unit": (limits(1, 1, 1, 1, "BYTES"), r'data lacks "\$METER_SPEC_CIR_PPS"'),
    "of both units": (
        LIMITS | limits(1, 1, 1, 1, "BYTES"),
        "expected nothing of a meter but",
    ),
    "too high": (limits(1, 1, 10**11, 1), r"CBS_PKTS: more than 10000000000"),
    "some unlimited": (limits(1, UNLIMITED, 1, 1), "four limits, or none"),
    "no number": (LIMITS | {"$METER_SPEC_CIR_PPS": "fast"}, r"\$METER_SPEC_CIR_PPS"),
}


@pytest.mark.parametrize("name", WRONG_LIMITS)
def test_wrong_limits_are_refused(start: Any, name: str) -> None:
    data, message = WRONG_LIMITS[name]
    switch = start(PACKETS)
    with pytest.raises(CommandFailedError, match=message):
        put(switch, "insert", 1, **data)
    assert read(switch, 1) is None


def test_a_trace_has_the_color(load_traced: Any) -> None:
    switch = load_traced(PACKETS)
    put(switch, "upsert", 1, **limits(1, 1, 1, 1))
    switch.command("trace_start", filter="count=2")
    colors(switch, 1, START, 2)
    traces = switch.command("trace_read")["traces"]
    events = [e for t in traces for s in t["steps"] for e in s.get("events", [])]
    assert [event for event in events if "meter" in event] == [
        {"meter": "pipe.Ingress.meter", "color": GREEN},
        {"meter": "pipe.Ingress.meter", "color": RED},
    ]


@pytest.mark.parametrize(
    ("text", "first_id", "unit"), [(BYTES, 65545, "BYTES"), (PACKETS, 65549, "PACKETS")]
)
def test_the_schema_is_the_compilers(start: Any, text: str, first_id: int, unit: str) -> None:
    """As p4c's addMeterDataFields and addDirectResources make it: the limits are data of the table,
    which has the attribute MeterByteCountAdjust; the meter has no table of its own.
    """
    switch = start(text)
    (table,) = switch.command("schema")["tables"]
    assert table["name"] == "pipe.Ingress.by_kind"
    fields = [datum["singleton"] for datum in table["data"]]
    assert [field["name"] for field in fields] == list(limits(0, 0, 0, 0, unit))
    assert [field["id"] for field in fields] == list(range(first_id, first_id + 4))
    assert {field["type"]["default_value"] for field in fields} == {UNLIMITED}
    assert {field["type"]["type"] for field in fields} == {"uint64"}
    assert [datum["mandatory"] for datum in table["data"]] == [False] * 4
    assert table["attributes"] == ["EntryScope", "MeterByteCountAdjust"]
    assert table["supported_operations"] == []


ACTION = "action color() { hdr.data.a = meter.execute(); }"
WRONG = {
    "no table": (
        program(
            "t.apply();",
            local=f"DirectMeter(MeterType_t.BYTES) /*^*/meter; {ACTION} "
            "table t { key = { hdr.data.kind: exact; } actions = { color; } }",
        ),
        "'meter' is attached to no table; write `meters = meter;` in one",
    ),
    "two tables": (
        program(
            "t.apply(); u.apply();",
            local=f"DirectMeter(MeterType_t.BYTES) meter; {ACTION} action other() {{}}"
            " table t { key = { hdr.data.kind: exact; } actions = { color; } meters = meter; }"
            " table u { key = { hdr.data.kind: exact; } actions = { other; } /*^*/meters = meter;"
            " }",
        ),
        "'meter' is attached to table 't' already",
    ),
    "another extern": (
        program(
            "t.apply();",
            local="DirectCounter<bit<64>>(CounterType_t.PACKETS) seen; action a() {}"
            " table t { key = { hdr.data.kind: exact; } actions = { a; } meters = /*^*/seen; }",
        ),
        "meters is DirectCounter<bit<64>>, expected a named DirectMeter",
    ),
    "outside of an action": (
        program(
            "t.apply(); hdr.data.a = /*^*/meter.execute();",
            local=f"DirectMeter(MeterType_t.BYTES) meter; {ACTION}"
            " table t { key = { hdr.data.kind: exact; } actions = { color; } meters = meter; }",
        ),
        "'meter' belongs to table 't'; use it in an action of that table",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_program(name: str, tmp_path: Path) -> None:
    text, message = WRONG[name]
    check_refused(text, message, tmp_path)
