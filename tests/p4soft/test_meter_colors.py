"""The values that a meter gives for its colours."""

from __future__ import annotations

from p4_programs import program

COLORS = program(
    """
        hdr.data.a = packets.execute(hdr.data.b);
        hdr.data.c = (bit<32>) packets.execute(hdr.data.b, (MeterColor_t) hdr.data.kind);
    """,
    local="""
    Meter<bit<16>>(4, MeterType_t.PACKETS, 8w0x77, 8w0x55, 8w0x22) packets;
""",
)
RED, YELLOW, GREEN = 0x77, 0x55, 0x22  # as given to the constructor
LIMITS = {"CIR_PPS": 1000, "PIR_PPS": 2000, "CBS_PKTS": 2, "PBS_PKTS": 4}


def values(switch, at_ns: int, color: int = 0, index: int = 1) -> tuple[int, int]:
    """Of the execution without a colour and of the one with `color`."""
    frame = bytes([color, 0]) + index.to_bytes(2, "big") + bytes(10)
    [(_, out)] = switch.send(1, frame, now_ns=at_ns)
    return out[1], int.from_bytes(out[4:8], "big")


def test_execute_returns_the_values_that_the_constructor_was_given(load) -> None:
    switch = load(COLORS)
    assert values(switch, 0) == (GREEN, GREEN)  # no limits
    limits = {f"$METER_SPEC_{name}": value for name, value in LIMITS.items()}
    switch.command("meter_write", table="packets", index=1, data=limits)
    start = 10**12
    # Two committed tokens, four of the peak: a packet takes two.
    assert [values(switch, start) for _ in range(3)] == [
        (GREEN, GREEN),
        (YELLOW, YELLOW),
        (RED, RED),
    ]


def test_color_before_is_one_of_meter_color_t(load) -> None:
    """The packet's colour before has the numbers of MeterColor_t, whatever the meter gives."""
    switch = load(COLORS)
    switch.command("meter_write", table="packets", index=1, data=None)
    assert [values(switch, 0, color)[1] for color in (0, 1, 3)] == [GREEN, YELLOW, RED]
    assert values(switch, 0, color=1, index=9) == (GREEN, YELLOW)  # outside the meter
