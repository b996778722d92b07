"""The interpreter's own arithmetic, hashes and checksums, against numbers from elsewhere."""

from __future__ import annotations

import zlib

import pytest

from . import arithmetic, hashing
from .tree import Bits

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
