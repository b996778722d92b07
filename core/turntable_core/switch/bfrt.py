"""A switch that is driven over BF Runtime alone: by the node bfrt-driver (docs/bfrt-driver.md).

What the driver reaches may be nodes of the run too, which then start before it.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from turntable_core.requests import Request
from turntable_core.switch import soft
from turntable_core.switch.nodes import (
    CRASH,
    DROPS,
    LINK_FAULTS,
    THREAD,
    TRACES,
    Start,
    SwitchNode,
)
from turntable_core.testbed import Testbed

DRIVER, SERVER = "bfrt-driver", "bfrt-server"

# The protocol has no authentication: its server is not reached from another host.
_ADDRESS, _PORT = "127.0.0.1", 50052
# The driver ends by itself before its supervisor ends it: then it says what it waited for.
_OF_DEADLINE = 0.8

# Of an update of the traffic manager.
_LINKS = ("link_bps", "link_overhead_bytes", "delay_ns")

_NOTHING = "BF Runtime has nothing for"
# Settings that every switch behind BF Runtime has: a chip waits for no processor, and softswitch is
# started with them.
_ALWAYS = ("realtime",)


class BfrtSwitch(soft.Commands):
    """bfrt-driver takes softswitch's commands, as far as BF Runtime has something for them. The
    switch itself, a Tofino with its bf_switchd, is there before a run and after it.
    """

    node = DRIVER
    programs: ClassVar[tuple[str, ...]] = (DRIVER,)
    p4_files: ClassVar[tuple[str, ...]] = ()
    keeps_program: ClassVar[bool] = True
    opens_interfaces: ClassVar[bool] = False
    settings_of_start: ClassVar[Collection[str]] = ()
    cannot: ClassVar[Mapping[str, str]] = {
        CRASH: "the switch is no node of the run",
        LINK_FAULTS: f"{_NOTHING} faults of links",
        TRACES: f"{_NOTHING} traces of packets",
    }
    not_measured: ClassVar[Mapping[str, str]] = {
        THREAD: "not measured: BF Runtime does not tell when the switch was late or had to wait",
        DROPS: "measured at ports only: BF Runtime does not tell what the switch drops inside",
    }

    def nodes(self, start: Start, testbed: Testbed) -> list[SwitchNode]:
        return [*self.behind(start, testbed), self._driver(start, testbed)]

    def behind(self, start: Start, testbed: Testbed) -> list[SwitchNode]:
        """What the driver reaches, as far as the run starts it."""
        return []

    def state_options(self, start: Start, testbed: Testbed) -> list[str]:
        """Nothing of an earlier run is left. Which version of the program the switch runs is the
        affair of playbooks/switch.yml, which compiled it.
        """
        return ["--fresh"]

    def _driver(self, start: Start, testbed: Testbed) -> SwitchNode:
        options = ["--switch", f"{_ADDRESS}:{_PORT}", "--program", start.program]
        options += self.state_options(start, testbed)
        deadline_s = start.deadline_s * _OF_DEADLINE
        options += ["--pipe", str(start.pipe), "--start-deadline", f"{deadline_s:g}"]
        return SwitchNode(DRIVER, options)

    def setting_fault(self, name: str, value: Any) -> str | None:
        if self._has(name) or not value:
            return None
        return f"0: {_NOTHING} the setting {name}"

    def traffic_fault(self, updates: Sequence[Mapping[str, Any]]) -> str | None:
        if any(update.get(name) for update in updates for name in _LINKS):
            return f"{_NOTHING} links that are slower or longer than they are"
        return None

    def settings(self, values: Mapping[str, Any]) -> list[Request]:
        later = {name: value for name, value in values.items() if not self._has(name)}
        return [self._request("settings", **later)] if later else []

    def _has(self, setting: str) -> bool:
        """Nobody has to ask for it."""
        return setting in (*_ALWAYS, *self.settings_of_start)

    def begin(self) -> list[Request]:
        return []


class BfrtSoftSwitch(BfrtSwitch):
    """softswitch with BF Runtime in front of it; nobody uses its own commands."""

    programs: ClassVar[tuple[str, ...]] = (soft.PROGRAM, SERVER, DRIVER)
    p4_files: ClassVar[tuple[str, ...]] = ("*.so", "*.bfrt.json")
    keeps_program: ClassVar[bool] = False
    opens_interfaces: ClassVar[bool] = True
    settings_of_start: ClassVar[Collection[str]] = ("realtime",)  # options of softswitch
    cannot: ClassVar[Mapping[str, str]] = {
        what: why for what, why in BfrtSwitch.cannot.items() if what != CRASH
    }

    def behind(self, start: Start, testbed: Testbed) -> list[SwitchNode]:
        settings = [f"--{name}" for name in self.settings_of_start if start.settings.get(name)]
        pipes = "2" if start.pipe < 2 else "4"
        server = ["--address", _ADDRESS, "--port", str(_PORT), "--pipes", pipes]
        return [
            SwitchNode(soft.PROGRAM, [*soft.options_of(start.program, testbed), *settings]),
            SwitchNode(SERVER, server),
        ]

    def state_options(self, start: Start, testbed: Testbed) -> list[str]:
        """It starts with the run, and the program of this build."""
        switch = testbed.switch
        assert switch is not None, "a driver is that of a testbed's switch"
        return ["--schema", f"{switch.p4_dir}/{start.program}.bfrt.json"]
