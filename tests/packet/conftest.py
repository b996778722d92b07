"""Targets with a program loaded, once per session; tables, registers and counters as new for every
test.

`memory` runs the program as it was built; `poisoned` runs it in memory too, with a pattern in the
fields of headers that become valid, so that what a program forgets to write is seen.
`bfrt` is softswitch, controlled over gRPC only (bfrt_target.py).
`TURNTABLE_PACKET_TARGETS=memory` (or another, or several with commas) leaves the others out;
`TURNTABLE_PORT_DRIVER=af_xdp` gives softswitch such ports, and skips frames too long for them.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from .bfrt_target import BfrtTarget
from .cache_switch import CACHE_PORTS, CacheSwitch
from .compilation import compile_program
from .live_switch import SoftswitchTarget
from .netclone_switch import NETCLONE_PORTS, NetCloneSwitch
from .nocache_tables import PORTS, all_entries
from .priority_switch import PRIORITY_PORTS, PrioritySwitch
from .targets import MemoryTarget, Target

REPOSITORY = Path(__file__).resolve().parents[2]
TARGETS = os.environ.get("TURNTABLE_PACKET_TARGETS", "memory,poisoned,softswitch,bfrt").split(",")
# Without that variable these alone run over bfrt, as the others' commands are no others.
OVER_BFRT = {
    *("test_farreach", "test_netclone", "test_netclone_control", "test_nocache_control"),
    *("test_priority", "test_priority_queues"),
}
LIVE = [kind for kind in TARGETS if kind in ("softswitch", "bfrt")]
PORTS_OF = {"nocache": PORTS, "netclone": NETCLONE_PORTS, "priority": PRIORITY_PORTS}
PORT_DRIVER = os.environ.get("TURNTABLE_PORT_DRIVER", "af_packet")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if "TURNTABLE_PACKET_TARGETS" in os.environ:
        return

    def is_left_out(item: pytest.Item) -> bool:
        here = item.path.parent == Path(__file__).parent and item.path.stem not in OVER_BFRT
        parameters = getattr(item, "callspec", None)
        return here and parameters is not None and "bfrt" in parameters.id.split("-")

    left_out = [item for item in items if is_left_out(item)]
    config.hook.pytest_deselected(items=left_out)
    items[:] = [item for item in items if item not in set(left_out)]


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "p4run").exists():
        pytest.fail(f"no p4run in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


def compile_poisoned(name: str, directory: Path, build_dir: Path, *, traced: bool) -> Path:
    """NAME.so of p4/NAME with TURNTABLE_POISON; if `traced`, it is NAME.trace.so that is there."""
    source = REPOSITORY / "p4" / name / f"{name}.p4"
    compile_program(source, [], directory, build_dir, traced=traced, poisoned=True)
    return directory / f"{name}.so"


def start(kind: str, name: str, build_dir: Path, directory: Path, p4_trace: str | None) -> Target:
    """The program p4/NAME on a target of this kind."""
    program = build_dir / "lib" / "p4" / f"{name}.so"
    if kind == "poisoned":
        program = compile_poisoned(name, directory, build_dir, traced=p4_trace is not None)
    if kind in ("memory", "poisoned"):
        return MemoryTarget(build_dir / "bin" / "p4run", program, p4_trace)
    if os.geteuid() != 0:
        pytest.skip("the target softswitch makes network namespaces: it needs root")
    binary = build_dir / "bin" / "softswitch"
    if not binary.exists():
        pytest.fail(f"{binary} does not exist; run `make build`")
    ports = PORTS_OF.get(name, CACHE_PORTS)
    if kind == "bfrt":
        return BfrtTarget(build_dir, program, directory, ports)
    return SoftswitchTarget(binary, program, directory, ports, p4_trace, PORT_DRIVER)


@pytest.fixture(scope="session")
def running(
    build_dir: Path, tmp_path_factory: pytest.TempPathFactory, p4_trace: str | None
) -> Iterator[Callable[[str, str], Target]]:
    """A program on a kind of target, started once."""
    targets: dict[tuple[str, str], Target] = {}

    def target(name: str, kind: str) -> Target:
        if (name, kind) not in targets:
            directory = tmp_path_factory.mktemp("switch")
            targets[name, kind] = start(kind, name, build_dir, directory, p4_trace)
        return targets[name, kind]

    yield target
    for running_target in targets.values():
        running_target.close()


@pytest.fixture(params=TARGETS)
def switch(request: pytest.FixtureRequest, running: Callable[[str, str], Target]) -> Target:
    """NoCache with the entries of 16 partitions and all counters at zero."""
    target = running("nocache", request.param)
    target.command("table_write", updates=all_entries())
    target.command("counter_clear")
    return target


@pytest.fixture(params=TARGETS)
def farreach(request: pytest.FixtureRequest, running: Callable[[str, str], Target]) -> CacheSwitch:
    """FarReach with 16 partitions and an empty cache."""
    return CacheSwitch(running("farreach", request.param))


@pytest.fixture(params=TARGETS)
def netcache(request: pytest.FixtureRequest, running: Callable[[str, str], Target]) -> CacheSwitch:
    """NetCache with 16 partitions and an empty cache."""
    return CacheSwitch(running("netcache", request.param))


@pytest.fixture(params=TARGETS)
def netclone(
    request: pytest.FixtureRequest, running: Callable[[str, str], Target]
) -> NetCloneSwitch:
    """NetClone with 4 logical servers on 2 hosts, and no state."""
    return NetCloneSwitch(running("netclone", request.param))


@pytest.fixture(params=TARGETS)
def priority(
    request: pytest.FixtureRequest, running: Callable[[str, str], Target]
) -> PrioritySwitch:
    """Priority with Homa's eight entries, and all counters at zero."""
    return PrioritySwitch(running("priority", request.param))


@pytest.fixture(params=LIVE)
def live_priority(
    request: pytest.FixtureRequest, running: Callable[[str, str], Target]
) -> PrioritySwitch:
    """The same on a target that has queues."""
    return PrioritySwitch(running("priority", request.param))


@pytest.fixture(params=[(name, kind) for name in ("farreach", "netcache") for kind in TARGETS],
                ids="-".join)  # fmt: skip
def any_cache(request: pytest.FixtureRequest, running: Callable[[str, str], Target]) -> CacheSwitch:
    """Both of them."""
    return CacheSwitch(running(*request.param))
