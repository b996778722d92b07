"""What exists: the namespaces of one testbed as a State."""

from __future__ import annotations

from pathlib import Path

from pyroute2 import IPRoute

from . import namespaces, offloads
from .state import BRIDGE, LOOPBACK, VETH, Link, Namespace, State

_NUD_PERMANENT = 0x80
_AF_INET = 2


def observe(testbed: str, sysctls: list[str]) -> State:
    """All named namespaces with the mark of `testbed`; of their sysctls those asked for."""
    ours = [found for found in namespaces.find() if found.marker.testbed == testbed and found.name]
    sockets = {found.name: namespaces.open_netlink(found.path) for found in ours}
    try:
        state = {
            found.name: Namespace(
                marker=found.marker,
                sysctls={key: read_sysctl(found.path, key) for key in sysctls},
                links=_links(sockets[found.name], found.path),
            )
            for found in ours
        }
        _join_peers(state, sockets)
        return state
    finally:
        for netlink in sockets.values():
            netlink.close()


def read_sysctl(namespace: Path, key: str) -> str:
    """Value of a network sysctl in `namespace`, `absent` if it is not there."""
    try:
        return namespaces.call_inside(namespace, sysctl_path(key).read_text).strip()
    except OSError:
        return "absent"


def sysctl_path(key: str) -> Path:
    return Path("/proc/sys") / key.replace(".", "/")


def _links(netlink: IPRoute, path: Path) -> dict[str, Link]:
    devices = {message["index"]: message for message in netlink.get_links()}
    links = {}
    for message in devices.values():
        kind = _kind(message)
        if kind is None:
            continue  # fallback tunnel devices that the kernel puts into every namespace
        name, index = message.get("ifname"), message["index"]
        master = devices.get(message.get("master"))
        links[name] = Link(
            kind=kind,
            mac=message.get("address") if kind == VETH else None,
            mtu=message.get("mtu") if kind == VETH else None,
            bridge=master.get("ifname") if master else None,
            up=message.get("state") == "up",
            offloads=offloads.any_on(path, name) if kind == VETH else None,
            addresses=_addresses(netlink, index) if kind != LOOPBACK else frozenset(),
            neighbours=_neighbours(netlink, index),
        )
    return links


def _kind(message: object) -> str | None:
    if message.get("ifname") == "lo":
        return LOOPBACK
    info = message.get("linkinfo")
    kind = info.get("kind") if info else None
    return kind if kind in (VETH, BRIDGE) else None


def _addresses(netlink: IPRoute, index: int) -> frozenset[str]:
    return frozenset(
        f"{message.get('address')}/{message['prefixlen']}"
        for message in netlink.get_addr(family=_AF_INET, index=index)
    )


def _neighbours(netlink: IPRoute, index: int) -> dict[str, str]:
    return {
        message.get("dst"): message.get("lladdr")
        for message in netlink.get_neighbours(family=_AF_INET, ifindex=index)
        if message["state"] & _NUD_PERMANENT
    }


def _join_peers(state: State, sockets: dict[str, IPRoute]) -> None:
    """Fills in `peer` of every veth whose other end is in a namespace of this testbed.

    The kernel names the other end by its index and by a namespace number that means something only
    here (IFLA_LINK, IFLA_LINK_NETNSID): RTM_GETNSID says which number each of our namespaces has.
    """
    indexes = {
        name: {message["index"]: message for message in netlink.get_links()}
        for name, netlink in sockets.items()
    }
    for name, netlink in sockets.items():
        numbers = _namespace_numbers(netlink, list(sockets))
        for message in indexes[name].values():
            link = state[name].links.get(message.get("ifname"))
            if link is None or link.kind != VETH:
                continue
            number = message.get("link_netnsid")
            other = name if number is None else numbers.get(number)
            end = indexes.get(other, {}).get(message.get("link"))
            if end is not None:
                link.peer = (other, end.get("ifname"))


def _namespace_numbers(netlink: IPRoute, names: list[str]) -> dict[int, str]:
    numbers = {}
    for name in names:
        with namespaces.path_of(name).open("rb") as handle:
            numbers[netlink.get_netnsid(fd=handle.fileno())["nsid"]] = name
    return numbers
