"""What should exist: the desired State of an embedded testbed.

client0 [tt-data] ---- [tt-p0]  switch0  [tt-p2] ---- [tt-data] server0      data network
   |                          [tt-cpu]                             |
   |                      [tt-cpuctl]                              |
 [tt-ctl]                     [tt-ctl]                          [tt-ctl]
   +------------- [tt-b11] [tt-b2] tt-br [tt-b21] -----------------+         control network
   (namespace tt-ctl)

Without a switch the data network is a bridge as well, beside the other one:

client0 [tt-data] -- [tt-d11] tt-dbr [tt-d21] -- [tt-data] server0           data network
                     (namespace tt-ctl)
"""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from .marker import Marker
from .state import BRIDGE, LOOPBACK, VETH, Link, Namespace, State

# Programs put headers of their own before packets to the control plane: room for them, bytes.
_CPU_HEADROOM = 256


@dataclass(frozen=True)
class Controller:
    """The controller's end of the control network, and the data network where no switch is it."""

    namespace: str
    bridge: str
    address: str
    data_bridge: str | None = None


@dataclass(frozen=True)
class Switch:
    """The switch host and its CPU port."""

    name: str
    namespace: str
    control_interface: str
    control_address: str
    bridge_port: str
    cpu_interface: str
    cpu_control_interface: str


@dataclass(frozen=True)
class Endpoint:
    """A host with a data NIC; `data_port` is what its other end is called."""

    name: str
    namespace: str
    control_interface: str
    control_address: str
    bridge_port: str
    data_interface: str
    data_address: str
    data_mac: str
    data_port: str


@dataclass(frozen=True)
class Topology:
    """A whole testbed. Networks are CIDR texts, addresses have no prefix, `mtu` is in bytes."""

    testbed: str
    data_network: str
    control_network: str
    mtu: int
    sysctls: dict[str, str]
    controller: Controller
    switch: Switch | None
    endpoints: tuple[Endpoint, ...]

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Topology:
        """Reads the module's `topology` parameter; superfluous or missing keys are a TypeError."""
        parts = {
            "controller": Controller(**value["controller"]),
            "switch": Switch(**value["switch"]) if value["switch"] else None,
            "endpoints": tuple(Endpoint(**endpoint) for endpoint in value["endpoints"]),
            "sysctls": {key: str(setting) for key, setting in value["sysctls"].items()},
        }
        return cls(**{**value, **parts})

    def desired(self) -> State:
        """The State that the kernel should show."""
        state = {self.controller.namespace: self._namespace("controller")}
        state[self.controller.namespace].links[self.controller.bridge] = Link(
            BRIDGE, addresses=self._on(self.control_network, self.controller.address)
        )
        for host in (*([self.switch] if self.switch else []), *self.endpoints):
            state[host.namespace] = self._namespace(host.name)
            self._add_control_link(state, host)
        if self.switch:
            self._add_cpu_link(state[self.switch.namespace], self.switch)
        else:
            state[self.controller.namespace].links[self.controller.data_bridge] = Link(BRIDGE)
        for endpoint in self.endpoints:
            self._add_data_link(state, endpoint)
        return state

    def _namespace(self, host: str) -> Namespace:
        marker = Marker(self.testbed, host, self.data_network, self.control_network)
        return Namespace(marker, dict(self.sysctls), {"lo": Link(LOOPBACK)})

    def _add_control_link(self, state: State, host: Switch | Endpoint) -> None:
        bridge_side = (self.controller.namespace, host.bridge_port)
        state[host.namespace].links[host.control_interface] = Link(
            VETH,
            peer=bridge_side,
            addresses=self._on(self.control_network, host.control_address),
        )
        state[self.controller.namespace].links[host.bridge_port] = Link(
            VETH,
            peer=(host.namespace, host.control_interface),
            bridge=self.controller.bridge,
        )

    def _add_data_link(self, state: State, endpoint: Endpoint) -> None:
        middle = self.switch or self.controller
        state[endpoint.namespace].links[endpoint.data_interface] = Link(
            VETH,
            peer=(middle.namespace, endpoint.data_port),
            mac=endpoint.data_mac,
            mtu=self.mtu,
            offloads=False,
            addresses=self._on(self.data_network, endpoint.data_address),
            neighbours={
                other.data_address: other.data_mac for other in self.endpoints if other != endpoint
            },
        )
        state[middle.namespace].links[endpoint.data_port] = Link(
            VETH,
            peer=(endpoint.namespace, endpoint.data_interface),
            mtu=self.mtu,
            bridge=None if self.switch else self.controller.data_bridge,
            offloads=False,
        )

    def _add_cpu_link(self, namespace: Namespace, switch: Switch) -> None:
        ends = (switch.cpu_interface, switch.cpu_control_interface)
        for device, peer in (ends, ends[::-1]):
            namespace.links[device] = Link(
                VETH,
                peer=(switch.namespace, peer),
                mtu=self.mtu + _CPU_HEADROOM,
                offloads=False,
            )

    @staticmethod
    def _on(network: str, address: str) -> frozenset[str]:
        return frozenset({f"{address}/{ipaddress.IPv4Network(network).prefixlen}"})
