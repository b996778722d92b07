"""What is taken off a frame's bytes before they are counted: @adjust_byte_count, and arguments."""

from __future__ import annotations

from pathlib import Path

import pytest
from p4_programs import program
from packet.targets import CommandFailedError
from refusals import check_refused

COUNTERS = program(
    """
        plain.count(0);
        constant.count(0);
        sum.count(0);
        pragma.count(0);
        added.count(0);
        argument.count(0, 10);
        both.count(0, 6);
        t.apply();
        hdr.data.a = m.execute(1w0);
    """,
    local="""
    Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) plain;
    @adjust_byte_count(4)
    Counter<bit<64>, bit<8>>(1, CounterType_t.PACKETS_AND_BYTES) constant;
    @adjust_byte_count(sizeInBytes(hdr.data) + sizeInBytes(hdr.extra) - 1)
    Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) sum;
    @pragma adjust_byte_count 7
    Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) pragma;
    @adjust_byte_count(-3)
    Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) added;
    Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) argument;
    @adjust_byte_count(50)
    Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) both;
    @adjust_byte_count(5)
    DirectCounter<bit<64>>(CounterType_t.BYTES) direct;
    @adjust_byte_count(30)
    Meter<bit<1>>(1, MeterType_t.BYTES) m;
    action count() { direct.count(); }
    table t { actions = { count; } default_action = count(); counters = direct; }
""",
)
BYTES = 60
ON_WIRE = 64  # with the check sequence


def test_bytes_are_counted_less_the_adjustment(load) -> None:
    switch = load(COUNTERS)
    switch.command("counter_clear")
    for _ in range(2):
        switch.send(1, bytes(BYTES))

    def counted(name: str) -> int:
        [cell] = switch.command("counter_read", table=name)["counters"]
        return cell["$COUNTER_SPEC_BYTES"]

    names = ("plain", "constant", "sum", "pragma", "added", "argument", "both")
    assert {name: counted(name) for name in names} == {
        "plain": 2 * ON_WIRE,
        "constant": 2 * (ON_WIRE - 4),
        "sum": 2 * (ON_WIRE - (14 + 4 - 1)),  # data_h has 14 bytes, extra_h 4
        "pragma": 2 * (ON_WIRE - 7),
        "added": 2 * (ON_WIRE + 3),
        "argument": 2 * (ON_WIRE - 10),
        "both": 2 * (ON_WIRE - 6),  # the argument is what counts, as the Tofino compiler warns
    }
    default = switch.command("counter_read", table="t")["default"]
    assert default == {"$COUNTER_SPEC_BYTES": 2 * (ON_WIRE - 5)}


def test_meter_sees_the_adjusted_bytes(load) -> None:
    """A burst of 125 bytes (1 kbit) holds three frames of 64 - 30 bytes, or one of 64."""
    switch = load(COUNTERS)
    limits = {"CIR_KBPS": 1, "PIR_KBPS": 1, "CBS_KBITS": 1, "PBS_KBITS": 1}
    data = {f"$METER_SPEC_{name}": value for name, value in limits.items()}
    switch.command("meter_write", table="m", index=0, data=data)
    colors = [switch.send(1, bytes(BYTES), now_ns=10**12)[0][1][1] for _ in range(5)]
    assert colors == [0, 0, 0, 3, 3]


def test_the_control_plane_puts_another_adjustment_in_the_programs_place(load) -> None:
    """What it sets is added, as in the chip's register; the compiler writes -30 there."""
    switch = load(COUNTERS)
    assert switch.command("meter_byte_count_adjust", table="m")["byte_count_adjust"] == -30
    switch.command("meter_byte_count_adjust", table="m", byte_count_adjust=-2)
    limits = {"CIR_KBPS": 0, "PIR_KBPS": 0, "CBS_KBITS": 1, "PBS_KBITS": 1}
    data = {f"$METER_SPEC_{name}": value for name, value in limits.items()}
    switch.command("meter_write", table="m", index=0, data=data)
    colors = [switch.send(1, bytes(BYTES))[0][1][1] for _ in range(3)]
    assert colors == [0, 0, 3]  # 125 bytes hold two frames of 62, but not three
    switch.command("settings_reset")
    assert switch.command("meter_byte_count_adjust", table="m")["byte_count_adjust"] == -30
    with pytest.raises(CommandFailedError, match="expected bytes, -8192 to 8191"):
        switch.command("meter_byte_count_adjust", table="m", byte_count_adjust=True)
    with pytest.raises(CommandFailedError, match="is of type Counter, not a Meter"):
        switch.command("meter_byte_count_adjust", table="plain")


def test_a_frame_shorter_than_the_adjustment_counts_less_than_nothing(load) -> None:
    source = program(
        "c.count(0);",
        local="@adjust_byte_count(20) Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) c;",
    )
    switch = load(source)
    for size in (14, 50):  # and four bytes of check sequence
        switch.send(1, bytes(size))
    [cell] = switch.command("counter_read", table="c")["counters"]
    assert cell["$COUNTER_SPEC_BYTES"] == (14 + 4 - 20) + (50 + 4 - 20)


COUNTER = "Counter<bit<64>, bit<8>>(1, CounterType_t.BYTES) c;"
ADJUSTMENTS = {
    "adjustment at run time": (
        program("c.count(0, /*^*/hdr.data.c);", local=COUNTER),
        "adjust_byte_count that is no constant is not supported",
    ),
    "two adjustments": (
        program("c.count(0, 4); c.count(0, /*^*/5);", local=COUNTER),
        "'c' is adjusted by 4 bytes elsewhere and by 5 here; Tofino has one adjustment per counter",
    ),
    "two adjustments of a global counter": (
        program(
            "c.count(0, 4); count();", top=f"{COUNTER}\naction count() {{ c.count(0, /*^*/5); }}\n"
        ),
        "'c' is adjusted by 4 bytes elsewhere and by 5 here",
    ),
    "annotated adjustment at run time": (
        program(local=f"@adjust_byte_count(/*^*/hdr.data.c) {COUNTER}"),
        "the argument of @adjust_byte_count must be a constant number",
    ),
    "adjustment of nothing": (
        program(local=f"/*^*/@adjust_byte_count {COUNTER}"),
        "@adjust_byte_count needs one argument",
    ),
}


@pytest.mark.parametrize("name", ADJUSTMENTS)
def test_wrong_adjustments_are_refused(name: str, tmp_path: Path) -> None:
    check_refused(*ADJUSTMENTS[name], tmp_path)


def test_one_adjustment_holds_for_all_counts_of_a_counter(load) -> None:
    """As for the Tofino compiler, where it is a property of the counter and not of the call."""
    switch = load(program("c.count(0, 4); c.count(1);", local=COUNTER.replace("(1,", "(2,")))
    switch.send(1, bytes(BYTES))
    cells = switch.command("counter_read", table="c")["counters"]
    assert [cell["$COUNTER_SPEC_BYTES"] for cell in cells] == [ON_WIRE - 4, ON_WIRE - 4]
