"""Programs of the host, and files of its kernel."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import GoneError, HostError, NoProgramError

# Users do not have root's programs in PATH, and sudo may hand that on.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def run(argv: Sequence[str], environment: Mapping[str, str] | None = None) -> str:
    """What the program prints; its status and words are the error if it fails."""
    if shutil.which(argv[0], path=PATH) is None:
        raise NoProgramError(
            f"the program {argv[0]} is not in {PATH}; expected its Debian package. Add it to "
            "turntable_host_packages"
        )
    done = subprocess.run(
        argv,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        cwd="/",
        env={**os.environ, "PATH": PATH, "LC_ALL": "C", **(environment or {})},
    )
    if done.returncode != 0:
        words = " ".join((done.stderr.strip() or done.stdout.strip()).split())
        raise HostError(f"{' '.join(argv)}: status {done.returncode}: {words}")
    return done.stdout


def read_kernel(path: Path, what: str) -> str:
    """A value that the kernel shows as a file."""
    try:
        return path.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        raise GoneError(f"{what}: this host has no {path}; expected a kernel that has it") from None
    except OSError as error:
        raise HostError(f"{what}: {path} cannot be read: {error.strerror}") from error


def write_kernel(path: Path, value: str, what: str) -> None:
    try:
        path.write_text(value, encoding="ascii")
    except FileNotFoundError:
        raise GoneError(f"{what}: this host has no {path}; expected a kernel that has it") from None
    except OSError as error:
        raise HostError(
            f"{what}: the kernel refuses {value!r} ({error.strerror}, {path}); expected a value "
            "that it takes, and to run as root"
        ) from error
