"""Filter that turns inventory variables into the hosts of the ssh_known_hosts module."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def ssh_hosts(
    hostvars: Mapping[str, Mapping[str, Any]], hosts: list[str], keys: Mapping[str, str]
) -> list[dict[str, Any]]:
    """Hosts by inventory name; keys: those known beforehand, before turntable_ssh_host_key."""
    return [
        {
            "name": name,
            "address": hostvars[name].get("ansible_host", name),
            "port": int(hostvars[name].get("ansible_port", 22)),
            "key": keys.get(name) or hostvars[name].get("turntable_ssh_host_key"),
        }
        for name in hosts
    ]


class FilterModule:
    """Ansible's hook."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"ssh_hosts": ssh_hosts}
