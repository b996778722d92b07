"""YCSB's binding, compiled once, and racks for it whose stores are empty."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.crash.conftest import build_dir, start_rack
from tests.crash.rack import CONTROLLER, Rack, Setup

from .ycsb import Ycsb

__all__ = ["build_dir", "start_rack"]

REPOSITORY = Path(__file__).resolve().parents[2]
BUILD_DEADLINE_S = 600
RECORDS = 1_000
CACHED = 50


@pytest.fixture(scope="session")
def class_path() -> str:
    if shutil.which("mvn") is None:
        pytest.fail("mvn is not installed; run `make setup`")
    done = subprocess.run(
        [REPOSITORY / "scripts" / "ycsb-binding"],
        capture_output=True,
        text=True,
        check=False,
        timeout=BUILD_DEADLINE_S,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture
def start_ycsb(
    class_path: str, start_rack: Callable[[Setup], Rack], tmp_path: Path
) -> Callable[..., tuple[Rack, Ycsb]]:
    """A rack whose switch caches the keys that are the hottest of workload A, and YCSB on it."""

    def start(method: str, **setup: object) -> tuple[Rack, Ycsb]:
        # Of a trace that only inserts no key is loaded.
        rack = start_rack(
            Setup(method=method, profile="workload-load", records=RECORDS, warm=CACHED, **setup)
        )
        if rack.setup.caches:
            rack.settings(admission=False)
            hottest = rack.setup.workload | {"name": "workloada"}
            rack.call(CONTROLLER, "warm_up", workload=hottest, count=CACHED)
        return rack, Ycsb(rack, class_path, tmp_path / "ycsb")

    return start
