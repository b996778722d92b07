"""What the nodes of a run prove to each other on control links.

`secret` in the run's directory, which only its owner can read, is there while a playbook works on
the run. Nodes get it on their standard input: never as an argument or in an environment.
"""

from __future__ import annotations

import secrets
from pathlib import Path

from turntable_core import files

FILE = "secret"
_BYTES = 32


def renew(run: Path) -> None:
    """A new one for the directory `run`; nodes that have another do not belong to it any more."""
    files.replace(run / FILE, f"{secrets.token_hex(_BYTES)}\n".encode(), mode=0o600)


def of(run: Path) -> str | None:
    """None: no playbook works on the run."""
    try:
        return (run / FILE).read_text().strip()
    except FileNotFoundError:
        return None


def drop(run: Path) -> None:
    (run / FILE).unlink(missing_ok=True)
