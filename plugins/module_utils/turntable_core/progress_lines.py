"""The lines that follow a run, for a terminal of any width.

progress: what turntable.progress says after an attempt.
"""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from turntable_core.text_table import duration

Progress = Mapping[str, Any]


def live(progress: Progress, width: int) -> str:
    """Of the turn that is running; it is rewritten in place, so it must not wrap."""
    return fitting(
        [
            (0, progress["label"]),
            (0, f"iteration {_count(progress)}"),
            (2, _partitions(progress)),
            (0, _rate(progress)),
            (1, _utilization(progress)),
            (0, f"ETA {duration(progress['eta_s'])}"),
        ],
        width,
    )


def preparing(label: str, width: int) -> str:
    """Of a turn before its first iteration."""
    return fitting([(0, label), (1, "loading tables and stores")], width)


def attempt(progress: Progress, width: int) -> str:
    """One attempt at an iteration: what it measured, or why it failed."""
    head = [
        (0, progress["label"]),
        (0, f"iteration {_count(progress)}"),
        (2, f"index {progress['iteration']}"),
    ]
    if progress["status"] != "ok":
        failed = f"failed ({progress['failure_class']}), attempt {progress['attempt']}"
        return fitting([*head, (1, _partitions(progress)), (0, failed)], width)
    facts = [
        (1, _partitions(progress)),
        (0, _rate(progress)),
        (3, _utilization(progress)),
        (0, f"ETA {duration(progress['eta_s'])}"),
    ]
    return fitting([*head, *facts], width)


def finished(progress: Progress, width: int) -> list[str]:
    """A turn that is over: its result and, if it may not be believed, why."""
    result = progress["result"]
    verdict, _, reasons = result["verdict"].partition(": ")
    line = fitting(
        [
            (0, progress["label"]),
            (0, _count(progress)),
            (4, _number(result["aggregate_ops_per_s"], "{:,.0f} ops/s")),
            (0, _number(result["normalized_throughput"], "normalized {:.2f}")),
            (1, _number(result["imbalance_ratio"], "imbalance {:.3f}")),
            (3, _number(result["busiest_utilization"], "utilization {:.3f}")),
            (1, _events(result)),
            (0, verdict),
            (2, f"in {duration(result['seconds'])}"),
        ],
        width,
    )
    return [
        line,
        *textwrap.wrap(reasons, width - 4, initial_indent="    ", subsequent_indent="    "),
    ]


def fitting(parts: Sequence[tuple[int, str]], width: int) -> str:
    """Texts on a line of less than `width` columns: higher ranks are left out first, 0 never."""
    kept = [(rank, text) for rank, text in parts if text]
    while len(line := "  ".join(text for _, text in kept)) >= width:
        highest = max(rank for rank, _ in kept)
        if highest == 0:
            return line[: width - 2] + "…"
        kept.remove([part for part in kept if part[0] == highest][-1])
    return line


def _count(progress: Progress) -> str:
    total = str(progress["total"])
    return f"{progress['done']:>{len(total)}}/{total}"


def _partitions(progress: Progress) -> str:
    return "partitions " + "+".join(str(partition) for partition in progress["partitions"])


def _rate(progress: Progress) -> str:
    return "" if progress["ops_per_s"] is None else f"{progress['ops_per_s']:>9,.0f} ops/s"


def _utilization(progress: Progress) -> str:
    return _number(progress["utilization"], "utilization {:.3f}")


def _events(result: Mapping[str, Any]) -> str:
    """What went wrong on the way, if anything did."""
    counts = ((result["iterations_failed"], "failed attempt(s)"), (result["retries"], "retries"))
    return ", ".join(f"{count} {what}" for count, what in counts if count)


def _number(value: float | None, form: str) -> str:
    return "" if value is None else form.format(value)
