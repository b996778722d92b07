"""A switch in software: the node softswitch (docs/architecture.md §5)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, ClassVar

from turntable_core.requests import Request
from turntable_core.switch.nodes import Start, SwitchNode
from turntable_core.testbed import Testbed

PROGRAM = "softswitch"


def options_of(program: str, testbed: Testbed) -> list[str]:
    """Of softswitch's command line."""
    switch = testbed.switch
    assert switch is not None, "a driver is that of a testbed's switch"
    options = ["--program", f"{switch.p4_dir}/{program}.so"]
    options += ["--port-driver", switch.port_driver]
    for host in testbed.data_hosts:
        options += ["--port", f"{host.switch_port}={host.switch_interface}"]
    options += ["--cpu-port", f"{switch.cpu_port}={switch.cpu_interface}"]
    return options if switch.trace is None else [*options, "--trace", switch.trace]


class Commands:
    """What every driver's node is asked in softswitch's words."""

    node: ClassVar[str]

    def write(self, updates: Sequence[Mapping[str, Any]]) -> Request:
        return self._request("table_write", updates=list(updates))

    def traffic(self, updates: Sequence[Mapping[str, Any]]) -> list[Request]:
        return [self._request("tm_write", updates=list(updates))]

    def clear_traffic(self) -> list[Request]:
        return [self._request("tm_clear")]

    def read_traffic(self) -> list[Request]:
        return [self._request("tm_read")]

    def clear_counters(self) -> list[Request]:
        return [self._request("counter_clear"), self._request("port_stats_clear")]

    def clear_registers(self, names: Sequence[str]) -> list[Request]:
        return [self._request("register_clear", table=name) for name in names]

    def read_counters(self, names: Sequence[str]) -> list[Request]:
        # Drops first: frames of the control plane that are under way end in the switch too, and
        # must not be among its drops without being among the counters that explain them.
        counters = [self._request("counter_read", table=name) for name in names]
        return [self._request("port_stats"), *counters, self._request("info")]

    def impair(self, port: int, direction: str, rules: Sequence[Mapping[str, Any]]) -> Request:
        return self._request("impair", port=port, direction=direction, rules=list(rules))

    def _request(self, command: str, **args: Any) -> Request:
        return Request(self.node, command, args)


class SoftSwitch(Commands):
    node = PROGRAM
    programs: ClassVar[tuple[str, ...]] = (PROGRAM,)
    p4_files: ClassVar[tuple[str, ...]] = ("*.so",)
    keeps_program: ClassVar[bool] = False
    opens_interfaces: ClassVar[bool] = True
    settings_of_start: ClassVar[Collection[str]] = ()
    cannot: ClassVar[Mapping[str, str]] = {}
    not_measured: ClassVar[Mapping[str, str]] = {}

    def nodes(self, start: Start, testbed: Testbed) -> list[SwitchNode]:
        return [SwitchNode(PROGRAM, options_of(start.program, testbed))]

    def setting_fault(self, name: str, value: Any) -> str | None:
        return None

    def traffic_fault(self, updates: Sequence[Mapping[str, Any]]) -> str | None:
        return None

    def settings(self, values: Mapping[str, Any]) -> list[Request]:
        return [self._request("settings", **values)]

    def begin(self) -> list[Request]:
        """Before, hosts prepare at the pipeline thread's expense."""
        return [self._request("pipeline_thread_clear")]
