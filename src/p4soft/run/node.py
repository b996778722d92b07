"""Questions to a running program over its control socket: lines of JSON (docs/architecture.md)."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from p4soft.run.errors import RunError
from p4soft.run.processes import Child

_DEADLINE_SECONDS = 30.0
_BETWEEN_LOOKS_SECONDS = 0.01


def ask(directory: Path, node: str, command: str) -> Any:
    """The answer's result. Raises OSError where nobody answers, RunError for a refusal."""
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(_DEADLINE_SECONDS)
        control.connect(str(directory / f"{node}.sock"))
        control.sendall(json.dumps({"id": 1, "command": command}).encode() + b"\n")
        line = control.makefile(encoding="utf-8").readline()
    if not line:
        raise ConnectionResetError(f"{node} closed its control socket")
    answer = json.loads(line)
    if not answer["ok"]:
        raise RunError(f"{node}: {command}: {answer['error']['message']}")
    return answer["result"]


def wait_until(directory: Path, child: Child, command: str, ready: Callable[[Any], bool]) -> Any:
    """The first answer of the node `child.name` that is `ready`.

    Raises RunError if the program ends before, or says nothing of that kind in 30 s.
    """
    end = time.monotonic() + _DEADLINE_SECONDS
    while True:
        try:
            answer = ask(directory, child.name, command)
            if ready(answer):
                return answer
        except OSError:
            pass  # it does not listen yet
        ended = child.how_it_ended()
        if ended is not None:
            raise RunError(f"{child.name} {ended} before it was ready (its messages: above)")
        if time.monotonic() > end:
            raise RunError(f"{child.name} is not ready after {_DEADLINE_SECONDS:.0f} s")
        time.sleep(_BETWEEN_LOOKS_SECONDS)  # waits: between two looks
