"""Takes the steps of a plan: the only part of the package that changes devices."""

from __future__ import annotations

import errno
from contextlib import ExitStack, suppress
from pathlib import Path

from pyroute2 import IPRoute, NetlinkError

from . import namespaces, offloads
from .errors import TestbedError
from .marker import Marker
from .observe import sysctl_path
from .plan import Step
from .state import VETH, Link

_NUD_PERMANENT = 0x80


class Kernel:
    """Netlink sockets into the namespaces, and one method per operation of plan.Step."""

    def __init__(self) -> None:
        self._sockets: dict[str, IPRoute] = {}
        self._exits = ExitStack()

    def __enter__(self) -> Kernel:
        return self

    def __exit__(self, *_: object) -> None:
        self._exits.close()

    def take(self, step: Step) -> None:
        """Makes one change; a refusal of the kernel becomes an error that names the step."""
        try:
            getattr(self, step.operation)(step.namespace, step.device, step.value)
        except (NetlinkError, OSError) as error:
            raise TestbedError(
                f"{step}: the kernel refused ({error}); expected to change namespaces of this "
                "testbed as root. Run playbooks/testbed_down.yml, then playbooks/testbed_up.yml"
            ) from error

    def create_namespace(self, name: str, _: None, marker: Marker) -> None:
        namespaces.create(name, marker)

    def remove_namespace(self, name: str, *_: None) -> None:
        # Devices first: a namespace that a process still holds must not keep its end of a link
        # alive.
        netlink = self._netlink(name)
        for message in netlink.get_links():
            if message["index"] != 1 and message.get("linkinfo"):
                self._delete_quietly(netlink, message["index"])
        namespaces.remove(name)

    def set_marker(self, name: str, _: None, marker: Marker) -> None:
        self._netlink(name).link("set", index=1, ifalias=marker.text())

    def set_sysctl(self, name: str, key: str, value: str) -> None:
        namespaces.call_inside(self._path(name), lambda: sysctl_path(key).write_text(value))

    def create_link(self, name: str, device: str, link: Link) -> None:
        attributes = {"ifname": device, "kind": link.kind}
        if link.mac:
            attributes["address"] = link.mac
        if link.mtu:
            attributes["mtu"] = link.mtu
        if link.kind != VETH:
            self._netlink(name).link("add", **attributes)
            return
        peer_namespace, peer = link.peer
        # Created in this namespace with its other end in that one: neither is ever seen anywhere
        # else.
        with self._path(peer_namespace).open("rb") as handle:
            peer_attributes = {"ifname": peer, "net_ns_fd": handle.fileno()}
            if link.mtu:
                peer_attributes["mtu"] = link.mtu
            self._netlink(name).link("add", peer=peer_attributes, **attributes)

    def remove_link(self, name: str, device: str, _: None) -> None:
        # Ends of links into a deleted namespace go some time later: maybe just now.
        for index in self._netlink(name).link_lookup(ifname=device):
            self._delete_quietly(self._netlink(name), index)

    def set_mac(self, name: str, device: str, mac: str) -> None:
        self._netlink(name).link("set", index=self._index(name, device), address=mac)

    def set_mtu(self, name: str, device: str, mtu: int) -> None:
        self._netlink(name).link("set", index=self._index(name, device), mtu=mtu)

    def turn_off_offloads(self, name: str, device: str, _: None) -> None:
        offloads.turn_off(self._path(name), device)

    def set_bridge(self, name: str, device: str, bridge: str) -> None:
        master = self._index(name, bridge)
        self._netlink(name).link("set", index=self._index(name, device), master=master)

    def add_address(self, name: str, device: str, address: str) -> None:
        self._change_address("add", name, device, address)

    def remove_address(self, name: str, device: str, address: str) -> None:
        self._change_address("del", name, device, address)

    def set_up(self, name: str, device: str, _: None) -> None:
        self._netlink(name).link("set", index=self._index(name, device), state="up")

    def set_neighbour(self, name: str, device: str, value: tuple[str, str]) -> None:
        address, mac = value
        self._netlink(name).neigh(
            "replace",
            dst=address,
            lladdr=mac,
            ifindex=self._index(name, device),
            state=_NUD_PERMANENT,
        )

    def remove_neighbour(self, name: str, device: str, address: str) -> None:
        self._netlink(name).neigh("del", dst=address, ifindex=self._index(name, device))

    def _change_address(self, verb: str, name: str, device: str, address: str) -> None:
        text, prefix = address.split("/")
        index = self._index(name, device)
        self._netlink(name).addr(verb, index=index, address=text, prefixlen=int(prefix))

    def _netlink(self, name: str) -> IPRoute:
        if name not in self._sockets:
            netlink = namespaces.open_netlink(self._path(name))
            self._exits.callback(netlink.close)
            self._sockets[name] = netlink
        return self._sockets[name]

    def _index(self, name: str, device: str) -> int:
        indexes = self._netlink(name).link_lookup(ifname=device)
        if not indexes:
            raise OSError(errno.ENODEV, f"no device {device} in namespace {name}")
        return indexes[0]

    @staticmethod
    def _path(name: str) -> Path:
        return namespaces.path_of(name)

    @staticmethod
    def _delete_quietly(netlink: IPRoute, index: int) -> None:
        # Refused if the other end went first, and for fallback devices of the kernel's.
        with suppress(NetlinkError):
            netlink.link("del", index=index)
