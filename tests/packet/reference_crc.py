"""CRCs straight from their definition, for comparison with the tables of the runtime."""

from __future__ import annotations


def crc(data: bytes, width: int, polynomial: int, initial: int, final: int, reflected: bool) -> int:
    """Bit by bit (the Rocksoft model)."""

    def reverse(value: int, bits: int) -> int:
        return int(f"{value:0{bits}b}"[::-1], 2)

    state = initial
    for byte in data:
        state ^= (reverse(byte, 8) if reflected else byte) << width - 8
        for _ in range(8):
            top = state >> width - 1
            state = (state << 1) & (1 << width) - 1
            state ^= polynomial if top else 0
    return (reverse(state, width) if reflected else state) ^ final


def crc16(data: bytes) -> int:
    """CRC-16/ARC, HashAlgorithm_t.CRC16."""
    return crc(data, 16, 0x8005, 0, 0, True)
