"""An inventory as the rules see it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .roles import ENDPOINTS

CONTROLLER = "controller"
SWITCHES = "switches"
# A switch's target, and that of a switch which no run drives: it has no program, only settings.
TARGET, VENDOR = "turntable_switch_target", "vendor"
# Variables of this project begin with it.
PREFIX = "turntable_"
# What stands for "file:line" of a value given with -e.
COMMAND_LINE = "-e on the command line"
# Each host of this project is in one of them.
GROUPS = (CONTROLLER, SWITCHES, ENDPOINTS)


@dataclass
class Host:
    """Variables of one host: templated values, why some have none, and where each is given."""

    name: str
    variables: dict[str, Any]
    untemplatable: dict[str, str] = field(default_factory=dict)  # key -> Ansible's message
    places: dict[str, str] = field(default_factory=dict)  # key -> "file:line"
    embedded: bool = False  # stands for a network namespace of this machine

    def place(self, key: str) -> str:
        return self.places.get(key, "")


@dataclass
class Inventory:
    """All groups by name, their hosts in inventory order; variables of those hosts that are in one
    of GROUPS; `sources` are the inventory's paths.
    """

    groups: dict[str, list[str]]
    hosts: dict[str, Host]
    sources: str

    def members(self, *groups: str) -> Iterator[Host]:
        """Hosts of these groups, each once."""
        return (self.hosts[name] for name in self.names(*groups))

    def names(self, *groups: str) -> list[str]:
        """As `members`, by name."""
        return list(dict.fromkeys(name for group in groups for name in self.groups.get(group, [])))

    @property
    def has_switch(self) -> bool:
        """That a run drives: its ports are the program's."""
        return any(not self.is_vendors(host) for host in self.members(SWITCHES))

    def is_vendors(self, host: Host) -> bool:
        return host.name in self.names(SWITCHES) and host.variables.get(TARGET) == VENDOR

    def with_value(self, key: str, *groups: str) -> Iterator[tuple[Host, Any]]:
        """Hosts of these groups (of all by default) that have `key`, with its value."""
        for host in self.members(*(groups or GROUPS)):
            if key in host.variables:
                yield host, host.variables[key]
