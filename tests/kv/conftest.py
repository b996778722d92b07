"""Where the built programs are: $TURNTABLE_BUILD_DIR, or build/ of this checkout."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "tests" / "histogram-encode").exists():
        pytest.fail(
            f"no test programs in {path}/tests; run `make build` or set TURNTABLE_BUILD_DIR"
        )
    return path
