"""An oracle from outside: P4Testgen of p4c writes packet tests for TNA programs, and p4soft's
translation must pass them.

    make p4testgen P4TESTGEN=/path/to/p4testgen [P4TESTGEN_SAMPLES=DIRECTORY]

tests this repository's programs and, if given, every program of a directory, such as that of p4c's
TNA samples. A sample that p4soft refuses as unsupported is named and not counted. Exit status: 0
if all tests of this repository's programs and 90 % of the samples' pass, 1 if not, 2 for wrong
usage.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from p4soft.errors import P4Error

from .compilation import REPOSITORY, compile_program, precompile_runtime
from .stf import StfError, parse_stf, play
from .targets import CommandFailedError, MemoryTarget

OURS = ("p4/*/*.p4", "tests/p4soft/programs/*.p4")
SAMPLES_GOAL = 0.9
SEED = 1
FRONT_PORTS = range(64)  # P4Testgen knows no others, in and out
GENERATION_TIMEOUT_S = 600


@dataclass
class Verdict:
    """What became of one program."""

    program: str
    passed: int = 0
    failed: list[str] = field(default_factory=list)  # test: reason
    skipped: str = ""  # why nothing was run

    @property
    def total(self) -> int:
        return self.passed + len(self.failed)

    def __str__(self) -> str:
        if self.skipped:
            return f"  {self.program:32} {self.skipped}"
        lines = [f"  {self.program:32} {self.passed} of {self.total}"]
        return "\n".join([*lines, *(f"    {reason}" for reason in self.failed)])


@dataclass(frozen=True)
class Generator:
    """The program p4testgen, and what it is asked for."""

    executable: Path
    tests: int

    def write_tests(self, program: Path, directory: Path) -> list[Path]:
        """STF files for a program; raises RuntimeError with p4testgen's last words."""
        # It drops files into its working directory.
        directory.mkdir()
        command = [
            self.executable, "--target", "tofino", "--arch", "tna", "--std", "p4-16",
            "-I", self.executable.parent / "p4include", "-I", program.parent,
            "-D__TARGET_TOFINO__=1", "--test-backend", "STF", "--port-ranges",
            f"{FRONT_PORTS.start}:{FRONT_PORTS.stop - 1}",
            "--max-tests", self.tests, "--seed", SEED,
            "--out-dir", directory, program,
        ]  # fmt: skip
        result = subprocess.run(
            list(map(str, command)),
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=GENERATION_TIMEOUT_S,
            check=False,
        )
        tests = sorted(directory.rglob("*.stf"))
        if not tests:
            words = [line for line in result.stdout.splitlines() if line.strip()]
            errors = [line for line in words if "error" in line.lower()] or words or ["nothing"]
            raise RuntimeError(f"p4testgen wrote no test (status {result.returncode}): {errors[0]}")
        return tests


@dataclass(frozen=True)
class Player:
    """Plays the tests of programs on p4run."""

    generator: Generator
    build: Path
    directory: Path  # where precompile_runtime was

    def judge(self, program: Path) -> Verdict:
        verdict = Verdict(program.stem)
        try:
            library = compile_program(program, [program.parent], self.directory, self.build)
            tests = self.generator.write_tests(program, self.directory / f"{program.stem}.tests")
        except P4Error as error:
            verdict.skipped = f"not translated: {error.message}"
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            verdict.skipped = f"not tested: {error}"
        else:
            for test in tests:
                self._play(test, library, verdict)
        return verdict

    def _play(self, path: Path, library: Path, verdict: Verdict) -> None:
        """On a fresh p4run, because a test begins with empty tables and registers."""
        target = MemoryTarget(self.build / "bin" / "p4run", library)
        try:
            play(parse_stf(path.read_text()), target, FRONT_PORTS)
        except (AssertionError, StfError, CommandFailedError) as reason:
            verdict.failed.append(f"{path.name}: {reason}")
            target.close()
        except RuntimeError as crash:  # p4run is gone
            verdict.failed.append(f"{path.name}: {crash}")
        else:
            verdict.passed += 1
            target.close()


def summary(title: str, verdicts: Sequence[Verdict]) -> str:
    tested = [verdict for verdict in verdicts if not verdict.skipped]
    passed, total = sum(v.passed for v in tested), sum(v.total for v in tested)
    share = f" ({passed / total:.1%})" if total else ""
    skipped = len(verdicts) - len(tested)
    return (
        f"{title}: {passed} of {total} tests pass{share}, of {len(tested)} programs; "
        f"{skipped} not tested"
    )


def passes(verdicts: Iterable[Verdict], goal: float) -> bool:
    tested = [verdict for verdict in verdicts if not verdict.skipped]
    return sum(v.passed for v in tested) >= goal * sum(v.total for v in tested)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="p4testgen-") as temporary:
        player = Player(Generator(options.p4testgen, options.tests), options.build, Path(temporary))
        precompile_runtime(player.directory)
        programs = [path for pattern in OURS for path in sorted(REPOSITORY.glob(pattern))]
        ours = judge_all("This repository", player, programs)
        samples = []
        if options.samples:
            samples = judge_all("Samples", player, sorted(options.samples.rglob("*.p4")))
    # Ours must all be tested; a sample that is not supported is no failure.
    good = passes(ours, 1) and all(not verdict.skipped for verdict in ours)
    return 0 if good and passes(samples, SAMPLES_GOAL) else 1


def only_tops(paths: Iterable[Path]) -> list[Path]:
    """Those that are programs for Tofino 1; others are included by them, or are for Tofino 2."""
    texts = {path: path.read_text() for path in paths}
    only_2 = {p for p, text in texts.items() if "<t2na.p4>" in text and "<tna.p4>" not in text}
    return [path for path, text in texts.items() if "main;" in text and path not in only_2]


def judge_all(title: str, player: Player, programs: Iterable[Path]) -> list[Verdict]:
    print(f"{title}:")
    verdicts = []
    for program in only_tops(programs):
        verdicts.append(player.judge(program))
        print(verdicts[-1], flush=True)
    print(summary(title, verdicts) + "\n")
    return verdicts


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="p4testgen", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--p4testgen", type=Path, required=True, help="the program, built for tofino"
    )
    parser.add_argument("--samples", type=Path, help="a directory of more TNA programs")
    parser.add_argument("--tests", type=int, default=10, help="per program at most (10)")
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build")
    options = parser.parse_args(arguments)
    options.build = options.build.resolve()
    found = shutil.which(options.p4testgen)
    if found is None:
        parser.error(
            f"{options.p4testgen} is no program; expected P4TESTGEN=/path/to/p4testgen of a p4c "
            "built with its Tofino back end and test tools (docs/p4soft.md)"
        )
    options.p4testgen = Path(found).resolve()
    if options.samples and not options.samples.is_dir():
        parser.error(f"{options.samples} is no directory")
    if not (options.build / "bin" / "p4run").exists():
        parser.error(f"no p4run in {options.build}/bin; run `make build` first")
    return options


if __name__ == "__main__":
    sys.exit(main())
