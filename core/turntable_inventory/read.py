"""An inventory as Ansible has read it -> Inventory, and what is wrong with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from ansible.errors import AnsibleError

from turntable_inventory import rules, shape, wiring
from turntable_inventory.inventory import COMMAND_LINE, GROUPS, PREFIX, Host, Inventory
from turntable_inventory.problem import Problem

INVENTORIES = Path(__file__).parents[2] / "inventories"
SCHEMA = INVENTORIES / "schema/testbed.schema.json"


def problems_of(inventory: Inventory) -> Iterator[Problem]:
    yield from shape.check(inventory, json.loads(SCHEMA.read_text()))
    yield from rules.check(inventory)
    yield from wiring.check(inventory)


def read_inventory(task_vars: Mapping[str, Any]) -> Inventory:
    """The inventory behind a task's variables, values templated."""
    groups = {name: list(hosts) for name, hosts in task_vars["groups"].items()}
    sources = ", ".join(shorten(path) for path in task_vars.get("ansible_inventory_sources") or [])
    inventory = Inventory(groups, {}, sources)
    for name in inventory.names(*GROUPS):
        inventory.hosts[name] = read_host(task_vars["hostvars"], name)
    return inventory


def read_host(hostvars: Any, name: str) -> Host:
    raw = hostvars.raw_get(name)
    embedded = raw.get("ansible_connection") == "netns" or f"{PREFIX}namespace" in raw
    host = Host(name, {}, embedded=embedded)
    for key, value in raw.items():
        if not key.startswith(PREFIX):
            continue
        host.places[str(key)] = place_of(key, value)
        try:
            host.variables[str(key)] = hostvars[name][key]
        except AnsibleError as error:
            host.untemplatable[str(key)] = str(error).splitlines()[0]
    return host


def place_of(key: Any, value: Any) -> str:
    """`file:line` of a variable: ansible-core notes on every value it reads where it comes from."""
    try:
        from ansible._internal._datatag._tags import Origin  # noqa: PLC0415  no public name yet
    except ImportError:
        return ""
    # The value first: a key is the one that was read first, even if another file overrides the
    # value.
    origin = Origin.get_tag(value) or Origin.get_tag(key)
    if origin is None:
        return ""
    return f"{shorten(origin.path)}:{origin.line_num}" if origin.path else COMMAND_LINE


def shorten(path: str) -> str:
    """Relative to the working directory where that is shorter to read."""
    absolute = Path(path)
    here = Path.cwd()
    return str(absolute.relative_to(here)) if absolute.is_relative_to(here) else path
