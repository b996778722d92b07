"""The lines that follow a run: what they say, and that they fit."""

from __future__ import annotations

import pytest

from turntable_core import terminal_lines

RESULT = {
    "facts": [
        (4, "1,255,368 ops/s"),
        (0, "normalized 111.07"),
        (1, "imbalance 1.758"),
        (3, "utilization 1.000"),
    ],
    "iterations_failed": 0,
    "iterations_repeated": 0,
    "retries": 0,
    "verdict": "valid",
    "seconds": 10261.0,
}
# As long as they get.
OK = {
    "label": "workload-load nocache 128, round 4",
    "done": 127,
    "total": 128,
    "iteration": 126,
    "iteration_label": "partitions 14+126",
    "status": "ok",
    "failure_class": None,
    "disturbed": None,
    "attempt": 1,
    "facts": [(0, "1,288,719 ops/s"), (1, "utilization 1.000")],
    "eta_s": 4352.0,
    "result": None,
}
FAILED = OK | {
    "status": "failed",
    "failure_class": "command_error",
    "disturbed": None,
    "attempt": 2,
    "facts": [],
}


def test_wide_lines_say_everything() -> None:
    assert terminal_lines.live(OK, 130) == (
        "workload-load nocache 128, round 4  iteration 127/128  partitions 14+126  "
        "1,288,719 ops/s  utilization 1.000  ETA 1:12:32"
    )
    assert terminal_lines.finished(OK | {"result": RESULT}, 150) == [
        "workload-load nocache 128, round 4  127/128  1,255,368 ops/s  normalized 111.07  "
        "imbalance 1.758  utilization 1.000  valid  in 2:51:01"
    ]
    assert terminal_lines.attempt(FAILED, 120) == (
        "workload-load nocache 128, round 4  iteration 127/128  index 126  partitions 14+126  "
        "failed (command_error), attempt 2"
    )


@pytest.mark.parametrize("width", [40, 80, 100, 120])
@pytest.mark.parametrize("progress", [OK, FAILED])
def test_no_line_reaches_the_edge(progress: dict, width: int) -> None:
    verdict = "invalid: " + "the servers were not the bottleneck; " * 6
    done = progress | {"result": RESULT | {"verdict": verdict, "retries": 12}}
    lines = [
        terminal_lines.live(progress, width),
        terminal_lines.attempt(progress, width),
        terminal_lines.preparing(progress["label"], width),
        *terminal_lines.finished(done, width),
    ]
    assert [line for line in lines if len(line) >= width] == []


def test_narrow_lines_keep_what_counts() -> None:
    line = terminal_lines.live(OK | {"label": "workloada nocache 16"}, 80)
    assert line == "workloada nocache 16  iteration 127/128  1,288,719 ops/s  ETA 1:12:32"


def test_a_result_that_may_not_be_believed_says_why() -> None:
    verdict = "invalid: 1 of 128 iterations are missing; requests were sent again: up to 12"
    result = RESULT | {"verdict": verdict, "facts": [], "retries": 12}
    first, *reasons = terminal_lines.finished(OK | {"result": result}, 100)
    assert " invalid" in first
    assert "12 retries" in first
    assert "normalized" not in first
    assert [reason.strip() for reason in reasons] == [verdict.removeprefix("invalid: ")]


def test_a_line_loses_no_more_than_it_must() -> None:
    done = OK | {"label": "workloada nocache 4, round 0", "done": 4, "total": 4, "result": RESULT}
    assert terminal_lines.finished(done, 80) == [
        "workloada nocache 4, round 0  4/4  normalized 111.07  imbalance 1.758  valid"
    ]
