"""`PYTHONPATH=src:tests python -m p4fuzz [--hours H] [--seed N] [--p4smith PATH | --p4testgen
PATH]` (make fuzz-translator).
"""

from __future__ import annotations

import argparse
import os
import shutil
import sys
import time
from collections import Counter
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from p4soft.cli import RECURSION_LIMIT

from .campaign import Opinion, Result, campaign, smith_work, testgen_work, work
from .p4smith import NO_PROGRAM, P4SmithError, Smithed, reason

_REPOSITORY = Path(__file__).resolve().parents[2]
_REPORT_SECONDS = 60


def main(arguments: list[str] | None = None) -> int:
    """Exit status: 0 no difference, 1 differences, 2 usage."""
    options = _options(arguments)
    sys.setrecursionlimit(RECURSION_LIMIT)
    build_dir = Path(os.environ.get("TURNTABLE_BUILD_DIR", _REPOSITORY / "build"))
    if not (build_dir / "bin" / "p4run").exists():
        print(
            f"p4fuzz: no p4run in {build_dir}/bin; run: make build TARGETS=p4run", file=sys.stderr
        )
        return 2
    failures = build_dir / "fuzz-translator"
    workers = options.jobs or os.cpu_count() or 1
    seconds = options.hours * 3600
    if options.p4smith is not None:
        examined = partial(
            smith_work, p4smith=options.p4smith, build_dir=build_dir, failures=failures
        )
        return _smith(campaign(examined, options.seed, seconds, workers), failures)
    if options.p4testgen is not None:
        asked = partial(
            testgen_work, p4testgen=options.p4testgen, build_dir=build_dir, failures=failures
        )
        return _testgen(campaign(asked, options.seed, seconds, workers), failures)
    totals = _Totals()
    examine = partial(work, build_dir=build_dir, failures=failures)
    for result in campaign(examine, options.seed, seconds, workers):
        totals.add(result)
        if result.difference is not None:
            directory = failures / f"seed-{result.seed}"
            print(f"seed {result.seed}: {result.difference.kind}; {directory}", flush=True)
    totals.report(options.seed)
    return 1 if totals.differences else 0


def _smith(outcomes: Iterator[Smithed], failures: Path) -> int:
    """What became of P4Smith's programs."""
    refusals: Counter[str] = Counter()
    programs = faults = last_seed = 0
    try:
        for outcome in outcomes:
            programs += 1
            last_seed = max(last_seed, outcome.seed)
            if outcome.refusal:
                refusals[outcome.refusal] += 1
            if outcome.fault is not None:
                faults += 1
                directory = failures / f"p4smith-{outcome.seed}"
                print(f"seed {outcome.seed}: {outcome.fault.kind}; {directory}", flush=True)
    except (OSError, P4SmithError) as error:
        print(f"p4fuzz: P4Smith wrote no program: {error}; --p4smith: the program p4smith of p4c",
              file=sys.stderr)  # fmt: skip
        return 2
    taken = programs - refusals.total() - faults
    print(
        f"{programs} programs of P4Smith: {taken} ran, {refusals.total()} refused, "
        f"{faults} faults; to go on: SEED={last_seed + 1}"
    )
    for text, count in refusals.most_common():
        print(f"{count:6} {text}")
    if refusals[NO_PROGRAM] == programs:
        print("p4fuzz: P4Smith wrote no program, so nothing was examined", file=sys.stderr)
        return 2
    return 1 if faults else 0


def _testgen(opinions: Iterator[Opinion], failures: Path) -> int:
    """Of programs for which P4Testgen writes no test the reasons are counted."""
    reasons: Counter[str] = Counter()
    programs = tests = failed = last_seed = 0
    for opinion in opinions:
        verdict, last_seed = opinion.verdict, max(last_seed, opinion.seed)
        programs += 1
        tests += verdict.total
        failed += len(verdict.failed)
        if verdict.skipped:
            reasons[reason(verdict.skipped)] += 1
        if verdict.failed:
            print(f"seed {opinion.seed}: {failures / f'p4testgen-{opinion.seed}'}", flush=True)
    print(
        f"{programs} programs: P4Testgen wrote {tests} tests of {programs - reasons.total()}, "
        f"{failed} failed; to go on: SEED={last_seed + 1}"
    )
    for text, count in reasons.most_common():
        print(f"{count:6} {text}")
    return 1 if failed else 0


class _Totals:
    """Counts, with a line once a minute."""

    def __init__(self) -> None:
        self.started = self.reported = time.monotonic()
        self.programs = self.frames = self.differences = 0
        self.last_seed = 0

    def add(self, result: Result) -> None:
        self.programs += 1
        self.frames += result.frames
        self.differences += result.difference is not None
        self.last_seed = max(self.last_seed, result.seed)
        if time.monotonic() - self.reported >= _REPORT_SECONDS:
            self.reported = time.monotonic()
            print(self._line(), flush=True)

    def _line(self) -> str:
        minutes = (time.monotonic() - self.started) / 60
        return (
            f"{minutes:6.1f} min  {self.programs} programs, {self.frames} packets, "
            f"{self.differences} differences"
        )

    def report(self, first_seed: int) -> None:
        rate = self.programs * 60 / max(time.monotonic() - self.started, 1e-9)
        print(
            f"{self._line()}; {rate:.0f} programs per minute, seeds {first_seed} to "
            f"{self.last_seed}; to go on: SEED={self.last_seed + 1}"
        )


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="p4fuzz", description="Random TNA programs: p4soft against an interpreter of its own."
    )
    parser.add_argument("--hours", type=_hours, default=0.1, help="how long (default: 0.1)")
    parser.add_argument("--seed", type=int, default=0, help="of the first program (default: 0)")
    parser.add_argument(
        "--jobs", type=_jobs, help="programs at a time (default: one per processor)"
    )
    others = parser.add_mutually_exclusive_group()
    others.add_argument(
        "--p4smith", type=Path, help="p4c's generator, whose programs are taken instead"
    )
    others.add_argument(
        "--p4testgen", type=_program, help="p4c's test generator, which is asked what is right"
    )
    return parser.parse_args(arguments)


def _program(text: str) -> Path:
    found = shutil.which(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"{text} is no program; expected the path of p4testgen")
    return Path(found).resolve()


def _jobs(text: str) -> int:
    jobs = int(text)
    if jobs < 1:
        raise argparse.ArgumentTypeError(f"{text} programs at a time; expected at least 1")
    return jobs


def _hours(text: str) -> float:
    hours = float(text)
    if not 0 <= hours < float("inf"):
        raise argparse.ArgumentTypeError(f"{text} hours; expected a number from 0")
    return hours


if __name__ == "__main__":
    sys.exit(main())
