"""Filters that derive a host's addresses from its index, for inventories."""

from __future__ import annotations

import ipaddress
from collections.abc import Callable
from typing import Any

from ansible.errors import AnsibleFilterError


def nth_address(network: str, index: int) -> str:
    """The address at `index` of a network: ``'198.18.0.0/24' | nth_address(11)`` is 198.18.0.11."""
    try:
        return str(ipaddress.IPv4Network(network)[int(index)])
    except (ValueError, IndexError) as error:
        raise AnsibleFilterError(
            f"nth_address: no address number {index!r} in {network!r} ({error}); "
            "expected an IPv4 network such as 198.18.0.0/24 and an index inside it"
        ) from error


def mac_of_address(address: str) -> str:
    """A locally administered MAC address that holds the IPv4 address: 02:00 and its four bytes."""
    try:
        return "02:00:" + ipaddress.IPv4Address(address).packed.hex(":")
    except ValueError as error:
        raise AnsibleFilterError(f"mac_of_address: {address!r} is no IPv4 address") from error


class FilterModule:
    """Ansible's hook."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"nth_address": nth_address, "mac_of_address": mac_of_address}
