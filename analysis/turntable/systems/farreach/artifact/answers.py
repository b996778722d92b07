"""Raw files of an imported run: the artifact's counts by the names of docs/raw-format.md, without
those that it does not have.

Its histograms, of one microsecond per bucket, become HdrHistograms of nanoseconds: a bucket is
counted at its number, as the artifact's own averages and percentiles do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress
from typing import Any

from hdrh.histogram import HdrHistogram

from turntable.systems.farreach.artifact.statistics import Latency, Statistics

NODE, COMMAND = "artifact", "statistics"
FORMAT = 1
_LAYOUT = (1, 60_000_000_000, 3)  # as those of kvclient
_NS_PER_US = 1000


def of_iteration(one: Statistics) -> dict[str, Any]:
    """Of one client machine."""
    return {
        "format": FORMAT,
        "strid": one.strid,
        "scale": len(one.server_ops),
        "operations": one.operations,
        "window_ns": one.window_ms * 1_000_000,
        "elsewhere": _elsewhere(one),
        "partitions": [
            _partition(one, place, partition) for place, partition in enumerate(one.partitions)
        ],
    }


def of_seconds(seconds: Sequence[Statistics]) -> dict[str, Any]:
    """A whole run of one client machine, whose popularity changes; in the order of the seconds."""
    return {
        "format": FORMAT,
        "strid": "dynamic",
        "scale": len(seconds[0].server_ops),
        "operations": sum(one.operations for one in seconds),
        "window_ns": sum(one.window_ms for one in seconds) * 1_000_000,
        "elsewhere": 0,
        "partitions": [
            _whole([_partition(one, partition, partition) for one in seconds], seconds, partition)
            for partition in seconds[0].partitions
        ],
        "seconds": [_second(one) for one in seconds],
    }


def _second(one: Statistics) -> dict[str, Any]:
    rows = [_partition(one, partition, partition) for partition in one.partitions]
    for row in rows:
        for kind in ("server", "switch"):
            del row[f"{kind}_latency_ns"]  # the whole run's has them
    return {
        "second": one.second,
        "window_ns": one.window_ms * 1_000_000,
        "operations": one.operations,
        "partitions": rows,
    }


def _whole(
    rows: Sequence[dict[str, Any]], seconds: Sequence[Statistics], partition: int
) -> dict[str, Any]:
    merged: dict[str, Any] = {"partition": partition}
    for name in rows[0]:
        if name not in ("partition", "server_latency_ns", "switch_latency_ns"):
            merged[name] = sum(row[name] for row in rows)
    for kind, of_kind in (("server", "server_latency"), ("switch", "switch_latency")):
        every = [getattr(one, of_kind)[partition].histogram for one in seconds]
        merged[f"{kind}_latency_ns"] = _encoded(
            [sum(counts) for counts in zip(*every, strict=True)]
        )
    return merged


def _partition(one: Statistics, place: int, partition: int) -> dict[str, Any]:
    return {
        "partition": partition,
        "server_ops": one.server_ops[partition],
        "switch_ops": one.switch_ops[partition],
        **_latency("server", one.server_latency[place]),
        **_latency("switch", one.switch_latency[place]),
    }


def _latency(kind: str, latency: Latency) -> dict[str, Any]:
    histogram = latency.histogram
    return {
        f"{kind}_latency_ns": _encoded(histogram),
        f"{kind}_latency_sum_ns": latency.sum_us * _NS_PER_US,
        f"{kind}_latency_count": latency.count,
        # By the histogram alone, as the artifact's averages are: sum, count, and those in the last
        # bucket, which were longer.
        f"{kind}_histogram_sum_us": sum(us * histogram[us] for us in _filled(histogram)),
        f"{kind}_histogram_count": sum(histogram),
        f"{kind}_histogram_clamped": histogram[-1],
    }


def _elsewhere(one: Statistics) -> int:
    """Operations of partitions that did not run."""
    return sum(
        one.server_ops[partition] + one.switch_ops[partition]
        for partition in range(len(one.server_ops))
        if partition not in one.partitions
    )


def _encoded(histogram: Sequence[int]) -> str:
    made = HdrHistogram(*_LAYOUT)
    for us in _filled(histogram):
        made.record_value(us * _NS_PER_US, histogram[us])
    return made.encode().decode()


def _filled(histogram: Sequence[int]) -> Iterator[int]:
    """Buckets that are not empty: few of 10,000, which a loop would take long for."""
    return compress(range(len(histogram)), histogram)
