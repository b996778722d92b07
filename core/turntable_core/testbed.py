"""The testbed as the run needs it, read from inventory variables (names: docs/inventory.md)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from turntable_core.errors import MISSING, InputError
from turntable_inventory.inventory import SWITCHES, TARGET, VENDOR
from turntable_inventory.roles import roles_of

# dev_ports of each of a chip's pipes.
PORTS_OF_A_PIPE = 128


@dataclass(frozen=True)
class Host:
    name: str
    bin_dir: str
    run_dir: str
    state_dir: str
    node_nice: int  # scheduling priority of the nodes and of commands to them

    def prioritized(self, argv: list[str]) -> list[str]:
        """`argv` at the nodes' priority."""
        return ["nice", "-n", str(self.node_nice), *argv] if self.node_nice else argv


@dataclass(frozen=True)
class DataHost(Host):
    """A machine with one NIC on the data network, and one port of the switch if there is one."""

    address: str
    mac: str
    switch_port: int | None
    switch_interface: str | None
    control_address: str = ""
    interface: str = ""  # on the data network
    datagrams: str = "sockets"  # how clients' datagrams travel: or af_xdp

    @property
    def datagram_options(self) -> list[str]:
        """Of a node that can do either. Only one process of a host can have af_xdp."""
        if self.datagrams == "sockets":
            return []
        return ["--datagrams", self.datagrams, "--interface", self.interface]

    @property
    def pipe(self) -> int | None:
        """Of the switch that the port belongs to."""
        return None if self.switch_port is None else self.switch_port // PORTS_OF_A_PIPE


@dataclass(frozen=True)
class SwitchHost(Host):
    target: str
    p4_dir: str
    cpu_port: int
    cpu_interface: str  # the link of the CPU port, at the switch
    port_driver: str  # of a software switch: af_packet or af_xdp
    trace: str | None = None  # which packets softswitch traces (docs/p4soft.md); None: none
    cpu_control_interface: str = ""  # its other end; "": a chip's link has one interface
    control_address: str = ""

    @property
    def control_plane_interface(self) -> str:
        """Where the control plane sends packets to the CPU port, and receives them."""
        return self.cpu_control_interface or self.cpu_interface


@dataclass(frozen=True)
class Testbed:
    __test__ = False  # not a test class, whatever pytest thinks of its name

    id: str
    fidelity_class: str
    lease_s: float  # a host whose run is silent for so long ends its nodes and is free again
    switch: SwitchHost | None
    roles: Mapping[str, tuple[DataHost, ...]]  # by the inventory's groups below `endpoints`
    vendors_switch: str = ""  # in place of `switch`, one that no run drives; its name

    @property
    def emulated(self) -> bool:
        return self.fidelity_class == "emulated"

    @property
    def hosts(self) -> tuple[Host, ...]:
        """The switch first: who has the first one has the testbed."""
        return (*([self.switch] if self.switch else []), *self.data_hosts)

    @property
    def data_hosts(self) -> tuple[DataHost, ...]:
        """Each once, whatever roles it has."""
        return tuple(dict.fromkeys(host for hosts in self.roles.values() for host in hosts))

    def hosts_of(self, role: str) -> tuple[DataHost, ...]:
        return self.roles.get(role, ())

    @property
    def digest(self) -> str:
        """Equal digests: the same machines, addresses and ports."""
        return hashlib.sha256(json.dumps(asdict(self), sort_keys=True).encode()).hexdigest()


def to_json(testbed: Testbed) -> dict[str, Any]:
    return asdict(testbed)


def from_json(document: Mapping[str, Any]) -> Testbed:
    return Testbed(
        id=document["id"],
        fidelity_class=document["fidelity_class"],
        lease_s=document["lease_s"],
        switch=SwitchHost(**document["switch"]) if document["switch"] else None,
        roles={
            role: tuple(DataHost(**host) for host in hosts)
            for role, hosts in document["roles"].items()
        },
        vendors_switch=document.get("vendors_switch", ""),
    )


def read_testbed(
    hostvars: Mapping[str, Mapping[str, Any]], groups: Mapping[str, list[str]]
) -> Testbed:
    """hostvars, groups: Ansible's variables of those names.

    Raises InputError for what is missing.
    """
    switch = next(iter(_group(groups, SWITCHES, 0, 1)), None)
    vendors = ""
    if switch and hostvars.get(switch, {}).get(TARGET) == VENDOR:
        switch, vendors = None, switch
    roles = {
        role: tuple(_data_host(hostvars, name, switch is not None) for name in names)
        for role, names in roles_of(groups).items()
    }
    if not roles:
        raise InputError("inventory", "group endpoints", [], "groups of hosts, one per role")
    first = switch or next(iter(roles.values()))[0].name
    return Testbed(
        id=_variable(hostvars, first, "turntable_testbed_id"),
        fidelity_class=_variable(hostvars, first, "turntable_fidelity_class"),
        lease_s=float(_variable(hostvars, first, "turntable_lease_s")),
        switch=_switch(hostvars, switch) if switch else None,
        roles=roles,
        vendors_switch=vendors,
    )


def _switch(hostvars: Mapping[str, Mapping[str, Any]], name: str) -> SwitchHost:
    return SwitchHost(
        **_common(hostvars, name),
        target=_variable(hostvars, name, TARGET),
        p4_dir=_variable(hostvars, name, "turntable_p4_dir"),
        cpu_port=int(_variable(hostvars, name, "turntable_cpu_port")),
        cpu_interface=_variable(hostvars, name, "turntable_cpu_interface"),
        cpu_control_interface=str(hostvars[name].get("turntable_cpu_control_interface", "")),
        control_address=str(hostvars[name].get("turntable_control_address", "")),
        port_driver=_variable(hostvars, name, "turntable_port_driver"),
        trace=hostvars[name].get("turntable_switch_trace"),
    )


def _data_host(hostvars: Mapping[str, Mapping[str, Any]], name: str, has_switch: bool) -> DataHost:
    plug = (
        {
            "switch_port": int(_variable(hostvars, name, "turntable_switch_port")),
            "switch_interface": _variable(hostvars, name, "turntable_switch_interface"),
        }
        if has_switch
        else {"switch_port": None, "switch_interface": None}
    )
    return DataHost(
        **_common(hostvars, name),
        address=_variable(hostvars, name, "turntable_data_address"),
        mac=_variable(hostvars, name, "turntable_data_mac"),
        **plug,
        control_address=str(hostvars[name].get("turntable_control_address", "")),
        interface=str(hostvars[name].get("turntable_data_interface", "")),
        datagrams=str(hostvars[name].get("turntable_datagrams", "sockets")),
    )


def _common(hostvars: Mapping[str, Mapping[str, Any]], name: str) -> dict[str, Any]:
    directories = ("bin_dir", "run_dir", "state_dir")
    return {
        "name": name,
        **{key: str(_variable(hostvars, name, f"turntable_{key}")) for key in directories},
        "node_nice": int(hostvars[name].get("turntable_node_nice", 0)),
    }


def _group(groups: Mapping[str, list[str]], name: str, least: int, most: int | None) -> list[str]:
    hosts = list(groups.get(name, []))
    if len(hosts) < least or (most is not None and len(hosts) > most):
        expected = (
            f"{least} host(s)" if most == least else f"{least} to {most or 'any number of'} hosts"
        )
        raise InputError("inventory", f"group {name}", hosts, expected)
    return hosts


def _variable(hostvars: Mapping[str, Mapping[str, Any]], host: str, name: str) -> Any:
    try:
        return hostvars[host][name]
    except KeyError:
        raise InputError(f"inventory: host {host}", name, MISSING, "a value") from None
