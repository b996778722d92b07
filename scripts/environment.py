"""Imported first by the scripts in Python: has them run by the interpreter of .venv.

So they work without an activated environment, and never with another checkout's. What they leave
in this checkout is given to the user who called sudo.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[1]
PYTHON = REPOSITORY / ".venv/bin/python"


def enter() -> None:
    """Returns in the environment; elsewhere starts the script again there."""
    script = Path(sys.argv[0])
    if not PYTHON.exists():
        sys.exit(f"{script.name}: there is no Python environment yet; run: make setup")
    if Path(sys.prefix).resolve() != PYTHON.parents[1].resolve():
        os.execv(PYTHON, [PYTHON, script, *sys.argv[1:]])
    try:
        from turntable_core import caller  # noqa: PLC0415  # found in the environment only
    except ImportError as error:
        sys.exit(f"{script.name}: the Python environment is incomplete ({error}); run: make setup")
    caller.give_checkout_at_exit()


enter()
