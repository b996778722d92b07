"""`softswitch --realtime`: what the command `settings` can do later, done from the start."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from .live_switch import SoftswitchTarget
from .nocache_tables import PORTS


def test_pipeline_has_the_priority_from_the_start_or_says_why_not(
    build_dir: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    if os.geteuid() != 0:
        pytest.skip("the target softswitch makes network namespaces: it needs root")
    allowed = subprocess.run(["chrt", "--rr", "1", "true"], check=False).returncode == 0
    program = build_dir / "lib" / "p4" / "nocache.so"
    binary = build_dir / "bin" / "softswitch"
    target = SoftswitchTarget(binary, program, tmp_path, PORTS, options=["--realtime"])
    try:
        assert target.command("settings")["realtime"] is allowed
    finally:
        target.close()
    complaint = "softswitch: --realtime: the system does not allow SCHED_RR"
    assert (complaint in capfd.readouterr().err) is not allowed
