"""The state of a testbed, desired or observed, in one vocabulary."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from .marker import Marker

VETH = "veth"
BRIDGE = "bridge"
LOOPBACK = "loopback"


@dataclass
class Link:
    """A network device. In a desired state None means: as the kernel likes it."""

    kind: str
    peer: tuple[str, str] | None = None  # (namespace, device) at the other end of a veth
    mac: str | None = None
    mtu: int | None = None
    bridge: str | None = None  # the bridge this device is a port of
    up: bool = True
    offloads: bool | None = None  # whether any of offloads.FEATURES is on
    addresses: frozenset[str] = frozenset()  # "198.18.0.11/24"
    neighbours: dict[str, str] = field(default_factory=dict)  # permanent: address -> MAC


@dataclass
class Namespace:
    """A namespace, what is in it, and the host directories that live and die beside it."""

    marker: Marker
    sysctls: dict[str, str] = field(default_factory=dict)
    links: dict[str, Link] = field(default_factory=dict)


State = dict[str, Namespace]


def describe(state: State) -> str:
    """One line per fact, sorted: what `--diff` compares."""
    return "".join(f"{line}\n" for name in sorted(state) for line in _lines(name, state[name]))


def _lines(name: str, namespace: Namespace) -> Iterator[str]:
    yield f"{name}: {namespace.marker.text()}"
    for key, value in sorted(namespace.sysctls.items()):
        yield f"{name}: sysctl {key} = {value}"
    for device, link in sorted(namespace.links.items()):
        yield f"{name}: {describe_link(device, link)}"
        for address in sorted(link.addresses):
            yield f"{name}: {device} address {address}"
        for address, mac in sorted(link.neighbours.items()):
            yield f"{name}: {device} neighbour {address} is {mac}"


def describe_link(device: str, link: Link) -> str:
    """A device and those of its attributes that matter, on one line."""
    words = [link.kind, device]
    if link.peer:
        words.append(f"peer {link.peer[0]}/{link.peer[1]}")
    if link.mac:
        words.append(f"mac {link.mac}")
    if link.mtu:
        words.append(f"mtu {link.mtu}")
    if link.bridge:
        words.append(f"port of {link.bridge}")
    if link.offloads is not None:
        words.append(f"offloads {'on' if link.offloads else 'off'}")
    words.append("up" if link.up else "down")
    return " ".join(words)
