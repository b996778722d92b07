"""A timeline that kills the switch and starts it again, and the iteration after it."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable.load import load_run

from .conftest import measured, require_valid

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_a_switch_dies_and_comes_back_in_every_iteration(testbed: Path) -> None:
    run = measured("farreach/switch_restart", testbed, profile="smoke")
    assert run.status == 0, run.output
    require_valid(run)
    (turn,) = load_run(run.directory).turns
    assert [measurement.iteration for measurement in turn.measurements] == [0, 1]
    for measurement in turn.measurements:
        (rates, *_) = measurement.series().values()
        # Killed 3 s after the window's begin, started 5 s after it.
        assert min(rates[:2]) > 0
        assert rates[4] == 0
        assert min(rates[6:]) > 0
    report = (run.directory / "report.html").read_text(encoding="utf-8")
    assert report.count("kill switch0, 3.0 s") == report.count("start switch0, 5.0 s") == 2
