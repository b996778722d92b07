"""What the released YCSB leaves behind (docs/from-ycsb.md): its own results, and the raw statistics
of its binding, which are kvclient's.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from turntable.raw import RawAnswer, results
from turntable_systems.farreach.ycsb import KVCLIENT

NODE, STATS = "ycsbclient", "stats"

# Counts of the whole iteration, of which YCSB's load phase is a part: the switch counts it too.
_OF_BOTH_PHASES = (
    "timeouts",
    "retries",
    "stale_answers",
    "malformed",
    "mismatched",
    "wrong_node",
    "not_found",
    "send_errors",
    "receive_errors",
    "socket_drops",
    "in_flight_at_stop",
    "unanswered",
)
_OF_PARTITIONS = ("requests_total", "answers_total")
_LINE = re.compile(r"^\[([A-Z-]+)\], ([^,]+), (\S+)$", re.MULTILINE)
_RETRY = "RETRY"  # what the binding reports of requests that it sends again


# Of summary.csv.
COLUMNS = ("client", "record", "ycsb_ops_per_s", "ycsb_failed")


@dataclass(frozen=True)
class Operation:
    """Of one kind, as YCSB measured it; latencies from its own histogram."""

    count: int
    mean_us: float
    p95_us: float
    p99_us: float


@dataclass(frozen=True)
class Said:
    """YCSB's results of its run phase, warm-up included."""

    ops_per_s: float
    operations: Mapping[str, Operation]  # READ, UPDATE, ...
    failed: Mapping[str, int]  # of both phases, by operation and status

    @property
    def errors(self) -> dict[str, int]:
        """As those of a measurement: none of its workloads asks for what is not there."""
        return {f"YCSB {what}": count for what, count in self.failed.items()}


def columns(parameters: Mapping[str, Any], each: Sequence[Said | None]) -> dict[str, Any]:
    """Of one row of summary.csv. each: of the iterations; None: kvclient sent the requests."""
    told = [one for one in each if one is not None]
    return {
        "client": parameters.get("client", KVCLIENT),
        "record": parameters.get("record"),
        "ycsb_ops_per_s": fmean(one.ops_per_s for one in told) if told else None,
        "ycsb_failed": sum(sum(one.failed.values()) for one in told) if told else None,
    }


def clients(answers: Iterable[RawAnswer]) -> list[Mapping[str, Any]]:
    """Raw statistics as kvclient has them; none where kvclient sent the requests."""
    return [
        _of_both(stats["load"]["statistics"], stats["run"]["statistics"])
        for stats in _ended(answers)
    ]


def said(answers: Iterable[RawAnswer]) -> Said | None:
    for stats in _ended(answers):
        load, run = (_lines(stats[phase]["said"]) for phase in ("load", "run"))
        return Said(
            run["OVERALL"]["Throughput(ops/sec)"],
            {
                name: Operation(
                    int(lines["Operations"]),
                    lines["AverageLatency(us)"],
                    lines["95thPercentileLatency(us)"],
                    lines["99thPercentileLatency(us)"],
                )
                for name, lines in run.items()
                if any(line.startswith("Return=") for line in lines) and name != _RETRY
            },
            _failed("load", load) | _failed("run", run),
        )
    return None


def _ended(answers: Iterable[RawAnswer]) -> Sequence[Mapping[str, Any]]:
    """Whose phases both ended in order: ycsbclient fails the others."""
    return [stats for stats in results(answers, NODE, STATS) if stats["load"] and stats["run"]]


def _of_both(load: Mapping[str, Any], run: Mapping[str, Any]) -> dict[str, Any]:
    """The window is the run phase's."""
    partitions = [
        row | {name: row[name] + before[name] for name in _OF_PARTITIONS}
        for before, row in zip(load["partitions"], run["partitions"], strict=True)
    ]
    sums = {name: load[name] + run[name] for name in _OF_BOTH_PHASES}
    return {**run, **sums, "partitions": partitions}


def _lines(text: str) -> dict[str, dict[str, float]]:
    """`[READ], Return=OK, 97` -> {"READ": {"Return=OK": 97}}"""
    sections: dict[str, dict[str, float]] = {}
    for section, name, value in _LINE.findall(text):
        sections.setdefault(section, {})[name] = float(value)
    return sections


def _failed(phase: str, sections: Mapping[str, Mapping[str, float]]) -> dict[str, int]:
    return {
        f"{phase}: {section} {name.removeprefix('Return=')}": int(count)
        for section, lines in sections.items()
        for name, count in lines.items()
        if name.startswith("Return=") and name != "Return=OK" and section != _RETRY
    }
