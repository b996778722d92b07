"""Hashes and checksums from their definitions, bit by bit."""

from __future__ import annotations

# Width, polynomial, initial value, final xor, reflected: TNA's algorithms are CRC-8/SMBUS,
# CRC-16/ARC, CRC-32/ISO-HDLC and CRC-64/ECMA-182 of the CRC catalogue.
_CRCS = {
    "CRC8": (8, 0x07, 0, 0, False),
    "CRC16": (16, 0x8005, 0, 0, True),
    "CRC32": (32, 0x04C11DB7, 0xFFFFFFFF, 0xFFFFFFFF, True),
    "CRC64": (64, 0x42F0E1EBA9EA3693, 0, 0, False),
}


def _reversed(value: int, bits: int) -> int:
    return int(f"{value:0{bits}b}"[::-1], 2)


def _crc(data: bytes, algorithm: str) -> int:
    width, polynomial, state, final, reflected = _CRCS[algorithm]
    for byte in data:
        state ^= (_reversed(byte, 8) if reflected else byte) << width - 8
        for _ in range(8):
            top = state >> width - 1
            state = state << 1 & (1 << width) - 1 ^ (polynomial if top else 0)
    return (_reversed(state, width) if reflected else state) ^ final


def hash_of(algorithm: str, value: int, bits: int, width: int) -> int:
    """The low `width` bits of the hash of `bits` bits, whole bytes."""
    mask = (1 << width) - 1
    if algorithm == "IDENTITY":
        return value & mask
    data = value.to_bytes(bits // 8, "big")
    if algorithm in _CRCS:
        return _crc(data, algorithm) & mask
    size = int(algorithm.removeprefix("XOR")) // 8
    data += bytes(-len(data) % size)
    result = 0
    for at in range(0, len(data), size):
        result ^= int.from_bytes(data[at : at + size], "big")
    return result & mask


def sum_with(total: int, data: bytes) -> int:
    """The one's complement sum of RFC 1071, of 16-bit words; an odd last byte is a high one."""
    data += bytes(len(data) % 2)
    total += sum(int.from_bytes(data[at : at + 2], "big") for at in range(0, len(data), 2))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def sum_less(total: int, data: bytes) -> int:
    """Without data that is in it: its complement is added."""
    return sum_with(total, (sum_with(0, data) ^ 0xFFFF).to_bytes(2, "big"))


def internet_checksum(data: bytes, *, zeros_as_ones: bool) -> int:
    """RFC 1071."""
    result = sum_with(0, data) ^ 0xFFFF
    return 0xFFFF if zeros_as_ones and result == 0 else result
