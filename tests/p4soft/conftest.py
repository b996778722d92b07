"""Import paths: src/ for the translator, this directory and tests/ for helpers.

This directory is no package, because a package `p4soft` here would hide the one under test.
"""

from __future__ import annotations

import sys
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS.parent / "src"), str(TESTS), str(TESTS / "p4soft")]
