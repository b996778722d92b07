"""An oracle from outside: P4Testgen of p4c writes packet tests for TNA programs, and p4soft's
translation must pass them.

    make p4testgen P4TESTGEN=/path/to/p4testgen [P4TESTGEN_SAMPLES=DIRECTORY] [P4TESTGEN_TESTS=DIR]

tests this repository's programs or, if given, every program of a directory, such as that of p4c's
TNA samples. A sample that p4soft refuses as unsupported, or for which P4Testgen writes no test, is
named and not counted. With P4TESTGEN_TESTS what P4Testgen has written is kept there, and used
again. Exit status: 0 if all tests of this repository's programs but those that P4Testgen is known
to have wrong, or 90 % of the samples' tests, pass, 1 if not, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from resource import RLIMIT_CPU, setrlimit

from p4soft.errors import P4Error

from .compilation import REPOSITORY, compile_program, precompile_runtime
from .ptf_file import PtfFileError, PtfTest, parse_ptf, play
from .targets import CommandFailedError, MemoryTarget

OURS = ("p4/*/*.p4", "tests/p4soft/programs/*.p4")
SAMPLES_GOAL = 0.9
SEED = 1
FRONT_PORTS = range(64)  # P4Testgen knows no others, in and out
GENERATION_LIMIT_S = 60
COVERING = ("--path-selection", "GREEDY_STATEMENT_SEARCH", "--track-coverage", "STATEMENTS")
DEPTH_FIRST = ("--path-selection", "DEPTH_FIRST")
# In tests of this repository's programs: how they fail, and why that is no fault of p4soft's.
MISTAKES = {
    "netclone": (
        r"register \S+: first is \d+, not below its size",
        "it writes a cell there is not",
    ),
    "stateful_firewall": (
        r"missing: \['port \d+ 0{24}080005",
        "it takes the CRC-32 of twelve zero bytes to be zero, not 0x7bd5c66f",
    ),
}
ERROR = r"^.*(?i:\berror\b|unimplemented|\bbug\b|not supported).*$"


@dataclass
class Verdict:
    """What became of one program."""

    program: str
    passed: int = 0
    failed: list[str] = field(default_factory=list)  # test: reason
    mistaken: list[str] = field(default_factory=list)  # in `failed`, too: P4Testgen's mistakes
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
    """The program p4testgen, what it is asked for, and where it writes."""

    executable: Path
    tests: int  # of a program, at most
    directory: Path
    limit_s: int = GENERATION_LIMIT_S  # of a processor's time, for a program

    def tests_of(self, program: Path, include: Sequence[Path]) -> list[PtfTest]:
        """Written now or earlier. Raises RuntimeError with p4testgen's last words."""
        directory = self.directory / program.stem
        if not directory.exists():
            words = self._write(program, include, directory)
            # Of some programs no path is found that way within the time.
            if not _read(directory):
                words = self._write(program, include, directory, *DEPTH_FIRST)
            (directory / "p4testgen.txt").write_text(words)
        tests = _read(directory)
        if not tests:
            words = (directory / "p4testgen.txt").read_text()
            error = re.search(ERROR, words, flags=re.MULTILINE)
            reason = error[0] if error else f"no path ends within {self.limit_s} s"
            raise RuntimeError(f"p4testgen wrote no test: {reason}")
        return tests

    def _write(
        self,
        program: Path,
        include: Sequence[Path],
        directory: Path,
        *selection: str,
    ) -> str:
        """Returns what p4testgen said."""
        # It drops files into its working directory.
        directory.mkdir(parents=True, exist_ok=True)
        directories = [self.executable.parent / "p4include", *include]
        command = [
            self.executable, "--target", "tofino", "--arch", "tna", "--std", "p4-16",
            *(word for path in directories for word in ("-I", path)),
            "-D__TARGET_TOFINO__=1", "--test-backend", "PTF", "--port-ranges",
            f"{FRONT_PORTS.start}:{FRONT_PORTS.stop - 1}",
            "--max-tests", self.tests, "--seed", SEED, *(selection or COVERING),
            "--out-dir", directory, program,
        ]  # fmt: skip
        with tempfile.TemporaryFile("w+") as words:
            # Whatever ends it, the tests that it has written count.
            subprocess.run(
                list(map(str, command)),
                cwd=directory,
                stdout=words,
                stderr=subprocess.STDOUT,
                preexec_fn=lambda: setrlimit(RLIMIT_CPU, (self.limit_s, self.limit_s)),
                check=False,
            )
            words.seek(0)
            return words.read()


def _read(directory: Path) -> list[PtfTest]:
    files = sorted(directory.rglob("*.py"))
    return [test for path in files for test in parse_ptf(path.read_text())]


@dataclass(frozen=True)
class Player:
    """Plays the tests of programs on p4run."""

    generator: Generator
    build: Path
    directory: Path  # where precompile_runtime was

    def judge(self, program: Path, include: Sequence[Path] = ()) -> Verdict:
        verdict = Verdict(program.stem)
        directories = [program.parent, *include]
        try:
            library = compile_program(program, directories, self.directory, self.build)
            tests = self.generator.tests_of(program, directories)
        except P4Error as error:
            verdict.skipped = f"not translated: {error.message}"
        except (RuntimeError, PtfFileError) as error:
            verdict.skipped = f"not tested: {error}"
        except subprocess.CalledProcessError:
            verdict.failed.append("C++ that does not compile")
        else:
            for test in tests:
                self._play(test, library, verdict)
        return verdict

    def _play(self, test: PtfTest, library: Path, verdict: Verdict) -> None:
        """On a fresh p4run, because a test begins with empty tables and registers."""
        target = MemoryTarget(self.build / "bin" / "p4run", library)
        try:
            play(test, target, FRONT_PORTS)
        except (AssertionError, PtfFileError, CommandFailedError) as reason:
            verdict.failed.append(f"{test.name}: {reason}")
            mistake, why = MISTAKES.get(verdict.program, ("(?!)", ""))
            if re.search(mistake, str(reason)):
                verdict.failed[-1] += f"\n      P4Testgen's mistake: {why}"
                verdict.mistaken.append(verdict.failed[-1])
            target.close()
        except RuntimeError as crash:  # p4run is gone
            verdict.failed.append(f"{test.name}: {crash}")
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
    """No, too, where nothing was tested."""
    tested = [verdict for verdict in verdicts if not verdict.skipped]
    return bool(tested) and sum(v.passed for v in tested) >= goal * sum(v.total for v in tested)


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    with tempfile.TemporaryDirectory(prefix="p4testgen-") as temporary:
        directory = Path(temporary)
        tests = options.tests_dir or directory / "tests"
        generator = Generator(options.p4testgen, options.tests, tests.resolve())
        player = Player(generator, options.build, directory)
        precompile_runtime(directory)
        # Ours must all be tested; a sample that is not supported is no failure.
        if options.samples:
            verdicts = judge_all("Samples", player, options.samples, ["**/*.p4"], options.only)
            return 0 if passes(verdicts, SAMPLES_GOAL) else 1
        verdicts = judge_all("This repository", player, REPOSITORY, OURS, options.only)
        tested = all(not verdict.skipped for verdict in verdicts)
        good = all(verdict.failed == verdict.mistaken for verdict in verdicts)
        return 0 if verdicts and tested and good else 1


def only_tops(paths: Iterable[Path]) -> list[Path]:
    """Those that are programs for Tofino 1; others are included by them, or are for Tofino 2."""
    texts = {path: path.read_text() for path in paths}
    only_2 = {p for p, text in texts.items() if "<t2na.p4>" in text and "<tna.p4>" not in text}
    return [path for path, text in texts.items() if "main;" in text and path not in only_2]


def judge_all(
    title: str, player: Player, root: Path, patterns: Iterable[str], only: str
) -> list[Verdict]:
    print(f"{title}:")
    programs = [path for pattern in patterns for path in sorted(root.glob(pattern))]
    verdicts = []
    for program in only_tops(path for path in programs if only in path.stem):
        verdicts.append(player.judge(program, [root]))
        print(verdicts[-1], flush=True)
    print(summary(title, verdicts) + "\n")
    return verdicts


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="p4testgen", description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument(
        "--p4testgen", type=Path, required=True, help="the program, built for tofino"
    )
    parser.add_argument("--samples", type=Path, help="a directory of TNA programs, instead of ours")
    parser.add_argument("--tests-dir", type=Path, help="keeps the tests, and takes those there")
    parser.add_argument("--only", default="", help="programs whose names contain this")
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
