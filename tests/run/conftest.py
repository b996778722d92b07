"""A small experiment of a system of its own (fakes/), so that tests do not change when the shipped
ones do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

import turntable_systems
from small_experiment import (  # noqa: F401  # fixtures, and what tests import from here
    DELETE,
    experiment,
    experiments,
    scale,
    with_changes,
    write_experiment,
)
from turntable_core import systems

REPOSITORY = Path(__file__).resolve().parents[2]

DOCUMENT = {
    "experiment": "tiny",
    "title": "A small experiment",
    "system": "fake",
    "source": "these tests",
    "factors": {"method": ["plain"], "load": ["light", "heavy"], "stations": [4]},
    "constants": {
        "size": 1000,
        "share": 0.99,
        "bytes": 128,
        "users": 8,
        "limit_per_s": 100,
        "operations": {"by": "stations", "values": {4: 2000}, "otherwise": 5000},
        "pause_s": 0,
        "warmup_s": 1,
    },
    "deadlines": {"start_nodes": 10, "configure": 10, "command": 5},
    "validity": {"utilization": [0.97, 1.03], "loss_share_max": 0.001},
    "profiles": {
        "smoke": {"rounds": 2, "constants": {"measure_s": 1}},
        "unfinished": {"rounds": 1},
    },
}


@pytest.fixture(autouse=True)
def _fake_system(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The only one there is."""
    monkeypatch.setattr(
        turntable_systems, "__path__", [str(Path(__file__).parent / "fakes/systems")]
    )
    systems.find.cache_clear()
    yield
    systems.find.cache_clear()


@pytest.fixture
def document() -> dict:
    return DOCUMENT


def changed(values: Mapping[str, object]) -> dict:
    """DOCUMENT with the values at dotted paths replaced; DELETE removes one."""
    return with_changes(DOCUMENT, values)
