"""Where a program's other half is: the runtime's headers and library, softswitch, the servers.

a checkout      src/p4soft      src/dataplane       build/src/dataplane   build/bin
installed       any place below PREFIX/include/     PREFIX/lib            PREFIX/bin
                PREFIX/lib      turntable
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from p4soft.run.errors import RunError

_PACKAGE = Path(__file__).resolve().parents[1]
_HEADER = Path("dataplane/generated_program.h")
_LIBRARY = "libturntable_dataplane.a"


@dataclass(frozen=True)
class Installation:
    headers: Path  # a directory with dataplane/
    library: Path
    programs: Path  # a directory
    remedy: str  # how what is missing gets there

    def program(self, name: str) -> Path:
        """The path of a program beside p4soft, or else in PATH. Raises RunError."""
        path = self.programs / name
        if os.access(path, os.X_OK):
            return path
        elsewhere = shutil.which(name)
        if elsewhere is None:
            raise RunError(f"there is no {name} in {self.programs}, nor in PATH; {self.remedy}")
        return Path(elsewhere)

    def runtime(self) -> Path:
        """The library that compiled programs contain. Raises RunError."""
        if not self.library.is_file():
            raise RunError(f"there is no {self.library}; {self.remedy}")
        return self.library


def find(package: Path = _PACKAGE) -> Installation:
    """The installation that the package p4soft in this directory belongs to. Raises RunError."""
    if (package.parent / _HEADER).is_file():
        return _checkout(package.parents[1])
    for prefix in package.parents:
        if (prefix / "include/turntable" / _HEADER).is_file():
            return Installation(
                prefix / "include/turntable",
                prefix / "lib" / _LIBRARY,
                prefix / "bin",
                "in a checkout, run: make setup softswitch && cmake --install build "
                f"--component softswitch --prefix {prefix}",
            )
    raise RunError(
        f"the package {package} lies in no installation: no directory above it has "
        f"include/turntable/{_HEADER}; install it again with pip, or from the tarball"
    )


def _checkout(root: Path) -> Installation:
    build = Path(os.environ.get("TURNTABLE_BUILD_DIR", root / "build"))
    return Installation(
        root / "src",
        build / "src/dataplane" / _LIBRARY,
        build / "bin",
        f"run in {root}: make setup softswitch",
    )
