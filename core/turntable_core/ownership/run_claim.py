"""One playbook per run directory: `owner.json` says whose it is while a run is in progress.

The lock of the testbed does not cover this: two testbeds could continue the same run.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from turntable_core import files
from turntable_core.errors import TurntableError
from turntable_core.ownership import run_secret
from turntable_core.ownership.owner import Owner, describe

_FILE = "owner.json"
# Of the start time of a process, which the kernel tells in ticks since it booted.
_TOLERANCE_S = 2.0


def claim(run: Path, owner: Owner) -> None:
    """Makes the existing directory `run` the owner's.

    Raises TurntableError while another playbook works on it.
    """
    with _alone(run):
        other = _read(run)
        if other is not None and other != asdict(owner) and may_live(other):
            raise TurntableError(
                f"{run}: this run is being continued by {describe(other)}, playbook "
                f"{other.get('pid')} on {other.get('controller')}. Wait for it; if it has ended, "
                f"remove {run / _FILE}"
            )
        if other != asdict(owner) or run_secret.of(run) is None:
            run_secret.renew(run)
        files.replace(run / _FILE, files.to_json(asdict(owner)))


def owner_of(run: Path) -> Owner | None:
    """The playbook that works on `run`, if one does."""
    document = _read(run)
    return Owner(**document) if document else None


def worker_of(run: Path) -> dict | None:
    """What is known of the playbook that may be working on `run` now."""
    document = _read(run)
    return document if document and may_live(document) else None


def drop(run: Path) -> None:
    """The run has no owner any more."""
    run_secret.drop(run)
    (run / _FILE).unlink(missing_ok=True)


def drop_own(run: Path) -> bool:
    """Whether `run` was this playbook's, which is this process."""
    with suppress(FileNotFoundError), _alone(run):
        document = _read(run)
        if document and (document.get("controller"), document.get("pid")) == (
            socket.gethostname(),
            os.getpid(),
        ):
            drop(run)
            return True
    return False


def sweep(results: Path) -> None:
    """Ends the claims of playbooks that were killed, and with them their secrets."""
    left = [path for name in (_FILE, run_secret.FILE) for path in results.glob(f"*/*/{name}")]
    for run in {path.parent for path in left}:
        with suppress(FileNotFoundError, PermissionError), _alone(run):
            if worker_of(run) is None:
                drop(run)


@contextmanager
def _alone(run: Path) -> Iterator[None]:
    descriptor = os.open(run, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _read(run: Path) -> dict | None:
    try:
        return json.loads((run / _FILE).read_bytes())
    except (FileNotFoundError, ValueError):  # none, or what a full disk left of it
        return None


def may_live(owner: Mapping[str, Any]) -> bool:
    """Whether the playbook may still run: of another controller that cannot be known."""
    if owner.get("controller") != socket.gethostname():
        return True
    try:
        stat = Path(f"/proc/{owner['pid']}/stat").read_text()
    except (OSError, KeyError):
        return False
    fields = stat.rsplit(")", 1)[1].split()  # behind the name, which may hold anything
    if fields[0] == "Z":  # ended, and its parent has not asked yet how
        return False
    # A process that began later only has the same number.
    began_s = int(fields[19]) / os.sysconf("SC_CLK_TCK")  # since boot
    age_s = time.clock_gettime(time.CLOCK_BOOTTIME) - began_s
    return time.time() - age_s <= owner["since_ns"] / 1e9 + _TOLERANCE_S
