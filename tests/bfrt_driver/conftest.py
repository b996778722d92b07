"""softswitch <- bfrt-server <- bfrt-driver, or a client in Python in place of the driver."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPOSITORY / "tests"))

from packet.bfrt_target import BfrtTarget  # noqa: E402
from packet.nocache_tables import PORTS  # noqa: E402


@pytest.fixture(scope="session")
def build_dir() -> Path:
    return Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))


@pytest.fixture
def switch(build_dir: Path, tmp_path: Path) -> Iterator[BfrtTarget]:
    if os.geteuid() != 0:
        pytest.skip("softswitch's network namespaces need root")
    target = BfrtTarget(build_dir, build_dir / "lib" / "p4" / "nocache.so", tmp_path, PORTS)
    yield target
    target.close()
