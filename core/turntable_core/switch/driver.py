"""What can be asked of a switch, whatever it is. Answers are those of its node."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar, Protocol

from turntable_core.errors import InputError
from turntable_core.requests import Request
from turntable_core.switch.bfrt import BfrtSoftSwitch, BfrtSwitch
from turntable_core.switch.nodes import Start, SwitchNode
from turntable_core.switch.soft import SoftSwitch
from turntable_core.testbed import SwitchHost, Testbed

# One change of a table: {"op", "table", "key", "priority", "action", "data"} (docs/p4soft.md).
Update = Mapping[str, Any]


class SwitchDriver(Protocol):
    node: ClassVar[str]  # that is asked
    # Programs, whose nodes have the same names, in the order in which they start.
    programs: ClassVar[tuple[str, ...]]
    p4_files: ClassVar[tuple[str, ...]]  # patterns of what these nodes read of lib/p4
    keeps_program: ClassVar[bool]  # it runs the one with which somebody has started it
    opens_interfaces: ClassVar[bool]  # its ports are network devices of the switch host
    cannot: ClassVar[Mapping[str, str]]  # one of CRASH, LINK_FAULTS, TRACES -> why not
    settings_of_start: ClassVar[Collection[str]]  # which the switch has until it ends
    # One of THREAD, DROPS -> why its answers do not have it.
    not_measured: ClassVar[Mapping[str, str]]

    def nodes(self, start: Start, testbed: Testbed) -> list[SwitchNode]:
        """In the order in which they start; they end in the reverse one."""

    def write(self, updates: Sequence[Update]) -> Request:
        """Tables, all updates or none."""

    def setting_fault(self, name: str, value: Any) -> str | None:
        """What was expected of a setting; None: it is as expected."""

    def settings(self, values: Mapping[str, Any]) -> list[Request]:
        """Those with which it was not started."""

    def traffic_fault(self, updates: Sequence[Update]) -> str | None:
        """Why it cannot have these; None: it can."""

    def traffic(self, updates: Sequence[Update]) -> list[Request]:
        """Of the traffic manager, all updates or none."""

    def clear_traffic(self) -> list[Request]:
        """Its counts begin at zero."""

    def read_traffic(self) -> list[Request]: ...

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


_DRIVERS: Mapping[str, type[SwitchDriver]] = {
    "soft": SoftSwitch,
    "bfrt": BfrtSoftSwitch,
    "tofino": BfrtSwitch,
}


def driver_for(target: str) -> SwitchDriver:
    """Raises InputError for a target without a driver."""
    if target not in _DRIVERS:
        expected = f"one of {', '.join(_DRIVERS)}"
        raise InputError("inventory", "turntable_switch_target", target, expected)
    return _DRIVERS[target]()


def driver_of(switch: SwitchHost) -> SwitchDriver:
    """Raises InputError for a target without a driver."""
    return driver_for(switch.target)


def switch_nodes() -> frozenset[str]:
    """Names in raw files that mean the switch, whatever its target."""
    return frozenset(driver.node for driver in _DRIVERS.values())


def not_measured(nodes: Collection[str]) -> dict[str, str]:
    """What the switch among these nodes, as raw files name them, does not measure -> why not."""
    lacking: dict[str, str] = {}
    for driver in _DRIVERS.values():
        if driver.node in nodes:
            lacking |= driver.not_measured
    return lacking
