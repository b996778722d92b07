"""Files that nodes have left in their hosts' run directories, copied into the run's."""

from __future__ import annotations

import io
import shlex
import tarfile
from collections.abc import Mapping
from pathlib import Path

from turntable_core.connections import Outcome
from turntable_core.errors import PhaseError
from turntable_core.testbed import Host


def command_for(host: Host, pattern: str) -> str:
    """A shell command that prints the host's files of this name as an archive. pattern: of the
    shell, with * alone as a wildcard.
    """
    names = "*".join(shlex.quote(part) if part else "" for part in pattern.split("*"))
    return f"cd {shlex.quote(host.run_dir)} && tar --create --file=- -- {names}"


def keep(outcomes: Mapping[str, Outcome], directory: Path) -> list[Path]:
    """Writes what the hosts printed, and names it.

    Raises PhaseError for a host that has nothing, and for two that have a file of one name.
    """
    directory.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Path] = {}
    for host, outcome in outcomes.items():
        for name, data in _unpacked(host, outcome).items():
            if name in kept:
                raise PhaseError("internal", f"host {host}: {name} is another host's file too")
            kept[name] = directory / name
            kept[name].write_bytes(data)
    return list(kept.values())


def _unpacked(host: str, outcome: Outcome) -> dict[str, bytes]:
    if outcome.failure or outcome.status:
        said = outcome.message or outcome.stderr.decode(errors="replace").strip()
        raise PhaseError(outcome.failure or "node_lost", f"host {host}: no file to keep: {said}")
    with tarfile.open(fileobj=io.BytesIO(outcome.stdout)) as archive:
        members = [member for member in archive.getmembers() if member.isfile()]
        return {Path(m.name).name: archive.extractfile(m).read() for m in members}
