"""Racks for tests: gone afterwards, and shown by their logs when a test fails."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from .rack import REQUIRES_ROOT, Rack, Setup

REPOSITORY = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "switch-agent").exists():
        pytest.fail(f"no switch-agent in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


@pytest.fixture
def start_rack(build_dir: Path, tmp_path: Path) -> Iterator[Callable[[Setup], Rack]]:
    """Starts the rack of a setup; what its nodes say comes with the test's output."""
    if os.geteuid() != 0:
        pytest.skip(REQUIRES_ROOT)
    with ExitStack() as racks:

        def start(setup: Setup) -> Rack:
            rack = racks.enter_context(Rack(build_dir, tmp_path, setup))
            racks.callback(lambda: print(rack.logs()))
            rack.start()
            return rack

        yield start
