"""Numbers that p4/netclone and its control plane share, read from its control_plane.p4."""

from __future__ import annotations

from enum import IntEnum
from pathlib import Path

from p4soft import constants

_SOURCE = Path(__file__).resolve().parents[3] / "p4" / "netclone" / "control_plane.p4"
_READ = constants.read(_SOURCE)

# What became of a packet, as the counter `outcome` says (p4/netclone/outcome_numbers.p4).
Outcome = IntEnum("Outcome", _READ.enums["outcome_t"])
MAX_SERVERS = _READ.numbers["MAX_SERVERS"]
# Cells of each of the two filter tables.
FINGERPRINTS = _READ.numbers["FINGERPRINTS"]
