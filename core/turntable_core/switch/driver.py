"""What can be asked of a switch, whatever it is. Answers are those of its node."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from turntable_core.errors import InputError
from turntable_core.requests import Request
from turntable_core.switch.soft import SoftSwitch
from turntable_core.testbed import SwitchHost, Testbed

# One change of a table: {"op", "table", "key", "priority", "action", "data"} (docs/p4soft.md).
Update = Mapping[str, Any]


class SwitchDriver(Protocol):
    node: str  # that is asked

    def program_options(self, program: str, testbed: Testbed) -> list[str]:
        """Of the node's command line: it loads a P4 program of this name."""

    def write(self, updates: Sequence[Update]) -> Request:
        """Tables, all updates or none."""

    def settings(self, values: Mapping[str, Any]) -> Request: ...

    def clear_counters(self) -> list[Request]: ...

    def clear_registers(self, names: Sequence[str]) -> list[Request]:
        """All of their cells have their initial values again."""

    def read_counters(self, names: Sequence[str]) -> list[Request]:
        """Tables with counters and counters, by name; with what happened at the ports."""

    def begin(self) -> list[Request]:
        """A measurement begins: lateness of the switch's own threads counts from here."""

    def impair(self, port: int, direction: str, rules: Sequence[Mapping[str, Any]]) -> Request:
        """Faults of the link at a port, in place of those it had (docs/p4soft.md, Faults of links).

        direction: rx or tx, as the switch sees it.
        """


_DRIVERS: Mapping[str, type[SwitchDriver]] = {"soft": SoftSwitch}


def driver_of(switch: SwitchHost) -> SwitchDriver:
    """Raises InputError for a target without a driver."""
    if switch.target not in _DRIVERS:
        expected = f"one of {', '.join(_DRIVERS)}"
        raise InputError("inventory", "turntable_switch_target", switch.target, expected)
    return _DRIVERS[switch.target]()


def switch_nodes() -> frozenset[str]:
    """Names in raw files that mean the switch, whatever its target."""
    return frozenset(driver.node for driver in _DRIVERS.values())
