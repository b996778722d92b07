"""Names of network namespaces: files in /run/netns. Needs no package, so it is quick to import."""

from __future__ import annotations

from pathlib import Path

DIRECTORY = Path("/run/netns")
# The namespace this program runs in: the machine's own.
ROOT = Path("/proc/self/ns/net")


def path_of(name: str) -> Path:
    return DIRECTORY / name


def inode_of(path: Path) -> int | None:
    """Identity of the namespace at `path`, or None if there is none (a plain file, or nothing)."""
    try:
        status = path.stat()
    except OSError:
        return None
    # A name without its mount is an empty file of /run's file system: what an interrupted creation
    # leaves.
    is_namespace = status.st_dev == ROOT.stat().st_dev
    return status.st_ino if is_namespace else None
