"""What planning asks, netclone-simulate itself understands."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from turntable_systems.netclone import offered_load, prediction

from .conftest import REPOSITORY, parameters

PROGRAM = REPOSITORY / "build/bin/netclone-simulate"


def answer(**changes: Any) -> Any:
    if not PROGRAM.exists():
        pytest.skip(f"there is no {PROGRAM}: run `make build` first")
    question = prediction.question(parameters(**changes), 0) | {"requests": 1000}
    done = subprocess.run(
        [PROGRAM], input=json.dumps(question), capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


@pytest.mark.parametrize("arrivals", ["exponential", "uniform", "periodic"])
def test_arrivals_have_the_rate_that_is_asked_for(arrivals: str) -> None:
    asked = answer(arrivals=arrivals, target_rps=20_000)
    assert asked["rate_per_s"] * 100 == pytest.approx(20_000)


@pytest.mark.parametrize(("target", "published"), [(5_000, 4_278), (20_000, 19_322)])
def test_the_artifacts_arrivals_are_as_slow_as_published(target: int, published: int) -> None:
    """Per client, and a hundred times dilated; the reference, §5."""
    asked = answer(arrivals="legacy", target_rps=4 * target, clients=4)
    assert asked["rate_per_s"] * 100 / 4 == pytest.approx(published, abs=1)


@pytest.mark.parametrize("arrivals", ["exponential", "uniform", "periodic", "legacy"])
def test_windows_are_planned_for_the_rate_that_nodes_have(arrivals: str) -> None:
    changes = {"arrivals": arrivals, "target_rps": 16_000, "clients": 4}
    planned = offered_load.arriving_rps(parameters(**changes))
    assert answer(**changes)["rate_per_s"] == pytest.approx(planned)


@pytest.mark.parametrize("distribution", ["bimodal50", "fixed", "trimodal", "lognormal"])
@pytest.mark.parametrize("method", ["noclone", "cclone", "netclone-racksched", "laedge"])
def test_every_method_and_distribution_is_simulated(method: str, distribution: str) -> None:
    asked = answer(method=method, distribution=distribution, load=0.2)
    assert asked["delivered"] == pytest.approx(asked["offered"], rel=0.1)
