"""What a statistics file holds: one object per iteration, or per second, of one client machine.

Fields: those of the artifact. Times are of a closed window; latencies are counted in buckets of one
microsecond, all above the last in the last.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.systems.farreach.artifact.json_array import Element, read_source
from turntable_core.errors import MISSING, InputError, TurntableError

BUCKETS = 10_000  # of a histogram, 1 µs each
_MOST = 10**15  # of any number: sums of them are 64 bits, as histograms need them
_STATIC = re.compile(r"server-([0-9]{1,9})(?:-([0-9]{1,9}))?")
_SECOND = re.compile(r"sec-([0-9]{1,9})")


@dataclass(frozen=True)
class Latency:
    """Of what servers answered, or the switch, for one partition."""

    sum_us: int
    count: int
    histogram: Sequence[int]


@dataclass(frozen=True)
class Statistics:
    strid: str
    where: str  # file:line
    partitions: tuple[int, ...]  # that ran, the bottleneck first; in a second, all
    second: int | None
    operations: int
    window_ms: int
    server_ops: Sequence[int]  # by partition, of all
    switch_ops: Sequence[int]
    server_latency: Sequence[Latency]  # of the partitions that ran, in their order
    switch_latency: Sequence[Latency]


def read_statistics(file: Path, servers: int, *, seconds: bool) -> list[Statistics]:
    """In the file's order. seconds: whether an object is a second, or else an iteration.

    Raises TurntableError, with line and reason, for what is not as the artifact writes it.
    """
    read: dict[str, Statistics] = {}
    for element in read_source(file).elements():
        one = _statistics(element, servers, seconds=seconds)
        if one.strid in read:
            expected = f"every one once; {read[one.strid].where} has it already"
            raise InputError(element.where("strid"), "strid", one.strid, expected)
        read[one.strid] = one
    if not read:
        raise TurntableError(f"{file}:1: the array is empty; expected an object per iteration")
    return list(read.values())


def _statistics(element: Element, servers: int, *, seconds: bool) -> Statistics:
    if not isinstance(element.value, dict):
        raise InputError(element.where(), "element", element.value, "an object")
    fields = _Fields(element)
    strid, partitions, second = _identity(fields, servers, seconds=seconds)
    return Statistics(
        strid=strid,
        where=element.where(),
        partitions=partitions,
        second=second,
        operations=fields.count("totalOpsdone"),
        window_ms=fields.count("executionMillis", least=1),
        server_ops=fields.counts("perserverOpsdone", servers),
        switch_ops=fields.counts("perserverCachehits", servers),
        server_latency=fields.latencies("perserverCachemiss", len(partitions)),
        switch_latency=fields.latencies("perserverCachehit", len(partitions)),
    )


def _identity(
    fields: _Fields, servers: int, *, seconds: bool
) -> tuple[str, tuple[int, ...], int | None]:
    strid = fields.value("strid", "a text")
    expected = "sec-K" if seconds else "server-B or server-B-R, the partitions that ran"
    found = (_SECOND if seconds else _STATIC).fullmatch(strid) if isinstance(strid, str) else None
    if found is None:
        fields.refuse("strid", strid, expected)
    if seconds:
        return strid, tuple(range(servers)), int(found[1])
    partitions = tuple(int(text) for text in found.groups() if text is not None)
    if max(partitions) >= servers or len(set(partitions)) < len(partitions):
        fields.refuse("strid", strid, f"different partitions below {servers}")
    return strid, partitions, None


class _Fields:
    def __init__(self, element: Element) -> None:
        self._element = element
        self._values: Mapping[str, Any] = element.value

    def refuse(self, name: str, value: Any, expected: str) -> None:
        strid = self._values.get("strid")
        of = f"{strid}, {name}" if isinstance(strid, str) and name != "strid" else name
        raise InputError(self._element.where(name), of, _short(value), expected)

    def value(self, name: str, expected: str) -> Any:
        if name not in self._values:
            self.refuse(name, MISSING, expected)
        return self._values[name]

    def count(self, name: str, least: int = 0) -> int:
        expected = f"a whole number of at least {least} and at most 10^15"
        value = self.value(name, expected)
        if type(value) is not int or not least <= value <= _MOST:
            self.refuse(name, value, expected)
        return value

    def counts(self, name: str, length: int) -> Sequence[int]:
        expected = f"a list of {length} counts, one per logical server"
        return self._counts(name, self.value(name, expected), length, expected)

    def latencies(self, prefix: str, running: int) -> list[Latency]:
        """Lists of the partitions that ran. More rows are none's, so they must be empty."""
        sums, numbers = (
            self._rows(f"{prefix}{name}", running) for name in ("TotalLatency", "TotalLatencynum")
        )
        name = f"{prefix}TotalHistogram"
        rows = self._list(name, running, "a histogram")
        expected = f"{BUCKETS} counts, a bucket per microsecond"
        histograms = [
            self._counts(f"{name}[{index}]", row, BUCKETS, expected, key=name)
            for index, row in enumerate(rows)
        ]
        for row, histogram in enumerate(histograms[running:], start=running):
            if any(histogram):
                self.refuse(name, f"counts in row {row}", f"{running} rows, of what ran")
        every = zip(sums[:running], numbers[:running], histograms[:running], strict=True)
        return [Latency(*parts) for parts in every]

    def _rows(self, name: str, running: int) -> Sequence[int]:
        expected = f"a count for each of the {running} partitions that ran"
        rows = self._list(name, running, "a count")
        self._counts(name, rows, len(rows), expected)
        if any(rows[running:]):
            self.refuse(name, rows, expected)
        return rows

    def _list(self, name: str, least: int, what: str) -> list[Any]:
        expected = f"a list with {what} for each of the {least} partitions that ran"
        rows = self.value(name, expected)
        if not isinstance(rows, list) or len(rows) < least:
            self.refuse(name, rows, expected)
        return rows

    def _counts(
        self, name: str, values: Any, length: int, expected: str, key: str | None = None
    ) -> Sequence[int]:
        if not isinstance(values, list):
            self._refuse_at(key, name, values, expected)
        if len(values) != length:
            self._refuse_at(key, name, f"a list of {len(values)}", expected)
        if set(map(type, values)) == {int} and min(values) >= 0 and max(values) <= _MOST:
            return values  # a histogram's 10,000 at once
        for index, value in enumerate(values):
            if type(value) is not int or not 0 <= value <= _MOST:
                expected = "a whole number of at least 0 and at most 10^15"
                self._refuse_at(key, f"{name}[{index}]", value, expected)
        return values

    def _refuse_at(self, key: str | None, name: str, value: Any, expected: str) -> None:
        """The line of the key; the name with its index."""
        where = self._element.where(key or name.partition("[")[0])
        raise InputError(where, f"{self._values['strid']}, {name}", _short(value), expected)


def _short(value: Any) -> Any:
    """Lists of thousands are shown by their beginning."""
    if isinstance(value, list) and len(value) > 4:
        return f"[{', '.join(map(str, value[:3]))}, …] ({len(value)} values)"
    return value
