"""What a testbed must not touch: names and addresses that are somebody else's."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator

from . import namespaces
from .topology import Topology

_AF_INET = 2
_RT_TABLE_LOCAL = 255
# Shorter routes are default routes under another name (VPNs use 0.0.0.0/1 and 128.0.0.0/1).
_SHORTEST_PREFIX = 8


def find(topology: Topology) -> list[str]:
    """One message per collision, empty if the testbed may be built."""
    return [*_names(topology), *_networks(topology)]


def _names(topology: Topology) -> Iterator[str]:
    marked = {found.name: found.marker for found in namespaces.find()}
    for name in topology.desired():
        if namespaces.inode_of(namespaces.path_of(name)) is None:
            continue
        owner = marked.get(name)
        if owner is None or owner.testbed != topology.testbed:
            whose = f"testbed {owner.testbed!r}" if owner else "something else on this machine"
            yield (
                f"namespace {name} exists and belongs to {whose}; expected it to be free or to "
                f"belong to testbed {topology.testbed!r}. Choose another turntable_testbed_id, or "
                f"remove it: ip netns delete {name}"
            )


def _networks(topology: Topology) -> Iterator[str]:
    wanted = {
        "turntable_data_network": ipaddress.ip_network(topology.data_network),
        "turntable_control_network": ipaddress.ip_network(topology.control_network),
    }
    taken = [*_root_networks(), *_networks_of_others(topology.testbed)]
    for key, network in wanted.items():
        for other, whose in taken:
            if network.overlaps(other):
                yield (
                    f"{key} {network} overlaps {other} ({whose}); expected a network nobody else "
                    f"uses. Set {key} to another one, for example from 198.18.0.0/15"
                )


def _root_networks() -> Iterator[tuple[ipaddress.IPv4Network, str]]:
    with namespaces.open_netlink(namespaces.ROOT) as netlink:
        devices = {message["index"]: message.get("ifname") for message in netlink.get_links()}
        for message in netlink.get_addr(family=_AF_INET):
            interface = ipaddress.IPv4Interface(f"{message.get('address')}/{message['prefixlen']}")
            yield interface.network, f"address of {devices.get(message['index'])} of this machine"
        for message in netlink.get_routes(family=_AF_INET):
            if message.get("table") == _RT_TABLE_LOCAL or message["dst_len"] < _SHORTEST_PREFIX:
                continue  # this machine's own addresses, seen above; and default routes
            network = ipaddress.IPv4Network(f"{message.get('dst')}/{message['dst_len']}")
            yield network, f"route through {devices.get(message.get('oif'))} of this machine"


def _networks_of_others(testbed: str) -> Iterator[tuple[ipaddress.IPv4Network, str]]:
    others = {found.marker.testbed: found.marker for found in namespaces.find()}
    others.pop(testbed, None)
    for name, marker in sorted(others.items()):
        for network in (marker.data_network, marker.control_network):
            yield ipaddress.IPv4Network(network), f"testbed {name!r}"
