"""The nodes that are a switch, and what sets switches apart from each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

# What a switch may be unable to do.
CRASH, LINK_FAULTS, TRACES = "crash", "faults of links", "traces"
# What a switch may not measure.
THREAD, DROPS = "thread", "drops"


@dataclass(frozen=True)
class Start:
    """What a switch starts with."""

    program: str  # name of the P4 program
    settings: Mapping[str, Any]  # of the system (System.switch_settings)
    deadline_s: float  # of each node
    pipe: int  # of the system's hosts; of those that keep state in registers all are in one


@dataclass(frozen=True)
class SwitchNode:
    program: str  # of the switch host; the node's name too
    options: Sequence[str]
