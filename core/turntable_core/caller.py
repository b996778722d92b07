"""Who called sudo: what root makes for them is to be theirs, not root's."""

from __future__ import annotations

import atexit
import os
import subprocess
from contextlib import suppress
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def ids() -> tuple[int, int] | None:
    """User and group; None: this is not root, or root for nobody else, or works in a checkout that
    is not the caller's, as after `sudo -i`.
    """
    user, group = os.environ.get("SUDO_UID", ""), os.environ.get("SUDO_GID", "")
    if os.geteuid() != 0 or not (user.isdigit() and group.isdigit()) or int(user) == 0:
        return None
    return (int(user), int(group)) if REPOSITORY.stat().st_uid == int(user) else None


def give(path: Path) -> None:
    """One file or directory that is root's; what another process has just removed is no error."""
    caller = ids()
    with suppress(FileNotFoundError):
        if caller and path.lstat().st_uid == 0:
            os.chown(path, *caller, follow_symlinks=False)


def give_tree(directory: Path) -> None:
    """A directory and all that is in it."""
    if ids():
        give(directory)
        for parent, directories, files in os.walk(directory):
            for name in (*directories, *files):
                give(Path(parent) / name)


def make_directory(path: Path) -> None:
    """With those above it that are missing; one that is there already is left as it is."""
    missing = [each for each in (path, *path.parents) if not each.exists()]
    path.mkdir(parents=True, exist_ok=True)
    for each in missing:
        give(each)


def give_checkout_at_exit() -> None:
    """Of this process: what Python and the build wrote beside the sources."""
    if ids():
        atexit.register(subprocess.run, [REPOSITORY / "scripts/give-back"], check=False)
