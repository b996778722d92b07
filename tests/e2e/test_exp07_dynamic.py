"""Hot keys that change while clients run: the switch loses requests, and gets them back."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable.load import load_run
from turntable.systems.farreach import dynamic

from .conftest import measured

pytestmark = [pytest.mark.e2e, pytest.mark.long]


def test_the_switch_loses_hot_keys_at_each_change_and_learns_the_new_ones(testbed: Path) -> None:
    # Whether throughput is back in time depends on the machine; who answered does not.
    run = measured("farreach/exp07_dynamic", testbed, profile="smoke")
    assert run.status == 0, run.output
    (turn,) = load_run(run.directory).turns
    (measurement,) = turn.measurements
    assert [period for _, period in dynamic.instants(measurement)] == [1, 2]
    assert measurement.popularity_spread_s is not None
    assert measurement.popularity_spread_s < 1
    hits = [
        1 - sum(second.server_ops_per_s.values()) / second.total
        for second in measurement.each_second
    ]
    for at in (3, 6):  # seconds of the window; the traces lose 0.23 of 0.39 in the first moment
        assert hits[at] < 0.93 * hits[at - 1], hits
        assert max(hits[at + 1 : at + 3]) > hits[at], hits
    for change in dynamic.changes(measurement, turn.prediction.popularity):
        assert change.predicted_dip == pytest.approx(0.34, abs=0.03)
    assert turn.row["hot_threshold"] == 2
    assert "Changes of popularity" in run.output
    report = (run.directory / "report.html").read_text(encoding="utf-8")
    assert "Popularity that changes" in report
    assert "Every second of" in report
