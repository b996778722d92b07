"""Programs of P4Smith, p4c's own generator: what p4soft refuses is counted by reason, what it takes
has to compile, and has to survive random frames. What a program does with them nobody says: the
interpreter walks only trees of this package.
"""

from __future__ import annotations

import random
import re
import subprocess
import tempfile
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from packet.compilation import compile_program, precompile_runtime
from packet.targets import MemoryTarget

from .execution import Difference, no_library
from .switch_model import Frame

_ARGUMENTS = ("--target", "tofino", "--arch", "tna")
_LONGEST_FRAME = 200
NO_PROGRAM = "P4Smith itself failed"
_SIGNALS = 128


class P4SmithError(Exception):
    """P4Smith wrote no program; its last words."""


@dataclass(frozen=True)
class Smithed:
    """What became of one program. refusal: p4soft's reason, without names and numbers, or that
    there is no program; fault: of p4soft.
    """

    seed: int
    refusal: str = ""
    fault: Difference | None = None


class Smith:
    """Examines programs in a directory of its own."""

    def __init__(self, p4smith: Path, build_dir: Path) -> None:
        self._p4smith = p4smith
        self._build_dir = build_dir
        self._directory = tempfile.TemporaryDirectory(prefix="p4smith-")
        precompile_runtime(Path(self._directory.name))

    def examine(self, seed: int, count: int, failures: Path) -> Smithed:
        """count: of frames. The program at fault is written to `failures`. Raises P4SmithError."""
        path = Path(self._directory.name) / "program.p4"
        path.unlink(missing_ok=True)
        command = [self._p4smith, *_ARGUMENTS, "--seed", str(seed), path]
        made = subprocess.run(command, capture_output=True, text=True, check=False)
        # An assertion of its own; p4c tells of the signal by its exit status, as a shell does.
        if made.returncode < 0 or made.returncode > _SIGNALS:
            return Smithed(seed, refusal=NO_PROGRAM)
        if made.returncode or not path.exists():
            words = (made.stderr or made.stdout).strip().splitlines()
            raise P4SmithError(words[-1] if words else f"ended with status {made.returncode}")
        fault = self._fault(path, _frames(seed, count))
        if fault is not None and fault.kind == "refused":
            return Smithed(seed, refusal=reason(fault.text))
        if fault is not None:
            directory = failures / f"p4smith-{seed}"
            directory.mkdir(parents=True, exist_ok=True)
            (directory / path.name).write_text(path.read_text())
            (directory / "difference.txt").write_text(f"{fault.kind}\n{fault.text}\n")
        return Smithed(seed, fault=fault)

    def _fault(self, path: Path, frames: Sequence[Frame]) -> Difference | None:
        with tempfile.TemporaryFile("w+") as messages:
            try:
                library = compile_program(path, [], path.parent, self._build_dir, messages=messages)
            except Exception as error:  # whatever it is, the translator is at fault
                return no_library(error, messages)
        target = MemoryTarget(self._build_dir / "bin" / "p4run", library)
        try:
            for port, frame in frames:
                target.send(port, frame)
        except (RuntimeError, BrokenPipeError) as error:
            return Difference("runner", str(error))
        finally:
            with suppress(AssertionError, BrokenPipeError):  # it has been told as `runner`
                target.close()
        return None


def _frames(seed: int, count: int) -> list[Frame]:
    chooser = random.Random(seed)
    return [
        (chooser.randrange(64), chooser.randbytes(chooser.randrange(1, _LONGEST_FRAME)))
        for _ in range(count)
    ]


def reason(text: str) -> str:
    """A message of p4soft without file, line, names, types and numbers."""
    first = text.splitlines()[0].rpartition("error: ")[2]
    first = re.sub(r"'[^']*'", "'…'", first)
    first = re.sub(r"\b\w+(<\d+>|\[\d+\])", "TYPE", first)
    return re.sub(r"-?\b\d+\b", "N", first)
