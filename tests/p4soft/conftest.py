"""Import paths, and `load`: translates, compiles and runs a program under test.

This directory is no package, because a package `p4soft` here would hide the one under test.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
REPOSITORY = TESTS.parent
sys.path[:0] = [str(REPOSITORY / "src"), str(TESTS), str(TESTS / "p4soft")]

from packet.compilation import compile_program, precompile_runtime  # noqa: E402
from packet.live_switch import SoftswitchTarget  # noqa: E402
from packet.targets import MemoryTarget, Target  # noqa: E402

Load = Callable[[str], MemoryTarget]
# As for tests/packet: `memory` or `softswitch` leaves the other out.
CHOSEN = os.environ.get("TURNTABLE_PACKET_TARGETS", "memory,softswitch").split(",")
TARGETS = [target for target in CHOSEN if target in ("memory", "softswitch")]
LIVE_PORTS = [1, 2, 3, 5, 9, 10, 64]


@pytest.fixture(scope="session")
def build_dir() -> Path:
    path = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (path / "bin" / "p4run").exists():
        pytest.fail(f"no p4run in {path}/bin; run `make build` or set TURNTABLE_BUILD_DIR")
    return path


PROGRAMS = Path(__file__).parent / "programs"


def compile_text(text: str, directory: Path, build_dir: Path, *, traced: bool = False) -> Path:
    """NAME.so of a program's text; if `traced`, it is NAME.trace.so that is there."""
    name = "p" + hashlib.sha256(text.encode()).hexdigest()[:12]
    library = directory / f"{name}.so"
    made = library.with_suffix(".trace.so") if traced else library
    if made.exists():
        return library
    source = directory / f"{name}.p4"
    source.write_text(text)
    compile_program(source, [PROGRAMS], directory, build_dir, traced=traced)
    return library


@pytest.fixture(scope="session")
def p4_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """For compiled programs."""
    directory = tmp_path_factory.mktemp("programs")
    precompile_runtime(directory)
    return directory


@pytest.fixture(scope="session")
def library_of(build_dir: Path, p4_directory: Path, p4_trace: str | None) -> Callable[[str], Path]:
    """Translates and compiles a program's text, once."""
    traced = p4_trace is not None
    return lambda text: compile_text(text, p4_directory, build_dir, traced=traced)


@pytest.fixture(scope="session")
def traced_library_of(build_dir: Path, p4_directory: Path) -> Callable[[str], Path]:
    """As `library_of`, for tests that read traces."""
    return lambda text: compile_text(text, p4_directory, build_dir, traced=True)


@pytest.fixture(scope="package")
def load(
    build_dir: Path, library_of: Callable[[str], Path], p4_trace: str | None
) -> Iterator[Load]:
    """A running instance of a program; one per text, so tests must clear what they
    write.
    """
    running: dict[str, MemoryTarget] = {}

    def loaded(text: str) -> MemoryTarget:
        if text not in running:
            running[text] = MemoryTarget(build_dir / "bin" / "p4run", library_of(text), p4_trace)
        return running[text]

    yield loaded
    for target in running.values():
        target.close()


@pytest.fixture(scope="package")
def load_traced(build_dir: Path, p4_directory: Path) -> Iterator[Load]:
    """As `load`, with packets traced after `trace_start`."""
    running: dict[str, MemoryTarget] = {}

    def loaded(text: str) -> MemoryTarget:
        if text not in running:
            library = compile_text(text, p4_directory, build_dir, traced=True)
            running[text] = MemoryTarget(build_dir / "bin" / "p4run", library, "count=0")
        return running[text]

    yield loaded
    for target in running.values():
        target.close()


# Not longer: a program whose frames recirculate for ever takes a processor.
@pytest.fixture(scope="package", params=TARGETS)
def load_anywhere(
    request: pytest.FixtureRequest,
    build_dir: Path,
    library_of: Callable[[str], Path],
    tmp_path_factory: pytest.TempPathFactory,
    p4_trace: str | None,
) -> Iterator[Callable[[str], Target]]:
    """As `load`, on every target. Frames need 14 bytes there, ports are LIVE_PORTS."""
    if request.param == "softswitch" and os.geteuid() != 0:
        pytest.skip("the target softswitch makes network namespaces: it needs root")
    running: dict[str, Target] = {}

    def start(text: str) -> Target:
        if request.param == "memory":
            return MemoryTarget(build_dir / "bin" / "p4run", library_of(text), p4_trace)
        binary = build_dir / "bin" / "softswitch"
        directory = tmp_path_factory.mktemp("switch")
        return SoftswitchTarget(binary, library_of(text), directory, LIVE_PORTS, p4_trace)

    def loaded(text: str) -> Target:
        if text not in running:
            running[text] = start(text)
        return running[text]

    yield loaded
    for target in running.values():
        target.close()


@pytest.fixture(params=TARGETS)
def start_anywhere(
    request: pytest.FixtureRequest,
    build_dir: Path,
    library_of: Callable[[str], Path],
    tmp_path: Path,
    p4_trace: str | None,
) -> Iterator[Callable[[str, list[int], Sequence[str]], Target]]:
    """Starts a program with these ports and options on a target, for one test."""
    if request.param == "softswitch" and os.geteuid() != 0:
        pytest.skip("the target softswitch makes network namespaces: it needs root")
    started: list[Target] = []

    def start(text: str, ports: list[int], options: Sequence[str]) -> Target:
        library = library_of(text)
        if request.param == "memory":
            runner = build_dir / "bin" / "p4run"
            started.append(MemoryTarget(runner, library, p4_trace, options))
        else:
            binary = build_dir / "bin" / "softswitch"
            started.append(
                SoftswitchTarget(binary, library, tmp_path, ports, p4_trace, options=options)
            )
        return started[-1]

    yield start
    for target in started:
        target.close()
