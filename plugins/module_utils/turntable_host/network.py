"""The data NIC: state, MTU, address, permanent neighbours; through ip(8)."""

from __future__ import annotations

import json
from typing import Any

from .commands import run
from .errors import GoneError, HostError
from .setting import Setting, Value

PRESENT = "present"


class Mtu(Setting):
    kind = "mtu of"

    def read(self) -> Value:
        return link(self.name)["mtu"]

    def write(self, value: Value) -> None:
        run(["ip", "link", "set", "dev", self.name, "mtu", str(value)])


class LinkState(Setting):
    """up or down: what the host wants, whatever the cable does."""

    kind = "link"

    def read(self) -> Value:
        return "up" if "UP" in link(self.name)["flags"] else "down"

    def write(self, value: Value) -> None:
        run(["ip", "link", "set", "dev", self.name, value])


class Address(Setting):
    """The name is `ens1 198.18.0.11/24`; other addresses of the NIC are left alone."""

    kind = "address"

    def read(self) -> Value:
        nic, _, address = self.name.partition(" ")
        found = link(nic, "address", "-4").get("addr_info", [])
        held = {f"{entry['local']}/{entry['prefixlen']}" for entry in found if "local" in entry}
        return PRESENT if address in held else None

    def write(self, value: Value) -> None:
        nic, _, address = self.name.partition(" ")
        run(["ip", "address", "add" if value else "delete", address, "dev", nic])


class Neighbour(Setting):
    """The name is `ens1 198.18.0.21`, the value a MAC address; what was learned is none."""

    kind = "neighbour"

    def read(self) -> Value:
        nic, _, address = self.name.partition(" ")
        link(nic)
        command = ["ip", "-json", "-4", "neighbour", "show", address, "dev", nic]
        for entry in json.loads(run([*command, "nud", "permanent"]) or "[]"):
            return entry.get("lladdr")
        return None

    def write(self, value: Value) -> None:
        nic, _, address = self.name.partition(" ")
        if value is None:
            run(["ip", "neighbour", "delete", address, "dev", nic])
        else:
            entry = [address, "lladdr", value, "dev", nic, "nud", "permanent"]
            run(["ip", "neighbour", "replace", *entry])


def link(nic: str, what: str = "link", *options: str) -> dict[str, Any]:
    """What ip(8) says about one NIC. Raises GoneError, with the names of those that exist."""
    shown = json.loads(run(["ip", "-json", *options, what, "show"]) or "[]")
    for entry in shown:
        if entry.get("ifname") == nic:
            return entry
    if options:  # of addresses, a NIC without any is not shown
        link(nic)
        return {}
    names = ", ".join(sorted(entry["ifname"] for entry in shown if "ifname" in entry))
    raise GoneError(
        f"NIC {nic} does not exist on this host, which has {names}; expected the one on the data "
        "network. Correct turntable_data_interface"
    )


def require_mac(nic: str, mac: str) -> None:
    """The NIC of that name is the one that the inventory speaks of."""
    present = link(nic)["address"]
    if present != mac:
        raise HostError(
            f"NIC {nic} has the MAC address {present}; expected {mac}, as other hosts and the "
            "switch are told. Correct turntable_data_mac or turntable_data_interface"
        )
