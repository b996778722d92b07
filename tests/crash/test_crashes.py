"""No acknowledged write is lost when nodes are killed (docs/kvcache.md §9).

`scripts/crash` goes through as many points as one has time for.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .points import run
from .rack import REQUIRES_ROOT

POINTS = 10  # of each method; FarReach's seed is one with many large writes


@pytest.mark.skipif(os.geteuid() != 0, reason=REQUIRES_ROOT)
@pytest.mark.parametrize(("method", "seed"), [("farreach", 4), ("netcache", 2)])
def test_acknowledged_writes_survive(
    build_dir: Path, tmp_path: Path, method: str, seed: int
) -> None:
    outcome = run(build_dir, tmp_path, method, seed, POINTS)
    checked = outcome.checked
    print(f"method {method}, seed {seed}: {', '.join(outcome.points)}")
    assert checked.acknowledged_writes > 0
    assert checked.ok, "\n".join([*checked.lost, checked.text])
