"""The C++ compiler that makes a shared library of a translated program."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from p4soft.run.errors import RunError
from p4soft.run.installation import Installation
from p4soft.run.processes import run_to_end

_USUAL = ("c++", "g++", "clang++")
_FLAGS = ("-std=c++20", "-fPIC", "-shared", "-w")
# A library with traces is for looking at packets, not for speed.
_OPTIMIZED, _TRACED = ("-O2",), ("-O0", "-DTURNTABLE_TRACE")
# What g++ finds out about pointers of a large program takes minutes, and makes no program faster.
_QUICKER_GNU = ("-fno-tree-pta",)


@dataclass(frozen=True)
class Compiler:
    path: str
    version: str  # the first line that `--version` prints

    def flags(self, *, traced: bool) -> tuple[str, ...]:
        quicker = () if "clang" in self.version else _QUICKER_GNU
        return (*_FLAGS, *(_TRACED if traced else _OPTIMIZED), *quicker)

    def compile(
        self, source: Path, library: Path, installation: Installation, *, traced: bool
    ) -> None:
        """Raises RunError with what the compiler printed."""
        command = [
            self.path, *self.flags(traced=traced), f"-I{installation.headers}", source,
            installation.runtime(), "-o", library,
        ]  # fmt: skip
        status, said = run_to_end(command, source.parent)
        if status != 0:
            raise RunError(
                f"{said.rstrip()}\n{self.version} cannot compile what p4soft made of the program "
                "(above); expected a compiler of C++20, g++ 11 or clang++ 14 or newer: name one "
                "with --compiler"
            )


def find(wanted: str | None) -> Compiler:
    """`wanted`, or what CXX names, or a usual one. Raises RunError."""
    named = wanted or os.environ.get("CXX")
    names = (named,) if named else _USUAL
    path = next(filter(None, map(shutil.which, names)), None)
    if path is None:
        raise RunError(
            f"there is no C++ compiler: {', '.join(names)} not found in PATH; expected one of "
            "C++20: install g++ (apt-get install g++), or name one with --compiler"
        )
    answer = subprocess.run([path, "--version"], capture_output=True, text=True, check=False)
    version = answer.stdout.partition("\n")[0]
    if answer.returncode != 0 or not version:
        raise RunError(f"{path} --version fails; expected a C++ compiler: name one with --compiler")
    return Compiler(path, version)
