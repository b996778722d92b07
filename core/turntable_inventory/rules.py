"""Rules that relate hosts to each other.

Each function is one rule; values of a wrong type are left to `shape`.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator
from typing import Any

from .inventory import CONTROLLER, GROUPS, SWITCHES, TARGET, VENDOR, Host, Inventory
from .problem import Problem
from .roles import ENDPOINTS, roles_of

_SAME_EVERYWHERE = (
    "turntable_testbed_id",
    "turntable_fidelity_class",
    "turntable_lease_s",
    "turntable_data_network",
    "turntable_control_network",
    "turntable_data_mtu",
    "turntable_wiring",
)
_UNIQUE = {
    "turntable_index": GROUPS,
    "turntable_control_address": GROUPS,
    "turntable_namespace": GROUPS,
    "turntable_run_dir": (SWITCHES, ENDPOINTS),
    "turntable_data_address": (ENDPOINTS,),
    "turntable_data_mac": (ENDPOINTS,),
    "turntable_switch_port": (ENDPOINTS,),
    "turntable_switch_interface": (ENDPOINTS,),
}
_ADDRESSES = {
    "turntable_data_address": "turntable_data_network",
    "turntable_control_address": "turntable_control_network",
}
# Names that the embedded testbed gives to things of this machine: by their beginning they are found
# again.
_CARRY_ID = (
    "turntable_namespace",
    "turntable_control_bridge",
    "turntable_data_bridge",
    "turntable_control_interface",
    "turntable_data_interface",
    "turntable_switch_interface",
    "turntable_cpu_interface",
    "turntable_cpu_control_interface",
)
_ROOTS = ("turntable_run_root", "turntable_state_root")


def check(inventory: Inventory) -> Iterator[Problem]:
    """Problems between hosts."""
    for rule in (
        _groups,
        _one_group_per_host,
        _no_host_outside,
        _vendors_switch_apart,
        _one_role_per_endpoint,
        _same_everywhere,
        _unique,
        _cpu_port_is_free,
        _addresses_in_their_networks,
        _networks_of_hosts,
        _networks_apart,
        _names_carry_the_id,
        _roots_end_in_the_id,
    ):
        yield from rule(inventory)


def _groups(inventory: Inventory) -> Iterator[Problem]:
    for group, least, most, expected in (
        (CONTROLLER, 1, 1, "exactly one host"),
        (SWITCHES, 0, 1, "at most one host"),
        (ENDPOINTS, 1, None, "hosts, in one group per role below it"),
    ):
        members = inventory.groups.get(group)
        if members is None and least:
            what = f"group {group} is missing"
            yield Problem("inventory", what, expected, place=inventory.sources)
        elif not members and least:
            what = f"group {group} is empty"
            yield Problem("inventory", what, expected, place=inventory.sources)
        elif members and most and len(members) > most:
            yield Problem("inventory", f"group {group}", expected, members, inventory.sources)


def _one_group_per_host(inventory: Inventory) -> Iterator[Problem]:
    for name in inventory.names(*GROUPS):
        groups = [group for group in GROUPS if name in inventory.groups.get(group, [])]
        if len(groups) > 1:
            expected = f"one group of {', '.join(GROUPS)}"
            yield Problem(name, "its groups", expected, groups, inventory.sources)


def _no_host_outside(inventory: Inventory) -> Iterator[Problem]:
    """A role beside `endpoints` instead of below it would be left out without a word."""
    inside = inventory.names(*GROUPS)
    for name in inventory.names("testbed"):
        if name not in inside:
            groups = [group for group, hosts in inventory.groups.items() if name in hosts]
            groups = [group for group in groups if group not in ("all", "testbed")]
            expected = f"a group below {ENDPOINTS}, or {SWITCHES}"
            yield Problem(name, "its groups", expected, groups, inventory.sources)


def _vendors_switch_apart(inventory: Inventory) -> Iterator[Problem]:
    """Hosts of `testbed` get programs and run nodes."""
    for name in inventory.names("testbed"):
        if name in inventory.hosts and inventory.is_vendors(inventory.hosts[name]):
            expected = (
                f"group {SWITCHES} beside testbed, not below it: hosts of testbed get programs, "
                f"and a switch with {TARGET} {VENDOR} takes none"
            )
            yield Problem(name, "its groups", expected, ["testbed"], inventory.sources)


def _one_role_per_endpoint(inventory: Inventory) -> Iterator[Problem]:
    roles = roles_of(inventory.groups)
    for name in inventory.names(ENDPOINTS):
        its = [role for role, hosts in roles.items() if name in hosts]
        if not its:
            expected = f"one: the group below {ENDPOINTS} that has the host"
            yield Problem(name, "role is missing", expected, place=inventory.sources)
        elif len(its) > 1:
            expected = (
                f"one: every group that has hosts of {ENDPOINTS} alone is a role, also a group "
                "below another or beside them. Say other things about hosts in variables"
            )
            yield Problem(name, "role", expected, its, inventory.sources)


def _same_everywhere(inventory: Inventory) -> Iterator[Problem]:
    for key in _SAME_EVERYWHERE:
        pairs = list(inventory.with_value(key))
        for host, value in pairs[1:]:
            first, common = pairs[0]
            if value != common:
                expected = f"{common!r} as on {first.name}: one value for the whole testbed"
                yield Problem(host.name, key, expected, value, host.place(key))


def _unique(inventory: Inventory) -> Iterator[Problem]:
    for key, groups in _UNIQUE.items():
        owners: dict[Any, Host] = {}
        for host, value in inventory.with_value(key, *groups):
            if not isinstance(value, (str, int)):
                continue
            owner = owners.setdefault(value, host)
            if owner is not host:
                expected = f"a value of its own, {owner.name} has this one ({owner.place(key)})"
                yield Problem(host.name, key, expected, value, host.place(key))


def _cpu_port_is_free(inventory: Inventory) -> Iterator[Problem]:
    cpu_ports = {
        value: host for host, value in inventory.with_value("turntable_cpu_port", SWITCHES)
    }
    for host, port in inventory.with_value("turntable_switch_port", ENDPOINTS):
        if port in cpu_ports:
            expected = f"another port, this is turntable_cpu_port of {cpu_ports[port].name}"
            yield Problem(
                host.name,
                "turntable_switch_port",
                expected,
                port,
                host.place("turntable_switch_port"),
            )


def _addresses_in_their_networks(inventory: Inventory) -> Iterator[Problem]:
    for key, network_key in _ADDRESSES.items():
        for host, value in inventory.with_value(key):
            address, network = _address(value), _network(host.variables.get(network_key))
            if address is None or network is None:
                continue
            if address not in network:
                expected = f"an address of {network_key} {network}"
            elif address in (network.network_address, network.broadcast_address):
                expected = (
                    f"an address of a host: the first and last of {network_key} {network} are none"
                )
            else:
                continue
            yield Problem(host.name, key, expected, value, host.place(key))


def _networks_of_hosts(inventory: Inventory) -> Iterator[Problem]:
    for key in dict.fromkeys(_ADDRESSES.values()):
        for host, value in inventory.with_value(key):
            network = _network(value)
            if network and any(network.overlaps(other) for other in _NOT_FOR_HOSTS):
                expected = "a network of hosts, for example from 198.18.0.0/15"
                yield Problem(host.name, key, expected, value, host.place(key))


def _networks_apart(inventory: Inventory) -> Iterator[Problem]:
    for host, value in inventory.with_value("turntable_control_network"):
        control, data = _network(value), _network(host.variables.get("turntable_data_network"))
        if control and data and control.overlaps(data):
            key = "turntable_control_network"
            expected = f"a network apart from turntable_data_network {data}"
            yield Problem(host.name, key, expected, value, host.place(key))


def _names_carry_the_id(inventory: Inventory) -> Iterator[Problem]:
    for key in _CARRY_ID:
        for host, value in inventory.with_value(key):
            prefix = f"{host.variables.get('turntable_testbed_id')}-"
            if host.embedded and not str(value).startswith(prefix):
                expected = f"a name that begins with {prefix!r}, the testbed's id"
                yield Problem(host.name, key, expected, value, host.place(key))


def _roots_end_in_the_id(inventory: Inventory) -> Iterator[Problem]:
    """testbed_down removes these directories whole."""
    for key in _ROOTS:
        for host, value in inventory.with_value(key):
            testbed = host.variables.get("turntable_testbed_id")
            if host.embedded and not str(value).endswith(f"/{testbed}"):
                expected = f"a path whose last part is the testbed's id {testbed!r}"
                yield Problem(host.name, key, expected, value, host.place(key))


# "This" network, loopback, and everything from multicast on (RFC 6890).
_NOT_FOR_HOSTS = [
    ipaddress.IPv4Network(text) for text in ("0.0.0.0/8", "127.0.0.0/8", "224.0.0.0/3")
]


def _address(value: Any) -> ipaddress.IPv4Address | None:
    try:
        return ipaddress.IPv4Address(value) if isinstance(value, str) else None
    except ValueError:
        return None


def _network(value: Any) -> ipaddress.IPv4Network | None:
    try:
        return ipaddress.IPv4Network(value) if isinstance(value, str) else None
    except ValueError:
        return None
