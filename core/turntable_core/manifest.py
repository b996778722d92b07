"""What a run was made with: enough to tell two runs apart, and to repeat one."""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turntable_core.files import digest_of_file
from turntable_core.run_directory import RunDirectory
from turntable_core.systems import FURTHER
from turntable_core.testbed import Testbed

MANIFEST_FORMAT = 1

# Directories whose code decides what nodes are told.
_CODE = ("core", "systems", "plugins", "roles", "playbooks/tasks", "playbooks/*/tasks")
_CODE_SUFFIXES = (".py", ".yml", ".json", ".j2")

_DEBIAN_PACKAGES = ("gcc-12", "librocksdb7.8", "librocksdb-dev", "iproute2", "ethtool")
_PYTHON_PACKAGES = ("ansible-core", "jsonschema", "hdrhistogram", "pandas", "pyroute2")


def make_manifest(
    repository: Path,
    build_directory: Path,
    testbed: Testbed,
    extra_vars: Mapping[str, Any],
    experiment_file: Path,
    connections: Mapping[str, str],
    inventories: Sequence[str],
) -> dict[str, Any]:
    """connections: host -> connection plugin. inventories: what -i names, or a configuration.
    Hashes are of the controller's build.
    """
    return {
        "format": MANIFEST_FORMAT,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "fidelity_class": testbed.fidelity_class,
        "testbed": testbed.id,
        "inventory_digest": testbed.digest,
        "inventories": [_below(source, repository) for source in inventories],
        "connections": dict(connections),
        "experiment_file": _below(str(experiment_file), repository),
        "experiment_digest": digest_of_file(experiment_file),
        "extra_vars": {name: value for name, value in extra_vars.items() if "pass" not in name},
        "git": git_state(repository),
        "binaries": _digests(build_directory / "bin", build_directory),
        "p4_programs": _digests(build_directory / "lib" / "p4", build_directory),
        "p4_sources": _p4_sources(repository),
        "code": _code(repository),
        "machine": _machine(),
        "packages": _packages(),
    }


def read_manifest(run: RunDirectory) -> Mapping[str, Any]:
    """Empty where there is none that can be read."""
    try:
        manifest = json.loads(run.manifest_file.read_bytes())
    except (OSError, ValueError):
        return {}
    return manifest if isinstance(manifest, dict) else {}


def _below(path: str, directory: Path) -> str:
    """Relative to the directory where it is below it. A list of hosts, `a,b`, stays one."""
    absolute = Path(path)
    return str(absolute.relative_to(directory)) if absolute.is_relative_to(directory) else path


def git_state(repository: Path) -> dict[str, Any] | None:
    """Commit and whether tracked files differ from it; None outside a git checkout."""
    commit = _output(["git", "-C", str(repository), "rev-parse", "HEAD"])
    if commit is None:
        return None
    changed = _output(["git", "-C", str(repository), "status", "--porcelain"]) or ""
    return {
        "commit": commit,
        "clean": not changed,
        "changed": [line[3:] for line in changed.splitlines()][:50],
    }


def _p4_sources(repository: Path) -> dict[str, str]:
    """Also those that further systems bring along."""
    places = [directory / "p4" for directory in (repository, *FURTHER)]
    paths = [path for place in places for path in sorted(place.glob("**/*.p4"))]
    return {_below(str(path), repository): digest_of_file(path) for path in paths}


def _code(repository: Path) -> dict[str, str]:
    """Of what drives the nodes, a digest per directory; those of further systems too."""
    tops = [(directory, name) for directory in (repository, *FURTHER) for name in _CODE]
    return {
        _below(str(directory / name), repository): _digest_of_tree(directory, name)
        for directory, name in tops
        if (directory / name.partition("/")[0]).is_dir()
    }


def _digest_of_tree(directory: Path, name: str) -> str:
    """name: of a directory, or a pattern of directories."""
    digest = hashlib.sha256()
    found = (path for top in directory.glob(name) for path in top.rglob("*"))
    for path in sorted(path for path in found if path.suffix in _CODE_SUFFIXES):
        digest.update(f"{path.relative_to(directory)} {digest_of_file(path)}\n".encode())
    return digest.hexdigest()


def _digests(directory: Path, relative_to: Path) -> dict[str, str]:
    paths = sorted(path for path in directory.glob("*") if path.is_file())
    return {str(path.relative_to(relative_to)): digest_of_file(path) for path in paths}


def _machine() -> dict[str, Any]:
    uname = os.uname()
    return {
        "kernel": uname.release,
        "kernel_version": uname.version,
        "architecture": uname.machine,
        "cpu": _cpu_model(),
        "cpus": len(os.sched_getaffinity(0)),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "os": _os_name(),
        "python": platform.python_version(),
    }


def _cpu_model() -> str | None:
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return None


def _os_name() -> str | None:
    try:
        return platform.freedesktop_os_release()["PRETTY_NAME"]
    except (OSError, KeyError):
        return None


def _packages() -> dict[str, str]:
    versions = {}
    for name in _PYTHON_PACKAGES:
        try:
            versions[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            continue
    listing = (
        _output(
            ["dpkg-query", "-W", "-f", "${Package} ${Version}\n", *_DEBIAN_PACKAGES],
            accept_failure=True,
        )
        or ""
    )
    versions.update(line.split(" ", 1) for line in listing.splitlines() if not line.endswith(" "))
    return versions


def _output(argv: list[str], accept_failure: bool = False) -> str | None:
    """Standard output, or None when the program is missing or failed.

    accept_failure: it may list only part.
    """
    try:
        done = subprocess.run(argv, capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.rstrip("\n") if done.returncode == 0 or accept_failure else None
