"""The paper's shape, in simulations by which experiments are planned: the statements hold at the
sizes at which they are measured.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from turntable.systems.netclone import shape, times
from turntable_core.plan import cells_of
from turntable_core.spec import choose_profile, load_experiment
from turntable_systems.netclone import offered_load, prediction

from .conftest import REPOSITORY

PROGRAM = REPOSITORY / "build/bin/netclone-simulate"
_LIKE_THE_CELL = (
    *("method", "distribution", "load", "servers", "workers", "unequal_workers", "filter"),
    *("laedge_mode", "jitter_probability"),
)  # fmt: skip


@pytest.fixture(autouse=True)
def as_many_requests_as_in_a_window(monkeypatch: pytest.MonkeyPatch) -> None:
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: run `make build` first")
    monkeypatch.setattr(prediction, "REQUESTS", 100_000)


def simulated(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """As the row of a cell."""
    simulator = prediction.Simulator(PROGRAM, 60.0, lambda: None)
    made = simulator.predict(parameters, 0)
    latency = times.undilated([made.latency_ns], parameters["dilation"])
    offered = offered_load.offered_rps(parameters)
    return {
        **{name: parameters.get(name) for name in _LIKE_THE_CELL},
        **times.values(latency, times.tail_us(parameters)),
        "state": "saturated" if made.saturated else "steady",
        "clone_rate": made.clone_rate,
        "clones_dropped_share": made.clones_dropped_share,
        "redundant_share": 0.0 if parameters.get("filter") else None,
        "offered_rps": offered,
        "delivered_rps": offered,
    }


def rows(experiment: str, **levels: list[Any]) -> list[dict[str, Any]]:
    read = load_experiment(Path(REPOSITORY / f"experiments/netclone/{experiment}.yml"))
    scale = choose_profile(read, "embedded")
    scale.factors.update(levels)
    return [simulated(cell.parameters) for cell in cells_of(scale)]


def test_figure_7_has_the_shape() -> None:
    found = shape.findings(rows("figure7", distribution=["exp25", "bimodal50"]))
    assert [(f.statement, f.details) for f in found if f.holds is False] == []
    said = [found.index(f) + 1 for f in found if f.holds is None]
    assert said == [5]  # LAEDGE with one request per server is another experiment


# p99 in us of reference §12: a queueing model of 4 x 8 that others wrote.
MODEL = {
    ("noclone", 0.3): 150,
    ("noclone", 0.6): 158,
    ("cclone", 0.3): 67,
    ("netclone", 0.3): 77,
    ("netclone", 0.6): 136,
    ("netclone-racksched", 0.6): 127,
    ("netclone-racksched", 0.8): 147,
}


def test_p99_is_that_of_another_model() -> None:
    levels = sorted({load for _, load in MODEL})
    found = {
        (row["method"], row["load"]): row["p99_us"]
        for row in rows("figure7", distribution=["exp25"], load=levels)
    }
    for place, p99_us in MODEL.items():
        assert found[place] == pytest.approx(p99_us, rel=0.12), place


def test_laedge_with_one_request_per_server_is_saturated_beyond_an_eighth() -> None:
    states = {row["load"]: row["state"] for row in rows("laedge_binary")}
    assert states[0.04] == "steady"
    assert states[0.14] == "saturated"
