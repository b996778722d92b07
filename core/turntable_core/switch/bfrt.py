"""A switch that is driven over BF Runtime alone: by the node bfrt-driver (docs/bfrt-driver.md).

What the driver reaches may be nodes of the run too, which then start before it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from turntable_core.requests import Request
from turntable_core.switch import soft
from turntable_core.switch.nodes import DROPS, IMPAIR, THREAD, TRACE, Start, SwitchNode
from turntable_core.testbed import SwitchHost, Testbed

DRIVER, SERVER = "bfrt-driver", "bfrt-server"

# The protocol has no authentication: its server is not reached from another host.
_ADDRESS, _PORT = "127.0.0.1", 50052
# The driver ends by itself before its supervisor ends it: then it says what it waited for.
_OF_DEADLINE = 0.8


class BfrtSwitch(soft.Commands):
    """bfrt-driver takes softswitch's commands, as far as BF Runtime has something for them."""

    node = DRIVER
    cannot: ClassVar[Mapping[str, str]] = {
        IMPAIR: "BF Runtime has nothing for faults of links",
        TRACE: "BF Runtime has nothing for traces of packets",
    }
    not_measured: ClassVar[Mapping[str, str]] = {
        THREAD: "not measured: BF Runtime does not tell how the switch gets on with its work",
        DROPS: "measured at ports only: BF Runtime does not tell what is dropped between them",
    }

    def driver_node(self, start: Start, switch: SwitchHost, pipe: int) -> SwitchNode:
        schema = f"{switch.p4_dir}/{start.program}.bfrt.json"
        options = ["--switch", f"{_ADDRESS}:{_PORT}", "--program", start.program]
        options += ["--schema", schema, "--pipe", str(pipe)]
        deadline_s = start.deadline_s * _OF_DEADLINE
        return SwitchNode(DRIVER, [*options, "--start-deadline", f"{deadline_s:g}"])

    def begin(self) -> list[Request]:
        return []


class BfrtSoftSwitch(BfrtSwitch):
    """softswitch, with BF Runtime in front of it; nobody uses its own commands."""

    programs: ClassVar[tuple[str, ...]] = (soft.PROGRAM, SERVER, DRIVER)
    dataplane: ClassVar[str | None] = soft.PROGRAM
    p4_files: ClassVar[tuple[str, ...]] = ("*.so", "*.bfrt.json")

    def nodes(self, start: Start, testbed: Testbed) -> list[SwitchNode]:
        switch = testbed.switch
        assert switch is not None, "a driver is that of a testbed's switch"
        pipe = max(host.pipe or 0 for host in testbed.data_hosts)
        settings = [f"--{name}" for name in _OF_START if start.settings.get(name)]
        server = ["--address", _ADDRESS, "--port", str(_PORT), "--pipes", "2" if pipe < 2 else "4"]
        return [
            SwitchNode(soft.PROGRAM, [*soft.options_of(start.program, testbed), *settings]),
            SwitchNode(SERVER, server),
            self.driver_node(start, switch, pipe),
        ]

    def setting_fault(self, name: str, value: Any) -> str | None:
        if name in _OF_START or not value:
            return None
        return f"0: BF Runtime has nothing for the setting {name}"

    def settings(self, values: Mapping[str, Any]) -> list[Request]:
        later = {name: value for name, value in values.items() if name not in _OF_START}
        return [self._request("settings", **later)] if later else []


# Settings that are options of softswitch, which stay as they are until it ends.
_OF_START = ("realtime",)
