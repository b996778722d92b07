"""Files that survive a crash at any instant: written once, whole or not at all."""

from __future__ import annotations

import hashlib
import json
import os
import tempfile
from pathlib import Path
from typing import Any

from turntable_core import caller
from turntable_core.errors import TurntableError


def write_once(path: Path, data: bytes) -> str:
    """Creates `path` with `data` and returns the SHA-256.

    The file appears complete; an existing file is an error.
    """
    caller.make_directory(path.parent)
    temporary = _write_temporary(path, data)
    try:
        os.link(temporary, path)  # unlike rename, refuses to replace
    except FileExistsError:
        raise TurntableError(f"{path}: exists already; raw files are written once") from None
    finally:
        temporary.unlink()
    _sync_directory(path.parent)
    return hashlib.sha256(data).hexdigest()


def link_or_copy(source: Path, path: Path) -> None:
    """`path` holds what the raw file `source` does, which nobody changes."""
    try:
        os.link(source, path)
    except FileExistsError:
        raise TurntableError(f"{path}: exists already; raw files are written once") from None
    except FileNotFoundError:
        raise
    except OSError:  # another file system, or one without links
        write_once(path, source.read_bytes())
    _sync_directory(path.parent)


def replace(path: Path, data: bytes, mode: int = 0o644) -> None:
    """Creates or replaces a derived file;

    a reader sees the old or the new content, never a part, and nobody sees any of it whom `mode`
    does not let.
    """
    caller.make_directory(path.parent)
    _write_temporary(path, data, mode).replace(path)
    _sync_directory(path.parent)


def append_line(path: Path, document: Any) -> None:
    """Adds a line of JSON and returns when it is on disk; a torn last line is removed first."""
    line = (json.dumps(document, ensure_ascii=False) + "\n").encode()
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        _remove_torn_tail(descriptor)
        if os.write(descriptor, line) != len(line):
            raise TurntableError(
                f"{path}: the disk is full; free some space and continue the run with -e run=…"
            )
        os.fsync(descriptor)
        caller.give(path)
    finally:
        os.close(descriptor)


def to_json(value: Any) -> bytes:
    """For a file that people open."""
    return (json.dumps(value, indent=1, ensure_ascii=False) + "\n").encode()


def to_compact_json(value: Any) -> bytes:
    """For a file of which there are many: one line."""
    return (json.dumps(value, separators=(",", ":"), ensure_ascii=False) + "\n").encode()


def digest_of_file(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _write_temporary(path: Path, data: bytes, mode: int = 0o644) -> Path:
    """Readable by this user alone until it is whole."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
    except OSError as error:
        temporary.unlink()
        error.filename = str(path)  # which a failed write does not name
        raise
    temporary.chmod(mode)
    caller.give(temporary)
    return temporary


def _remove_torn_tail(descriptor: int) -> None:
    size = os.fstat(descriptor).st_size
    data = os.pread(descriptor, size, 0)
    end = data.rfind(b"\n") + 1
    if end != size:
        os.ftruncate(descriptor, end)


def _sync_directory(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
