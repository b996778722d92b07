"""The lines that follow a run, for a terminal of any width.

progress: what turntable.standing says after an attempt.
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
            (2, progress["iteration_label"]),
            *_facts(progress),
            (0, f"ETA {duration(progress['eta_s'])}"),
        ],
        width,
    )


def preparing(label: str, width: int) -> str:
    """Of a turn before its first iteration."""
    return fitting([(0, label), (1, "configuring")], width)


def attempt(progress: Progress, width: int) -> str:
    """One attempt at an iteration: what it measured, or why it failed."""
    head = [
        (0, progress["label"]),
        (0, f"iteration {_count(progress)}"),
        (2, f"index {progress['iteration']}"),
    ]
    if progress["status"] == "refused":
        refused = [(1, progress["iteration_label"]), (0, f"not available: {progress['message']}")]
        return fitting([*head, *refused], width)
    if progress["status"] != "ok":
        failed = f"failed ({progress['failure_class']}), attempt {progress['attempt']}"
        return fitting([*head, (1, progress["iteration_label"]), (0, failed)], width)
    if progress["disturbed"]:
        return fitting([*head, (0, f"disturbed: {progress['disturbed']}")], width)
    eta = f"ETA {duration(progress['eta_s'])}"
    # On a line that stays, what the iteration was goes before what it measured.
    facts = [(rank and rank + 2, text) for rank, text in _facts(progress)]
    return fitting([*head, (1, progress["iteration_label"]), *facts, (0, eta)], width)


def finished(progress: Progress, width: int) -> list[str]:
    """A turn that is over: its result and, if it may not be believed, why."""
    result = progress["result"]
    verdict, _, reasons = result["verdict"].partition(": ")
    line = fitting(
        [
            (0, progress["label"]),
            (0, _count(progress)),
            *_facts(result),
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


def _facts(shown: Mapping[str, Any]) -> list[tuple[int, str]]:
    """What the system says, with the ranks of `fitting`."""
    return [(rank, text) for rank, text in shown["facts"]]


def _events(result: Mapping[str, Any]) -> str:
    """What went wrong on the way, if anything did."""
    counts = (
        (result["iterations_failed"], "failed attempt(s)"),
        (result["iterations_repeated"], "measured again"),
        (result["retries"], "retries"),
    )
    return ", ".join(f"{count} {what}" for count, what in counts if count)
