"""One way to a switch: its program, tables, counters, settings and links, by BfRt names.

`driver_of` gives the driver of a testbed's switch. Components and systems say what they want there;
nothing else addresses a switch.
"""

from turntable_core.switch.driver import SwitchDriver, Update, driver_of, switch_nodes

__all__ = ["SwitchDriver", "Update", "driver_of", "switch_nodes"]
