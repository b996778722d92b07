"""sudo as far as run_switchd.sh uses it: a process of its own, which does not hand every signal
on.
"""

from __future__ import annotations

import signal
import subprocess


def main(argv: list[str]) -> int:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    return subprocess.run(argv[1:], check=False).returncode
