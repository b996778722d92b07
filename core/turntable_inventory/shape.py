"""The rules of inventories/schema/testbed.schema.json: each host alone."""

from __future__ import annotations

import difflib
import ipaddress
from collections.abc import Iterator
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from .inventory import COMMAND_LINE, CONTROLLER, GROUPS, PREFIX, SWITCHES, Host, Inventory
from .problem import Problem
from .roles import ENDPOINTS

_SHORTEST_USEFUL_NETWORK = 29  # six hosts; the smallest testbed has a controller and two hosts
_JSON_TYPES = {bool: "a boolean", int: "a whole number", float: "a number", str: "a string"}

_formats = FormatChecker(formats=["ipv4"])


@_formats.checks("ipv4-network", raises=ValueError)
def _is_network(value: Any) -> bool:
    if not isinstance(value, str):
        return True  # the type is another rule
    return "/" in value and ipaddress.IPv4Network(value).prefixlen <= _SHORTEST_USEFUL_NETWORK


def check(inventory: Inventory, schema: dict[str, Any]) -> Iterator[Problem]:
    """Problems of single hosts, those of unknown and missing keys first."""
    for host in inventory.members(*GROUPS):
        missing = list(_missing(host, inventory, schema))
        superfluous = list(_superfluous(host, inventory, schema))
        yield from _unknown(host, schema)
        yield from missing
        yield from superfluous
        if not missing and not superfluous:  # which are also why templates fail
            yield from _untemplatable(host)
        yield from _malformed(host, schema)


def _unknown(host: Host, schema: dict[str, Any]) -> Iterator[Problem]:
    known = list(schema["properties"])
    for key in {**host.variables, **host.untemplatable}:
        if key in known or not host.place(key):
            continue  # without a place it is no setting: a task of an earlier play registered it
        close = difflib.get_close_matches(_bare(key), map(_bare, known), n=1)
        expected = (
            f"{PREFIX}{close[0]}: did you mean that?" if close else "a key of inventories/schema"
        )
        yield Problem(host.name, f"unknown key {key}", expected, place=host.place(key))


def _bare(key: str) -> str:
    return key.removeprefix(PREFIX)


def _missing(host: Host, inventory: Inventory, schema: dict[str, Any]) -> Iterator[Problem]:
    required = schema["$defs"]["required"]
    keys = [key for kind in _kinds(host, inventory) for key in required[kind]["required"]]
    for key in dict.fromkeys(keys):
        if key not in host.variables and key not in host.untemplatable:
            description = _resolved(schema, schema["properties"][key])["description"]
            yield Problem(host.name, f"{key} is missing", description, place=inventory.sources)


def _kinds(host: Host, inventory: Inventory) -> list[str]:
    """What the host is, by the names of the schema's lists of required keys."""
    if inventory.is_vendors(host):
        return ["vendors"]
    kinds = [group for group in GROUPS if host.name in inventory.groups.get(group, [])]
    if ENDPOINTS in kinds and inventory.has_switch:
        kinds.append("switched")
    if host.embedded:
        kinds.append("embedded")
        if CONTROLLER in kinds and not inventory.has_switch:
            kinds.append("bridged")
    return kinds


def _superfluous(host: Host, inventory: Inventory, schema: dict[str, Any]) -> Iterator[Problem]:
    """Keys that would have no effect, because host or data network are other ones."""
    if inventory.has_switch:
        other, why = "bridged", f"the hosts are plugged into the switch of group {SWITCHES}"
    else:
        other, why = "switched", f"the inventory has no host in group {SWITCHES}"
        if inventory.names(SWITCHES):
            why = "the switch is a vendor's, and no run drives it"
    keys = dict.fromkeys(schema["$defs"]["required"][other]["required"], why)
    if host.embedded:
        why = "the host is a network namespace of this machine, whose settings are not changed"
        keys |= dict.fromkeys(schema["$defs"]["machines"]["only"], why)
    for key, why in keys.items():
        if key in host.variables or key in host.untemplatable:
            yield Problem(
                host.name, f"superfluous key {key}", f"none: {why}", place=host.place(key)
            )


def _untemplatable(host: Host) -> Iterator[Problem]:
    for key, reason in host.untemplatable.items():
        expected = f"a value that can be computed ({reason})"
        yield Problem(host.name, key, expected, place=host.place(key))


def _malformed(host: Host, schema: dict[str, Any]) -> Iterator[Problem]:
    validator = Draft202012Validator(schema, format_checker=_formats)
    for error in validator.iter_errors(host.variables):
        if not error.absolute_path and error.validator != "additionalProperties":
            raise error  # the schema itself has a rule that this function does not know
        if error.absolute_path:
            yield _malformed_value(host, schema, error)


def _malformed_value(host: Host, schema: dict[str, Any], error: ValidationError) -> Problem:
    key = str(error.absolute_path[0])
    expected = _resolved(schema, schema["properties"][key])["description"]
    if error.validator == "type":
        expected += f", not {_JSON_TYPES.get(_plain_type(error.instance), 'a list or mapping')}"
        if host.place(key) == COMMAND_LINE:
            expected += f"; -e {key}=... always gives a string, -e '{{\"{key}\": ...}}' any type"
    name = ".".join(str(part) for part in error.absolute_path)
    return Problem(host.name, name, expected, error.instance, host.place(key))


def _plain_type(value: Any) -> type:
    """The JSON type behind Ansible's annotated subclasses."""
    return next((kind for kind in (bool, int, float, str) if isinstance(value, kind)), object)


def _resolved(schema: dict[str, Any], entry: dict[str, Any]) -> dict[str, Any]:
    if "$ref" in entry:
        return schema["$defs"][entry["$ref"].rsplit("/", 1)[1]]
    return entry
