"""Reads what the control plane sent, from the answers of cache-controller and switch-agent at the
begin and at the end of an iteration (docs/raw-format.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from turntable.raw import BEGIN, RawAnswer, switch_results
from turntable.systems.farreach.measurement import ControlPlane

# A frame of the CPU port (src/farreach/cache/control_frame.h).
_FRAME_BYTES = 14 + 10 + 18 + 4 + 2 + 128 + 8

Stats = Mapping[str, Any]


def read(answers: Iterable[RawAnswer]) -> ControlPlane | None:
    """None: raw files of before, or a method without a cache."""
    answers = list(answers)
    before, after = _both(answers, "cache-controller")
    agent_before, agent_after = _both(answers, "switch-agent")
    if None in (before, after, agent_before, agent_after) or "admission_bytes" not in after:
        return None

    def grown(name: str) -> int:
        return after[name] - before[name]

    complete = after["snapshots"]["complete"]
    from_ns = _from_ns(answers)
    until_ns = complete[-1]["ended_at_ns"] if complete else None
    return ControlPlane(
        elapsed_s=(after["at_ns"] - before["at_ns"]) / 1e9,
        snapshots=tuple(one["sent_bytes"] + one["received_bytes"] for one in complete),
        until_s=None if None in (from_ns, until_ns) else (until_ns - from_ns) / 1e9,
        case1_bytes=_FRAME_BYTES * (_reports(agent_after) - _reports(agent_before)),
        admission_bytes=grown("admission_bytes"),
        eviction_bytes=grown("eviction_bytes"),
    )


def switch_run_ns(answers: Iterable[RawAnswer]) -> int | None:
    """Processor time of the switch's thread, from the begin to the collection."""
    found = [result.get("pipeline_thread") for result in switch_results(answers, "info")]
    return found[-1].get("run_ns") if found and found[-1] else None


def _both(answers: Iterable[RawAnswer], node: str) -> tuple[Stats | None, Stats | None]:
    mine = [a for a in answers if (a.node, a.command) == (node, "stats")]
    begin = [answer.result for answer in mine if answer.phase == BEGIN]
    end = [answer.result for answer in mine if answer.phase != BEGIN]
    return begin[-1] if begin else None, end[-1] if end else None


def _from_ns(answers: Iterable[RawAnswer]) -> int | None:
    """The clients' common start, from which periods count."""
    told = [
        answer.result.get("snapshot_from_ns")
        for answer in answers
        if (answer.node, answer.command, answer.phase) == ("cache-controller", "settings", BEGIN)
    ]
    return told[-1] if told else None


def _reports(agent: Stats) -> int:
    return agent["snapshots"]["case1_reports"]
