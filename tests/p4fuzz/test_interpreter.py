"""The interpreter's own arithmetic, hashes and checksums, against numbers from elsewhere."""

from __future__ import annotations

import zlib

import pytest

from . import arithmetic, hashing
from .filtering import Filtering
from .matching import chosen_member
from .metering import GREEN, RED, YELLOW, Metering
from .tree import Average, Bits, DirectMeter, Filter, Group, Limits, Meter, Thresholds

BYTE, SIGNED = Bits(8), Bits(8, True)


# P4_16 specification, 8.5 to 8.7, by hand.
@pytest.mark.parametrize(
    ("operator", "type_", "left", "right", "expected"),
    [
        ("+", BYTE, 200, 100, 44),
        ("|+|", BYTE, 200, 100, 255),
        ("|-|", BYTE, 1, 2, 0),
        ("|+|", SIGNED, 100, 100, 127),
        ("|-|", SIGNED, 0x80, 1, 0x80),
        ("<", SIGNED, 0xFF, 0, True),
        ("<", BYTE, 0xFF, 0, False),
        ("min", SIGNED, 0x80, 1, 0x80),
        ("*", SIGNED, 0xFF, 4, 0xFC),
    ],
)
def test_operators(operator: str, type_: Bits, left: int, right: int, expected: int) -> None:
    assert arithmetic.binary(operator, type_, left, right) == expected


def test_shifts_and_casts() -> None:
    assert arithmetic.shift(">>", SIGNED, 0x80, 9) == 0xFF
    assert arithmetic.shift(">>", BYTE, 0x80, 7) == 1
    assert arithmetic.shift("<<", BYTE, 0x81, 1) == 2
    assert arithmetic.cast(SIGNED, Bits(16, True), 0x80) == 0xFF80
    assert arithmetic.cast(BYTE, Bits(4), 0xAB) == 0xB
    assert arithmetic.with_slice(0xFF, 4, 3, 0) == 0xE7


# Check values of the CRC catalogue, over "123456789".
@pytest.mark.parametrize(
    ("algorithm", "width", "expected"),
    [("CRC8", 8, 0xF4), ("CRC16", 16, 0xBB3D), ("CRC64", 64, 0x6C40DF5F0B497347),
     ("CRC32", 32, zlib.crc32(b"123456789"))],
)  # fmt: skip
def test_hashes(algorithm: str, width: int, expected: int) -> None:
    value = int.from_bytes(b"123456789", "big")
    assert hashing.hash_of(algorithm, value, 72, width) == expected


def test_internet_checksum() -> None:
    """The example of RFC 1071, section 3, whose sum is ddf2."""
    data = bytes.fromhex("0001f203f4f5f6f7")
    assert hashing.internet_checksum(data, zeros_as_ones=False) == 0xDDF2 ^ 0xFFFF
    assert hashing.internet_checksum(b"\xff\xff", zeros_as_ones=True) == 0xFFFF


def test_what_is_subtracted_from_a_sum() -> None:
    """RFC 1071's words again, without the last two: 0001 + f203 = f204."""
    total = hashing.sum_with(0, bytes.fromhex("0001f203f4f5f6f7"))
    assert hashing.sum_less(total, bytes.fromhex("f4f5f6f7")) == 0xF204


# RFC 2698, section 3, by hand: both buckets lose a green packet's size, of a yellow one the peak's.
def test_colors_of_packets() -> None:
    limits = Limits(committed_rate=1, peak_rate=2, committed_burst=2, peak_burst=4)
    meter, metering = Meter("m", 1, "PACKETS", None, []), Metering()

    def colors(now_s: int, *before: int) -> list[int]:
        return [metering.color(meter, 0, limits, color, now_s, 64) for color in before]

    assert colors(5, *[GREEN] * 5) == [GREEN, GREEN, YELLOW, YELLOW, RED]
    assert colors(6, RED, YELLOW, GREEN, GREEN) == [RED, YELLOW, GREEN, RED]
    assert metering.color(meter, 1, limits, GREEN, 6, 64) == GREEN  # a cell of its own
    assert metering.color(meter, 2, None, YELLOW, 6, 64) == YELLOW


def test_bytes_of_kilobits_and_values_for_colors() -> None:
    """A kilobit is 125 bytes."""
    limits = Limits(committed_rate=0, peak_rate=0, committed_burst=1, peak_burst=2)
    meter, metering = DirectMeter("dm", "BYTES", (30, 20, 10)), Metering()
    values = [metering.color(meter, 0, limits, GREEN, 0, 100) for _ in range(3)]
    assert values == [10, 20, 30]


# docs/p4soft.md on action profiles, by hand: members 4, 6 (twice, not active) and 9. FAIR knows 4
# and 9; RESILIENT 4, 6, 6 and 9, and for a 6 takes the hash divided by 4 to 4 and 9.
@pytest.mark.parametrize(
    ("mode", "hash_", "expected"),
    [("FAIR", 7, 9), ("FAIR", 6, 4), ("RESILIENT", 0, 4), ("RESILIENT", 3, 9),
     ("RESILIENT", 1, 4), ("RESILIENT", 6, 9)],
)  # fmt: skip
def test_members_of_groups(mode: str, hash_: int, expected: int) -> None:
    group = Group([4, 6, 9], [True, False, True], [1, 2, 1])
    assert chosen_member(group, mode, hash_) == expected
    assert chosen_member(Group([4], [False], [1]), mode, hash_) is None


# docs/p4soft.md, the control plane: e is 2.71828. 100 / e + 100 = 136.8, 136.8 / e + 100 = 150.3.
def test_averages_of_an_lpf() -> None:
    rate = Filter("lpf", Bits(8), 1, [Average("RATE", 0, 1, 0), Average("RATE", 0, 1, 3)])
    filtering = Filtering()
    assert [filtering.result(rate, 0, 100, now_s) for now_s in range(3)] == [100, 137, 150]
    assert filtering.result(rate, 1, 137, 0) == 17
    # 200 - 100 / e = 163.2, then 163.2 / e^2 = 22.1; a sum of 380 is more than eight bits.
    samples = Filter("s", Bits(8), 1, [Average("SAMPLE", 1, 0.5, 0)])
    values = [filtering.result(samples, 0, value, s) for s, value in enumerate((100, 200, 0))]
    assert values == [100, 163, 22]
    assert [filtering.result(rate, 1, 255, 9) for _ in range(2)] == [31, 63]
    assert [filtering.result(rate, 0, 190, 20) for _ in range(2)] == [190, 255]


def test_a_wred_drops_from_the_upper_threshold_on() -> None:
    wred = Filter("w", Bits(16), 1, [Thresholds(0, 50, 150)], (7, 200))
    filtering = Filtering()
    assert [filtering.result(wred, 0, value, 0) for value in (49, 100, 149, 150)] == [200] * 3 + [7]
