"""The judge of cuts finds what is planted."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

from .cut import Judgement, Record, Write, judge, merged, read_snapshot

A, B = 1, 2


def write(key: int, number: int, sent: int, answered: int, version: int | None = 9) -> Write:
    return Write(key, number, sent, answered, version)


def value(version: int) -> bytes:
    return version.to_bytes(8) + b"rest"


def test_a_write_that_is_missing_although_a_later_one_is_there() -> None:
    early, late = write(A, 5, sent=10, answered=20), write(B, 7, sent=21, answered=30)
    cut = {A: Record(4, value(1)), B: Record(7, value(9))}
    assert judge(cut, [early, late]) == Judgement(1, 1, [(early, late)], [])
    # They overlap: either may be first.
    overlapping = write(B, 7, sent=19, answered=30)
    assert judge(cut, [early, overlapping]).violations == []
    # A newer write of its key stands for it.
    newer = {A: Record(6, value(1)), B: Record(7, value(9))}
    assert judge(newer, [early, late]) == Judgement(2, 0, [], [])


def test_a_key_that_the_cut_does_not_have() -> None:
    early, late = write(A, 1, sent=10, answered=20), write(B, 2, sent=30, answered=40)
    assert judge({B: Record(2, value(9))}, [early, late]).violations == [(early, late)]


def test_a_number_with_another_record() -> None:
    put, delete = write(A, 5, 1, 2, version=9), write(B, 6, 1, 2, version=None)
    right = {A: Record(5, value(9)), B: Record(6, None)}
    assert judge(right, [put, delete]).wrong == []
    assert judge({A: Record(5, value(8)), B: Record(6, value(9))}, [put, delete]).wrong == [
        put,
        delete,
    ]


def test_the_record_with_the_larger_number_counts() -> None:
    old, new = Record(3, b"old"), Record(4, None)
    assert merged([{A: old}, {A: new, B: old}, {B: new}]) == {A: new, B: new}
    assert merged([{A: new}, {A: old}]) == {A: new}


def test_files_are_read_as_documented(tmp_path: Path) -> None:
    # Wire form of a key: eight zero bytes, the low word, the high word with its halves swapped.
    key = 0x0102030405060708
    wire = bytes(8) + bytes.fromhex("0506070803040102")
    body = b"TTSNAP01" + struct.pack(">I", 77)
    body += b"\x01" + wire + struct.pack(">II", 5, 3) + b"abc"
    body += b"\x00" + bytes(15) + b"\x01" + struct.pack(">II", 6, 0)
    body += b"\xff" + struct.pack(">I", 2)
    path = tmp_path / "snapshot"
    path.write_bytes(body + struct.pack(">I", zlib.crc32(body)))
    # The last two bytes of a key are the upper half of its high word.
    assert read_snapshot(path) == (77, {key: Record(5, b"abc"), 1 << 48: Record(6, None)})
