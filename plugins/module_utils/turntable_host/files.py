"""Directories, files that are written here, files that others copy, services that are masked."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from .errors import HostError, LeftError
from .setting import Setting, Value

_UNITS = Path("/etc/systemd/system")
_UNITS_OF_PACKAGES = (Path("/lib/systemd/system"), Path("/usr/lib/systemd/system"))


class Directory(Setting):
    """The value is its mode: `0700`. One with something in it is not removed."""

    kind = "directory"
    lasts = True

    def read(self) -> Value:
        path = Path(self.name)
        if not path.exists():
            return None
        if not path.is_dir():
            raise HostError(f"{self.name} is a file; expected a directory, or nothing there")
        return f"{path.stat().st_mode & 0o7777:04o}"

    def write(self, value: Value) -> None:
        path = Path(self.name)
        if value is None:
            self.remove(path)
        else:
            path.mkdir(exist_ok=True)
            path.chmod(int(value, 8))

    def remove(self, path: Path) -> None:
        try:
            path.rmdir()
        except OSError:
            names = ", ".join(sorted(entry.name for entry in path.iterdir())[:3])
            raise LeftError(
                f"it is not empty ({names}); -e purge=true removes what is in it"
            ) from None


class ScratchDirectory(Directory):
    """One whose contents go with it: sockets and logs."""

    kind = "scratch directory"

    def remove(self, path: Path) -> None:
        shutil.rmtree(path)


class TextFile(Setting):
    """A small file that is written here; the value is its text."""

    kind = "file"
    lasts = True

    def read(self) -> Value:
        path = Path(self.name)
        return path.read_text(encoding="utf-8") if path.exists() else None

    def write(self, value: Value) -> None:
        if value is None:
            Path(self.name).unlink()
        else:
            replace(Path(self.name), value.encode())


class CopiedFile(Setting):
    """A file that somebody else copies; the value is its SHA-256. What it replaces is kept."""

    kind = "program"
    lasts = True

    def __init__(self, name: str, kept_in: Path | None = None) -> None:
        """kept_in: the directory for what was there before, by SHA-256."""
        super().__init__(name)
        self.kept_in = kept_in

    def read(self) -> Value:
        path = Path(self.name)
        return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else None

    def keep(self, kept_in: Path) -> None:
        """A copy of it, before it is replaced."""
        digest = self.read()
        if digest is not None and not (kept_in / digest).exists():
            kept_in.mkdir(parents=True, exist_ok=True)
            replace(kept_in / digest, Path(self.name).read_bytes())

    def write(self, value: Value) -> None:
        if value is None:
            Path(self.name).unlink()
        else:
            assert self.kept_in, "only what was there before is written here"
            replace(Path(self.name), (self.kept_in / value).read_bytes(), 0o755)


class Mask(Setting):
    """A service that does not start when its package is installed; the name is the unit's."""

    kind = "mask of"
    lasts = True

    def read(self) -> Value:
        path = _UNITS / self.name
        if path.is_symlink():
            return str(path.readlink())
        if path.exists():
            raise HostError(
                f"{path} is a file of somebody else's; expected none, so that {self.name} can be "
                "kept from starting. Remove it, or stop the service and mask it by hand"
            )
        return None

    def write(self, value: Value) -> None:
        path = _UNITS / self.name
        if path.is_symlink():
            path.unlink()
        if value is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(value)


def to_be_masked(units: Iterable[str]) -> list[str]:
    """Without those of packages that were there before: somebody may want them to start."""
    return [
        name
        for name in units
        if (_UNITS / name).is_symlink()
        or not any((directory / name).exists() for directory in _UNITS_OF_PACKAGES)
    ]


def replace(path: Path, content: bytes, mode: int = 0o644) -> None:
    """The file has the content, whole and on the disk, or is as before."""
    if not path.parent.is_dir():
        raise HostError(f"{path.parent} does not exist; expected the directory for {path.name}")
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        Path(name).chmod(mode)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
    sync_directory(path.parent)


def sync_directory(path: Path) -> None:
    """Names in it are on the disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def with_parents(path: str, mode: str) -> list[tuple[str, str]]:
    """(directory, mode) for it and for those above that do not exist yet, from the root down."""
    above = []
    for parent in Path(path).parents:
        if parent.exists():
            break
        above.append((str(parent), "0755"))
    return [*reversed(above), (path, mode)]
