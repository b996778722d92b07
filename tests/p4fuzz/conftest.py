"""Import paths, and an examiner of random programs."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parent
sys.path[:0] = [str(REPOSITORY / "src"), str(TESTS)]

from p4fuzz.campaign import Examiner  # noqa: E402


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "p4run").exists():
        pytest.fail(f"no p4run in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


@pytest.fixture(scope="session")
def examiner(build_dir: Path) -> Examiner:
    return Examiner(build_dir)
