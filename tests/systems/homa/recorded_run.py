"""A recorded run (slowdown, smoke, 4 s): its raw files are as the nodes left them."""

from __future__ import annotations

from pathlib import Path

RECORDED = Path(__file__).parent / "recorded" / "smoke"
