"""How planning asks the simulation."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turntable_core import asked_program
from turntable_core.errors import PhaseError, TurntableError
from turntable_systems.netclone import prediction
from turntable_systems.netclone.prediction import Simulator

from .conftest import parameters
from .measured import histogram

STEADY = histogram({3_000: 990, 9_000: 10})
JUMPING = histogram({3_000: 985, 9_000: 15})
MANY, GROWN = histogram({3_000: 49_500, 9_000: 500}), histogram({12_000: 50_000})


def answer(**changes: object) -> dict:
    found = {"offered": 1000, "delivered": 999, "cloned": 500, "clones_dropped": 50}
    return found | {"latency_ns": STEADY, "half_latency_ns": [STEADY, STEADY]} | changes


def program(directory: Path, script: str) -> Path:
    path = directory / "netclone-simulate"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return path


def test_what_it_answers_is_the_prediction(tmp_path: Path) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(answer()))
    asked = tmp_path / "asked.json"
    simulate = program(tmp_path, f"cat > {asked}; cat {tmp_path}/answer.json")
    made = Simulator(simulate, 60.0, lambda: None).predict(parameters(), 2)
    assert (made.clone_rate, made.clones_dropped_share, made.saturated) == (0.5, 0.1, False)
    question = json.loads(asked.read_text())
    # Seed 7 and round 2; half of 3 x 8 slots, 100 x 28.5 us each.
    assert question["seed"] == 9
    assert question["rate_per_s"] == pytest.approx(0.5 * 24 / 2850e-6)
    assert question["work"]["workers"] == [8, 8, 8]


def test_a_long_simulation_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_program, "_TICK_S", 0.01)
    (tmp_path / "answer.json").write_text(json.dumps(answer()))
    told, go_on = [], tmp_path / "go_on"
    simulate = program(
        tmp_path, f"cat > /dev/null; until [ -e {go_on} ]; do :; done; cat {tmp_path}/answer.json"
    )

    def while_simulating() -> None:
        told.append(1)
        if len(told) == 3:
            go_on.touch()

    assert Simulator(simulate, 60.0, while_simulating).predict(parameters(), 0).clone_rate == 0.5
    assert len(told) >= 3


def test_one_that_does_not_end_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(asked_program, "_TICK_S", 0.01)
    simulate = program(tmp_path, "exec cat")
    simulate.write_text("#!/bin/sh\nwhile :; do :; done\n")
    with pytest.raises(PhaseError, match=r"no answer of .*netclone-simulate within 0.1 s"):
        Simulator(simulate, 0.1, lambda: None).predict(parameters(), 0)


def test_what_it_refuses_is_said(tmp_path: Path) -> None:
    simulate = program(tmp_path, "echo 'rate_per_s is 0' >&2; exit 1")
    with pytest.raises(TurntableError, match="ended with status 1: rate_per_s is 0"):
        Simulator(simulate, 60.0, lambda: None).predict(parameters(), 0)


def test_a_program_that_is_not_built_is_named(tmp_path: Path) -> None:
    with pytest.raises(TurntableError, match="build it with `make programs SYSTEM=netclone`"):
        Simulator(tmp_path / "netclone-simulate", 60.0, lambda: None).predict(parameters(), 0)


@pytest.mark.parametrize(
    ("changes", "saturated"),
    [
        ({}, False),
        ({"delivered": 979}, True),
        ({"half_latency_ns": [MANY, GROWN]}, True),
        # p99 jumps from one value to the other, the mean stays.
        ({"half_latency_ns": [STEADY, JUMPING]}, False),
    ],
)
def test_a_simulation_may_be_saturated(changes: dict, saturated: bool) -> None:
    assert prediction.from_answer(answer(**changes)).saturated is saturated


def test_without_a_clone_none_was_dropped() -> None:
    made = prediction.from_answer(answer(cloned=0, clones_dropped=0))
    assert (made.clone_rate, made.clones_dropped_share) == (0, None)
