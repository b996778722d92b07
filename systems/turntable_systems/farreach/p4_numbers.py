"""Numbers that the P4 programs and their control plane share, read from p4/shared/control_plane.p4
as the C++ programs' header is.
"""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

from p4soft import constants

_SOURCE = Path(__file__).resolve().parents[3] / "p4" / "shared" / "control_plane.p4"
_READ = constants.read(_SOURCE)

# What became of a packet, as the counter `outcome` says (p4/shared/cache/outcome_numbers.p4).
Outcome = IntEnum("Outcome", _READ.enums["outcome_t"])
# Added to the outcome of a write that went to a server while a snapshot was being taken.
WITH_CASE3 = _READ.numbers["WITH_CASE3"]
