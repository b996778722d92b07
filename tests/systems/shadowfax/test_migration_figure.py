"""Throughput while keys move, as it is drawn."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
from matplotlib.figure import Figure

from turntable.systems.shadowfax.measurement import Samples
from turntable.systems.shadowfax.plot.migration import _paint


def test_all_of_the_window_is_drawn_and_a_short_last_sample_is_a_rate() -> None:
    samples = Samples(
        seconds=1.0,
        operations=[10, 20, 15],
        pending=[0, 0, 0],
        refused_batches=[0, 0, 0],
        by_server=[[10], [20], [10, 5]],
    )
    measurement = SimpleNamespace(
        clients=SimpleNamespace(samples=samples), migrations=[], seconds=2.5, shares=None
    )
    cell = SimpleNamespace(parameters={"capacity_per_s": 0})
    axes = Figure().subplots()
    _paint(axes, cell, measurement)  # type: ignore[arg-type]
    drawn = {patch.get_label(): patch.get_data() for patch in axes.patches}
    np.testing.assert_allclose(drawn["all servers"].edges, [0, 1, 2, 2.5])
    np.testing.assert_allclose(drawn["all servers"].values, [10, 20, 30])
    np.testing.assert_allclose(drawn["server 1"].values, [0, 0, 10])
