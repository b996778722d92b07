"""M/M/W against numbers of others."""

from __future__ import annotations

import math

import pytest

from turntable.systems.netclone import closed_form

from .conftest import parameters


def noclone(**changes: object) -> dict:
    return parameters(method="noclone", jitter_probability=0, **changes)


def test_one_worker_is_an_exponential_distribution() -> None:
    """M/M/1: the latency is exponential with mean 1 / (mu - lambda)."""
    found = closed_form.percentiles(noclone(workers=1, load=0.5))
    for name, share in closed_form.COLUMNS.items():
        assert found[name] == pytest.approx(-50 * math.log(1 - share))


@pytest.mark.parametrize(
    ("workers", "load", "share"),
    # Erlang C tables: 5 servers at 4 erlangs, 10 at 8, 2 at 1.
    [(5, 0.8, 0.5541), (10, 0.8, 0.4092), (2, 0.5, 0.3333)],
)
def test_the_share_that_waits_is_erlangs(workers: int, load: float, share: float) -> None:
    assert closed_form.erlang_c(workers, load) == pytest.approx(share, abs=1e-4)


def test_an_idle_server_only_serves() -> None:
    found = closed_form.percentiles(noclone(workers=8, load=0.001))
    assert found["closed_form_p99_us"] == pytest.approx(25 * math.log(100), rel=1e-3)


@pytest.mark.parametrize(
    "other",
    [
        {"method": "netclone"},
        {"jitter_probability": 0.01},
        {"distribution": "bimodal25"},
        {"arrivals": "uniform"},
        {"unequal_workers": "8+8+4"},
        {"load": 1.0},
    ],
)
def test_what_theory_does_not_know_has_no_value(other: dict) -> None:
    assert set(closed_form.percentiles(noclone() | other).values()) == {None}
