"""Runs a program of on_switch over a connection."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

PROGRAMS = Path(__file__).parent / "on_switch"
MARK = "turntable-answer:"
# The first Python that is recent enough; a login shell's profile is not read, so neither is its
# PATH.
COMMAND = (
    "for python in python3 python3.12 python3.11 python3.10 python3.9 python3.8 python3.7 "
    "python3.6; do "
    'if "$python" -c "import sys; sys.exit(sys.version_info < (3, 6))" 2>/dev/null; '
    'then exec "$python" -; fi; done; echo "no Python 3.6 or later" >&2; exit 127'
)


class SwitchError(Exception):
    """The switch refused, or did not answer."""


def text_of(name: str, arguments: dict[str, Any]) -> bytes:
    """One program text: what it imports from its neighbours is above it."""
    common = (PROGRAMS / "common.py").read_text()
    program = (PROGRAMS / f"{name}.py").read_text()
    program = re.sub(r"^from \.common import \([^)]*\)\n", "", program, flags=re.MULTILINE)
    program = re.sub(
        r"^from \.common import (\w+) as (\w+)\n", r"\2 = \1\n", program, flags=re.MULTILINE
    )
    program = re.sub(r"^from \.common import .*\n", "", program, flags=re.MULTILINE)
    call = f"answer(run, json.loads({json.dumps(json.dumps(arguments))}))\n"
    return "\n".join((common, program, call)).encode()


def answer_of(status: int, output: str, errors: str) -> Any:
    """Raises SwitchError for a refusal, and for no answer."""
    lines = [line for line in output.splitlines() if line.startswith(MARK)]
    if not lines:
        said = (errors or output).strip()[-2000:]
        raise SwitchError(
            f"no answer from the switch (exit status {status}): {said or 'nothing was said'}; "
            "expected Python 3.6 or later there, and a user who may run it"
        )
    answer = json.loads(lines[-1].removeprefix(MARK))
    if "refused" in answer:
        raise SwitchError(answer["refused"])
    return answer["ok"]
