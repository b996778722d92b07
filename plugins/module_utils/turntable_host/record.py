"""What settings were before they were changed: a file on the host, written before the change."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from .errors import HostError
from .files import Directory, replace
from .setting import Setting, Value

_VERSION = 1
_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass
class Entry:
    """previous: before the first change. ours: what we may have made of it since."""

    kind: str
    name: str
    previous: Value
    ours: list[Value]
    boot: str | None = None  # during which it was written; None: it outlives boots

    def accounts_for(self, setting: Setting, present: Value) -> bool:
        """Whether `present` is what was there before, or what we have written."""
        return any(setting.has(present, known) for known in (self.previous, *self.ours))


@dataclass
class Record:
    """Entries in the order in which they were changed first."""

    path: Path
    testbed: str
    entries: list[Entry] = field(default_factory=list)
    made: list[str] = field(default_factory=list)  # directories above the file, for its sake

    def find(self, setting: Setting) -> Entry | None:
        for entry in self.entries:
            if (entry.kind, entry.name) == (setting.kind, setting.name):
                return entry
        return None

    def note(self, setting: Setting, present: Value, wanted: Value) -> None:
        """`present` is about to become `wanted`. Directories that this file lies in are known by
        `made`: they can go only after it.
        """
        if isinstance(setting, Directory) and Path(setting.name) in self.path.parents:
            return
        ours = [wanted, *setting.between]
        entry = self.find(setting)
        if entry is None:
            boot = None if setting.lasts else boot_id()
            self.entries.append(Entry(setting.kind, setting.name, present, ours, boot))
        else:
            entry.ours = [*ours, present]

    def save(self) -> None:
        """On the disk, whole, before this returns."""
        self._make_directory()
        document = {
            "version": _VERSION,
            "testbed": self.testbed,
            "made": self.made,
            "entries": [asdict(entry) for entry in self.entries],
        }
        replace(self.path, (json.dumps(document, indent=1) + "\n").encode())

    @property
    def kept(self) -> Path:
        """Directory of files as they were before they were replaced."""
        return self.path.with_suffix(".kept")

    def remove(self) -> None:
        """With the directories that were made for it, unless others put something in."""
        shutil.rmtree(self.kept, ignore_errors=True)
        self.path.unlink(missing_ok=True)
        for directory in reversed(self.made):
            try:
                Path(directory).rmdir()
            except OSError:
                break

    def _make_directory(self) -> None:
        missing = [path for path in self.path.parents if not path.exists()]
        for directory in reversed(missing):
            directory.mkdir(mode=0o755)
            self.made.append(str(directory))


@contextmanager
def opened(path: Path, testbed: str) -> Iterator[Record]:
    """The record of this host, or a new one; nobody else has it meanwhile.

    Entries of an earlier boot whose settings went with it are forgotten.
    """
    with _alone():
        record = _read(path, testbed)
        boot = boot_id()
        record.entries = [entry for entry in record.entries if entry.boot in (None, boot)]
        yield record


def _read(path: Path, testbed: str) -> Record:
    try:
        document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return Record(path, testbed)
    except ValueError as error:
        raise HostError(
            f"{path} cannot be read as a record of this host's settings ({error}); expected the "
            "file as provision.yml wrote it. Restore it, or remove it to forget what was before"
        ) from error
    if document["version"] != _VERSION:
        raise HostError(
            f"{path} has version {document['version']}; expected {_VERSION}. Unprovision with the "
            "Turntable that wrote it"
        )
    if document["testbed"] != testbed:
        raise HostError(
            f"this host is provisioned for testbed {document['testbed']!r} ({path}); expected "
            f"{testbed!r}, or a host that is free. Run playbooks/unprovision.yml with that "
            "testbed's inventory first"
        )
    entries = [Entry(**entry) for entry in document["entries"]]
    return Record(path, testbed, entries, document["made"])


@contextmanager
def _alone() -> Iterator[None]:
    """A lock on a directory that every host has: it leaves no file."""
    handle = os.open("/", os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def boot_id() -> str:
    return _BOOT.read_text(encoding="ascii").strip()
