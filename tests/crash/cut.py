"""Snapshots: reads their files and judges a cut by the clients' histories (docs/kvcache.md §8).

A cut is what the switch and all servers had at the snapshot's point: of each key the record with
the largest number.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

_END = 255
_VERSION_BYTES = 8


@dataclass(frozen=True)
class Record:
    number: int
    value: bytes | None  # None: deleted

    @property
    def version(self) -> int | None:
        """Of the value, as clients write them."""
        return None if self.value is None else int.from_bytes(self.value[:_VERSION_BYTES])


Records = dict[int, Record]  # by id of the key


def read_snapshot(path: Path) -> tuple[int, Records]:
    """(id, records) of a file as src/farreach/cache/snapshot_file.h has it."""
    data = path.read_bytes()
    assert zlib.crc32(data[:-4]) == int.from_bytes(data[-4:]), f"{path} is damaged"
    magic, identity = struct.unpack_from(">8sI", data)
    assert magic == b"TTSNAP01"
    records: Records = {}
    at = 12
    while data[at] != _END:
        stat, low, high, number, length = struct.unpack_from(">B8xI4sIi", data, at)
        at += 25
        key = int.from_bytes(high[2:] + high[:2]) << 32 | low
        assert key not in records, f"{path}: a key comes twice"
        records[key] = Record(number, data[at : at + length] if stat else None)
        at += length
    assert int.from_bytes(data[at + 1 : at + 5]) == len(records)
    assert at + 9 == len(data)
    return identity, records


def merged(parts: Iterable[Records]) -> Records:
    cut: Records = {}
    for part in parts:
        for key, record in part.items():
            if key not in cut or record.number > cut[key].number:
                cut[key] = record
    return cut


@dataclass(frozen=True)
class Write:
    """One that was acknowledged. `sent_ns`: an instant before the transmission that was."""

    key: int
    number: int
    sent_ns: int
    answered_ns: int
    version: int | None  # None: a delete


def read_writes(directory: Path) -> Iterator[Write]:
    """The acknowledged writes of a history (docs/history-format.md)."""
    for path in sorted(directory.glob("clients-*.ndjson")):
        with path.open() as lines:
            assert json.loads(next(lines)) == {"history": 1}
            for line in lines:
                # A client that is still writing has not ended its last line.
                if line.endswith("\n"):
                    yield from _write_of(json.loads(line))


def _write_of(operation: dict[str, Any]) -> Iterator[Write]:
    if operation["op"] == "get" or operation["response_ns"] is None:
        return
    yield Write(
        operation["key"],
        operation["number"],
        operation["sends_ns"][-1],
        operation["response_ns"],
        operation["version"] if operation["op"] == "put" else None,
    )


@dataclass(frozen=True)
class Judgement:
    """`included`: writes whose record, or a newer one of their key, is in the cut."""

    included: int
    later: int  # the other writes
    violations: list[tuple[Write, Write]]  # (not in the cut, in it though it was sent later)
    wrong: list[Write]  # whose number has another record in the cut


def judge(cut: Records, writes: Iterable[Write]) -> Judgement:
    """If a write was acknowledged before another that the cut includes was sent, it is included."""
    nothing = Record(0, None)
    included: list[Write] = []
    later: list[Write] = []
    wrong = []
    for write in writes:
        record = cut.get(write.key, nothing)
        (included if write.number <= record.number else later).append(write)
        if write.number == record.number and write.version != record.version:
            wrong.append(write)
    last = max(included, key=lambda write: write.sent_ns, default=None)
    violations = []
    if last is not None:
        violations = [(write, last) for write in later if write.answered_ns < last.sent_ns]
    return Judgement(len(included), len(later), violations, wrong)
