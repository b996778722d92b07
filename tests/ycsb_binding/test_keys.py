"""YCSB's keys are on the wire what the rest of the project makes of them (docs/workloads.md): the
switch caches the keys that YCSB asks for most.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from math import sqrt
from pathlib import Path

from tests.crash.rack import Rack

from .conftest import CACHED, RECORDS
from .ycsb import ONE_FIELD, WORKLOAD_A, Ycsb

OPERATIONS = 6_000
STANDARD_ERRORS = 5


def test_the_hottest_keys_are_those_of_the_workload_module(
    start_ycsb: Callable[..., tuple[Rack, Ycsb]], build_dir: Path
) -> None:
    """YCSB draws; what share of its draws the cached keys must have, workload-analyze knows."""
    _, ycsb = start_ycsb("farreach")
    sizes = {"recordcount": RECORDS, "operationcount": OPERATIONS}
    ycsb.run("-load", **WORKLOAD_A | ONE_FIELD | sizes)
    ran = ycsb.run("-t", **WORKLOAD_A | ONE_FIELD | sizes)
    share = ran.total("switch_ops") / OPERATIONS
    expected = _hit_mass(build_dir)
    error = sqrt(expected * (1 - expected) / OPERATIONS)
    assert abs(share - expected) < STANDARD_ERRORS * error, (share, expected)


def _hit_mass(build_dir: Path) -> float:
    options = {"--workload": "workloada", "--scales": "4", "--cached": CACHED, "--records": RECORDS}
    words = [str(word) for pair in options.items() for word in pair]
    done = subprocess.run(
        [build_dir / "bin" / "workload-analyze", *words, "--format", "json"],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    (scale,) = json.loads(done.stdout)["scales"]
    return scale["cached"]["hit_mass"]
