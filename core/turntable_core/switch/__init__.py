"""One way to a switch: its program, tables, counters, settings and links, by BfRt names.

`driver_of` gives the driver of a testbed's switch. Components and systems say what they want there;
nothing else addresses a switch.
"""

from turntable_core.switch.driver import (
    SwitchDriver,
    Update,
    driver_for,
    driver_of,
    not_measured,
    switch_nodes,
)
from turntable_core.switch.nodes import CRASH, DROPS, LINK_FAULTS, THREAD, TRACES, Start, SwitchNode

__all__ = [
    "CRASH",
    "DROPS",
    "LINK_FAULTS",
    "THREAD",
    "TRACES",
    "Start",
    "SwitchDriver",
    "SwitchNode",
    "Update",
    "driver_for",
    "driver_of",
    "not_measured",
    "switch_nodes",
]
