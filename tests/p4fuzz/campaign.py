"""Programs by their seeds, one after another: each translated, run and compared; what differs is
made small and written down.
"""

from __future__ import annotations

import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from packet.compilation import precompile_runtime
from packet.p4testgen import Generator, Player, Verdict

from .execution import Difference, difference
from .frames import frames_for
from .generate_program import generate
from .minimise import Case, minimised
from .p4smith import Smith, Smithed
from .print_program import source_of

Outcome = TypeVar("Outcome")
FRAMES = 60  # of each program
_ATTEMPTS = 250  # to make one smaller: some minutes


@dataclass(frozen=True)
class Result:
    """Of one program."""

    seed: int
    frames: int
    difference: Difference | None


class Examiner:
    """Compares programs in a directory of its own."""

    def __init__(self, build_dir: Path) -> None:
        self._directory = tempfile.TemporaryDirectory(prefix="p4fuzz-")
        self._build_dir = build_dir
        precompile_runtime(Path(self._directory.name))

    def examine(self, seed: int) -> tuple[Case, Difference | None]:
        case = case_of(seed)
        return case, self.difference(case)

    def difference(self, case: Case) -> Difference | None:
        source = source_of(case.program)
        directory = Path(self._directory.name)
        return difference(case.program, source, case.frames, directory, self._build_dir)

    def minimised(self, case: Case, found: Difference, attempts: int = _ATTEMPTS) -> Case:
        def is_at_fault(smaller: Case) -> bool:
            now = self.difference(smaller)
            return now is not None and _is_same(now, found)

        return minimised(case, is_at_fault, attempts)


def case_of(seed: int) -> Case:
    program = generate(seed)
    return Case(program, frames_for(program, seed, FRAMES))


def _is_same(one: Difference, other: Difference) -> bool:
    """Of refusals and crashes only those that say the same, but for names and numbers."""
    if one.kind != other.kind:
        return False
    return one.kind in ("frames", "cells", "digests") or _words(one.text) == _words(other.text)


def _words(text: str) -> list[str]:
    """Of the first line, those without digits."""
    first = text.splitlines()[0] if text else ""
    return [word for word in first.split() if word.strip("',:;()").isalpha()]


# --- Many, side by side -----------------------------------------------------------------------

_examiner: Examiner | None = None


def work(seed: int, build_dir: Path, failures: Path) -> Result:
    global _examiner  # noqa: PLW0603 - one per process: the compiled header stays
    if _examiner is None:
        _examiner = Examiner(build_dir)
    case, found = _examiner.examine(seed)
    if found is not None:
        write_failure(failures / f"seed-{seed}", case, found)
        smaller = _examiner.minimised(case, found)
        now = _examiner.difference(smaller)
        assert now is not None
        write_failure(failures / f"seed-{seed}" / "minimised", smaller, now)
    return Result(seed, len(case.frames), found)


def write_failure(directory: Path, case: Case, found: Difference) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "program.p4").write_text(source_of(case.program))
    (directory / "difference.txt").write_text(f"{found.kind}\n{found.text}\n")
    frames = "".join(f"{port} {frame.hex()}\n" for port, frame in case.frames)
    (directory / "frames.txt").write_text(frames)


_smith: Smith | None = None


def smith_work(seed: int, p4smith: Path, build_dir: Path, failures: Path) -> Smithed:
    global _smith  # noqa: PLW0603 - as _examiner
    if _smith is None:
        _smith = Smith(p4smith, build_dir)
    return _smith.examine(seed, FRAMES, failures)


_TESTS_OF_A_PROGRAM = 10  # by P4Testgen
_TESTGEN_LIMIT_S = 10  # of a processor


@dataclass(frozen=True)
class Opinion:
    """P4Testgen's of one program: how many of its tests p4soft's translation passes."""

    seed: int
    verdict: Verdict


def testgen_work(seed: int, p4testgen: Path, build_dir: Path, failures: Path) -> Opinion:
    """A program that fails tests is written to `failures`, with what P4Testgen wrote."""
    case = case_of(seed)
    with tempfile.TemporaryDirectory(prefix="p4fuzz-") as name:
        directory = Path(name)
        path = directory / f"seed-{seed}.p4"
        path.write_text(source_of(case.program))
        tests = directory / "tests"
        generator = Generator(p4testgen, _TESTS_OF_A_PROGRAM, tests, _TESTGEN_LIMIT_S)
        verdict = Player(generator, build_dir, directory).judge(path)
        if verdict.failed:
            kept = failures / f"p4testgen-{seed}"
            shutil.copytree(tests, kept, dirs_exist_ok=True)
            shutil.copy(path, kept / "program.p4")
            (kept / "difference.txt").write_text(f"{verdict}\n")
    return Opinion(seed, verdict)


def campaign(
    work: Callable[[int], Outcome], first_seed: int, seconds: float, workers: int
) -> Iterator[Outcome]:
    """What work says of each seed, as it comes, until the time is over: at least one. What was
    begun is ended.
    """
    end = time.monotonic() + seconds
    seed = first_seed
    with ProcessPoolExecutor(workers) as pool:
        running: set[Future[Outcome]] = set()
        while time.monotonic() < end or running or seed == first_seed:
            while len(running) < workers and (time.monotonic() < end or seed == first_seed):
                running.add(pool.submit(work, seed))
                seed += 1
            done, running = wait(running, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)
