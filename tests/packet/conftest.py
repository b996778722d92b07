"""Targets with NoCache loaded, once per session; tables and counters as new for every test.

`TURNTABLE_PACKET_TARGETS=memory` (or `softswitch`) leaves the other targets out.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from .live_switch import SoftswitchTarget
from .nocache_tables import PORTS, all_entries
from .targets import MemoryTarget, Target

REPOSITORY = Path(__file__).resolve().parents[2]
TARGETS = os.environ.get("TURNTABLE_PACKET_TARGETS", "memory,softswitch").split(",")


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "p4run").exists():
        pytest.fail(f"no p4run in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


@pytest.fixture(scope="session", params=TARGETS)
def nocache(
    request: pytest.FixtureRequest,
    build_dir: Path,
    tmp_path_factory: pytest.TempPathFactory,
    p4_trace: str | None,
) -> Iterator[Target]:
    program = build_dir / "lib" / "p4" / "nocache.so"
    target: Target
    if request.param == "memory":
        target = MemoryTarget(build_dir / "bin" / "p4run", program, p4_trace)
    else:
        if os.geteuid() != 0:
            pytest.skip("the target softswitch makes network namespaces: it needs root")
        binary = build_dir / "bin" / "softswitch"
        if not binary.exists():
            pytest.fail(f"{binary} does not exist; run `make build`")
        directory = tmp_path_factory.mktemp("switch")
        target = SoftswitchTarget(binary, program, directory, PORTS, p4_trace)
    yield target
    target.close()


@pytest.fixture
def switch(nocache: Target) -> Target:
    """NoCache with the entries of 16 partitions and all counters at zero."""
    nocache.command("table_write", updates=all_entries())
    nocache.command("counter_clear")
    return nocache
