"""The paper's experiments: cells as published, the same cells where experiments share them, and
predictions beside numbers that others have calculated or published.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from turntable_core.plan import Cell, cells_of
from turntable_core.spec import Scale, choose_profile, load_experiment
from turntable_systems.farreach.analyzer import WorkloadAnalyzer
from turntable_systems.farreach.prediction import Prediction

REPOSITORY = Path(__file__).resolve().parents[3]
EXPERIMENTS = REPOSITORY / "experiments"
ANALYZER = (
    Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build")) / "bin/workload-analyze"
)

METHODS = ("farreach", "netcache", "nocache")
# FarReach reference, section 9: script parameters, beside those that are common to all.
LEVELS = {
    "exp03_scalability": ("servers", [16, 32, 64, 128], {"workload": "workloada"}),
    "exp04_write_ratio": (
        "workload",
        ["workloadc", "synthetic-25", "workloada", "synthetic-75", "synthetic"],
        {"servers": 16},
    ),
    "exp05_key_distribution": (
        "workload",
        ["skewness-90", "skewness-95", "synthetic", "uniform"],
        {"servers": 16},
    ),
    "exp06_value_size": (
        "value_bytes",
        [16, 32, 64, 128, 256],
        {"servers": 16, "workload": "synthetic"},
    ),
    "exp09_recovery": (
        "cache_size",
        [100, 1000, 10000],
        {"servers": 16, "workload": "synthetic", "crash": "switch_and_servers"},
    ),
}
COMMON = {
    "records": 100_000_000, "theta": 0.99, "value_bytes": 128, "cache_size": 10_000,
    "measure_s": 10, "clients": 128, "capacity_ops_per_s": 0,
}  # fmt: skip


def scale_of(name: str, profile: str) -> Scale:
    return choose_profile(load_experiment(EXPERIMENTS / "farreach" / f"{name}.yml"), profile)


def cells_at(name: str, profile: str) -> list[Cell]:
    return cells_of(scale_of(name, profile))


def ids(name: str, profile: str, **levels: Any) -> dict[str, str]:
    """By method, of the cells with these levels."""
    return {
        cell.parameters["method"]: cell.id
        for cell in cells_at(name, profile)
        if levels.items() <= cell.parameters.items()
    }


@pytest.mark.parametrize("name", LEVELS)
def test_profile_paper_is_what_was_published(name: str) -> None:
    factor, levels, others = LEVELS[name]
    scale = scale_of(name, "paper")
    assert scale.rounds == 5
    cells = [cell.parameters for cell in cells_of(scale)]
    methods = ("farreach",) if name == "exp09_recovery" else METHODS
    assert {(c["method"], c[factor]) for c in cells} == {(m, v) for m in methods for v in levels}
    assert len(cells) == len(methods) * len(levels)
    thetas = {"skewness-90": 0.90, "skewness-95": 0.95}
    for cell in cells:
        wanted = COMMON | {"theta": thetas.get(cell["workload"], 0.99)} | others
        wanted[factor] = cell[factor]
        assert wanted.items() <= cell.items()
        if cell["method"] == "farreach":
            assert (cell["snapshot_period_s"], cell["client_copies"]) == (10, True)


@pytest.mark.parametrize("profile", ["embedded", "paper"])
def test_cells_that_experiments_share_are_the_same(profile: str) -> None:
    """So that one measurement serves all of them (FarReach reference, section 9: reused)."""
    of_16 = ids("exp03_scalability", profile, servers=16)
    assert set(of_16) == set(METHODS)
    assert ids("exp04_write_ratio", profile, workload="workloada") == of_16
    all_writes = ids("exp04_write_ratio", profile, workload="synthetic")
    assert ids("exp05_key_distribution", profile, workload="synthetic") == all_writes
    assert ids("exp06_value_size", profile, value_bytes=128) == all_writes
    throughput = ids("exp01_throughput", profile, workload="workloada", servers=16)
    assert throughput.items() <= of_16.items()
    assert throughput
    reads = ids("exp01_throughput", profile, workload="workloadc", servers=16)
    assert reads.items() <= ids("exp04_write_ratio", profile, workload="workloadc").items()


def published(name: str) -> dict[tuple[str, str], dict[str, float]]:
    """metric, method -> value by the experiment's factor."""
    factor = LEVELS[name][0]
    found: dict[tuple[str, str], dict[str, float]] = {}
    file = EXPERIMENTS / "reference" / f"farreach_{name}.csv"
    with file.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            assert row["records"] == "100000000"
            values = found.setdefault((row["metric"], row["method"]), {})
            assert row[factor] not in values, "the same cell twice"
            values[row[factor]] = float(row["value"])
    return found


def test_published_numbers_are_those_of_the_authors() -> None:
    """The paper's claims, which were calculated from other digits than those of the tables."""
    for name in LEVELS.keys() - {"exp09_recovery"}:
        metrics = published(name)
        assert {method for _, method in metrics} == set(METHODS)
        for (metric, _), values in metrics.items():
            levels = {str(level) for level in LEVELS[name][1]}
            one_size = (name, metric) == ("exp06_value_size", "normalized_throughput")
            assert set(values) == ({"256"} if one_size else levels)
    assert gain("exp03_scalability", "128", "netcache") == pytest.approx(6.55, abs=0.01)
    assert gain("exp03_scalability", "128", "nocache") == pytest.approx(6.72, abs=0.01)
    assert gain("exp03_scalability", "64", "netcache") == pytest.approx(3.85, abs=0.01)
    assert gain("exp04_write_ratio", "synthetic", "netcache") == pytest.approx(2.86, abs=0.01)
    assert gain("exp05_key_distribution", "synthetic", "nocache") == pytest.approx(2.35, abs=0.01)
    assert gain("exp06_value_size", "256", "netcache") == pytest.approx(1.07, abs=0.01)


def gain(name: str, level: str, method: str) -> float:
    metrics = published(name)
    farreach, other = (metrics["aggregate_ops_per_s", m][level] for m in ("farreach", method))
    return farreach / other


needs_analyzer = pytest.mark.skipif(
    not ANALYZER.exists(), reason=f"there is no {ANALYZER}: run `make build` first"
)


def predicted(name: str, method: str, **levels: Any) -> Prediction:
    """Of the embedded profile, with traces that are short: they are not what is looked at."""
    wanted: Mapping[str, Any] = {"method": method} | levels
    (cell,) = (c for c in cells_at(name, "embedded") if wanted.items() <= c.parameters.items())
    analyzer = WorkloadAnalyzer(ANALYZER, 600.0)
    return analyzer.predict({**cell.parameters, "operations": 20_000}, 0)


@needs_analyzer
@pytest.mark.parametrize(
    ("name", "method", "levels", "normalized"),
    [
        # FarReach reference, section 5.5: calculated for it.
        ("exp03_scalability", "farreach", {"servers": 128}, 205.5),
        ("exp03_scalability", "nocache", {"servers": 128}, 22.57),
        ("exp05_key_distribution", "farreach", {"workload": "skewness-95"}, 22.26),
        # A switch that caches nothing leaves everything to the servers.
        ("exp06_value_size", "farreach", {"value_bytes": 256}, 11.10),
    ],
)
def test_predictions(name: str, method: str, levels: dict[str, Any], normalized: float) -> None:
    made = predicted(name, method, **levels)
    assert made.infinite.normalized == pytest.approx(normalized, rel=5e-4)


@needs_analyzer
def test_uniform_keys_are_counted() -> None:
    """Section 5.4: of 100 million keys the fullest of 16 partitions has 6,254,430."""
    made = predicted("exp05_key_distribution", "nocache", workload="uniform")
    assert made.infinite.normalized == pytest.approx(100_000_000 / 6_254_430, rel=1e-9)
