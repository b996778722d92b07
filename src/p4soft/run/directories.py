"""Directories that options name, and those that live as long as this process; a killed one's are
removed by the next.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from p4soft.run.errors import RunError

_PREFIX = "p4soft-"


def make(option: str, path: Path) -> None:
    """With those above it, if it is not there. Raises RunError."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        message = f"{option} {path}: {error.strerror}; expected a directory, or a place for one"
        raise RunError(message, status=2) from None


@contextmanager
def temporary(parent: Path) -> Iterator[Path]:
    """A new directory in `parent`, locked by this process; removed at the end."""
    _remove_abandoned(parent)
    path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(lock)


def _remove_abandoned(parent: Path) -> None:
    for path in parent.glob(f"{_PREFIX}*"):
        if not path.is_dir() or path.is_symlink() or path.stat().st_uid != os.geteuid():
            continue
        lock = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            continue  # its process lives
        else:
            shutil.rmtree(path, ignore_errors=True)
        finally:
            os.close(lock)
