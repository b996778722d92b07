"""Filters that turn the wiring table into what roles take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def ports_of_switch(wiring: Mapping[str, Mapping[str, Any]], switch: str) -> list[dict[str, Any]]:
    """Ports of this switch as they should be: of all endpoints, then its further ones.

    ``turntable_wiring | ports_of_switch('switch0')``
    """
    ports = [
        {
            "name": row["switch_port"],
            "dev_port": row["dev_port"],
            "speed": row["speed"],
            "fec": row["fec"],
            "autoneg": row["autoneg"],
            "peer": name,
        }
        for name, row in wiring.items()
        if "switch_port" in row
    ]
    return ports + [dict(port) for port in wiring[switch].get("ports", [])]


class FilterModule:
    """Ansible's hook."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"ports_of_switch": ports_of_switch}
