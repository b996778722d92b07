"""The programs under test ($TURNTABLE_BUILD_DIR, or build/ of this checkout) and running nodes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .nodes import Node, running

REPOSITORY = Path(__file__).resolve().parents[2]
ADDRESS = "127.0.0.1"


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "tests" / "histogram-encode").exists():
        pytest.fail(
            f"no test programs in {path}/tests; run `make build` or set TURNTABLE_BUILD_DIR"
        )
    return path


@pytest.fixture(scope="module")
def run_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kv")


@pytest.fixture(scope="module")
def server(build_dir: Path, run_dir: Path) -> Iterator[Node]:
    options = ("--state-dir", str(run_dir / "state"), "--address", ADDRESS)
    with running(build_dir / "bin" / "kvserver", run_dir, *options) as node:
        yield node


@pytest.fixture(scope="module")
def client(build_dir: Path, run_dir: Path) -> Iterator[Node]:
    with running(build_dir / "bin" / "kvclient", run_dir, "--address", ADDRESS) as node:
        yield node
