"""The steps that lead from one State to another. Pure: nothing here touches the kernel."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from .state import BRIDGE, LOOPBACK, VETH, Link, Namespace, State, describe_link


@dataclass(frozen=True)
class Step:
    """One change. `operation` names the method of apply.Kernel that makes it."""

    operation: str
    namespace: str
    device: str | None = None
    value: Any = None

    def __str__(self) -> str:
        where = f"{self.namespace}: {self.operation.replace('_', ' ')}"
        if isinstance(self.value, Link):
            return f"{where} {describe_link(self.device, self.value)}"
        return " ".join(str(word) for word in (where, self.device, self.value) if word is not None)


def plan(observed: State, desired: State, testbed: str) -> list[Step]:
    """Steps that make `observed` equal to `desired` wherever `desired` says something.

    Devices without the testbed's prefix are left alone: somebody put them there by hand.
    """
    now = deepcopy(observed)
    steps = [Step("remove_namespace", name) for name in now if name not in desired]
    for name, wanted in desired.items():
        steps += _namespace_steps(name, now, wanted)
    for name, wanted in desired.items():
        steps += _removals(name, now, wanted, f"{testbed}-")
    for name, wanted in desired.items():
        steps += _creations(name, now, desired, wanted)
    for name, wanted in desired.items():
        for device, link in wanted.links.items():
            steps += _link_steps(name, device, now[name].links[device], link)
    return steps


def _namespace_steps(name: str, now: State, wanted: Namespace) -> Iterator[Step]:
    if name not in now:
        yield Step("create_namespace", name, value=wanted.marker)
        now[name] = Namespace(wanted.marker, links={"lo": Link(LOOPBACK)})
    if now[name].marker != wanted.marker:
        yield Step("set_marker", name, value=wanted.marker)
    for key, value in wanted.sysctls.items():
        if now[name].sysctls.get(key) != value:
            yield Step("set_sysctl", name, key, value)


def _removals(name: str, now: State, wanted: Namespace, prefix: str) -> Iterator[Step]:
    for device, link in list(now[name].links.items()):
        if not device.startswith(prefix) or _same_device(link, wanted.links.get(device)):
            continue
        if device not in now[name].links:
            continue  # gone with its other end
        yield Step("remove_link", name, device)
        _forget(now, name, device)


def _same_device(link: Link, wanted: Link | None) -> bool:
    return wanted is not None and (link.kind, link.peer) == (wanted.kind, wanted.peer)


def _forget(now: State, name: str, device: str) -> None:
    """Removing one end of a veth removes the other."""
    peer = now[name].links.pop(device).peer
    if peer and peer[0] in now:
        now[peer[0]].links.pop(peer[1], None)


def _creations(name: str, now: State, desired: State, wanted: Namespace) -> Iterator[Step]:
    # Bridges first: ports are put into them afterwards.
    for device, link in sorted(wanted.links.items(), key=lambda item: item[1].kind != BRIDGE):
        if device in now[name].links:
            continue
        yield Step("create_link", name, device, link)
        now[name].links[device] = _fresh(link)
        if link.kind == VETH:
            peer_namespace, peer = link.peer
            now[peer_namespace].links[peer] = _fresh(Link(VETH, peer=(name, device)))


def _fresh(link: Link) -> Link:
    """A device right after its creation, as far as that is known."""
    return Link(link.kind, peer=link.peer, mac=link.mac, mtu=link.mtu, up=False)


def _link_steps(name: str, device: str, now: Link, wanted: Link) -> Iterator[Step]:
    if wanted.mac and now.mac != wanted.mac:
        yield Step("set_mac", name, device, wanted.mac)
    if wanted.mtu and now.mtu != wanted.mtu:
        yield Step("set_mtu", name, device, wanted.mtu)
    if wanted.offloads is False and now.offloads is not False:
        yield Step("turn_off_offloads", name, device)
    if wanted.bridge and now.bridge != wanted.bridge:
        yield Step("set_bridge", name, device, wanted.bridge)
    if wanted.kind != LOOPBACK:
        for address in sorted(now.addresses - wanted.addresses):
            yield Step("remove_address", name, device, address)
        for address in sorted(wanted.addresses - now.addresses):
            yield Step("add_address", name, device, address)
    if wanted.up and not now.up:
        yield Step("set_up", name, device)
    # Neighbours last: they do not survive a device that goes up.
    for address in sorted(set(now.neighbours) - set(wanted.neighbours)):
        yield Step("remove_neighbour", name, device, address)
    for address, mac in sorted(wanted.neighbours.items()):
        if now.neighbours.get(address) != mac:
            yield Step("set_neighbour", name, device, (address, mac))
