"""The wiring table of a rack, turntable_wiring: what is plugged into what.

A row is of a host, by its inventory name. inventories/schema/wiring.schema.json has the rules of
one row; here are those between rows, and between a row and the variables of its host.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator, FormatChecker
from jsonschema.exceptions import ValidationError

from .inventory import SWITCHES, TARGET, Inventory
from .problem import Problem
from .roles import ENDPOINTS

KEY = "turntable_wiring"
SCHEMA = Path(__file__).parents[2] / "inventories/schema/wiring.schema.json"
PORTS_OF_A_PIPE = 128
# Of a row, and of the host whose row it is.
_SAME = {
    "nic": "turntable_data_interface",
    "mac": "turntable_data_mac",
    "address": "turntable_data_address",
    "dev_port": "turntable_switch_port",
}


def check(inventory: Inventory) -> Iterator[Problem]:
    table = next(iter(inventory.with_value(KEY)), None)
    yield from _missing(inventory)
    if table is None:
        return
    host, wiring = table
    if not isinstance(wiring, Mapping):
        return  # the type is a rule of testbed.schema.json
    place = host.place(KEY)
    malformed = list(_malformed(inventory, wiring, place))
    yield from malformed
    yield from _rows(inventory, wiring, place)
    if not malformed:
        yield from _duplicates(inventory, wiring, place)
        yield from _same_as_variables(inventory, wiring, place)
        yield from _pipes(inventory, wiring, place)


def _missing(inventory: Inventory) -> Iterator[Problem]:
    for host, target in inventory.with_value(TARGET, SWITCHES):
        if target == "tofino" and KEY not in host.variables and KEY not in host.untemplatable:
            expected = (
                "a table with a row per host: what is plugged into which port of the switch "
                "(docs/rack.md)"
            )
            yield Problem(host.name, f"{KEY} is missing", expected, place=inventory.sources)


def _malformed(inventory: Inventory, wiring: Mapping[str, Any], place: str) -> Iterator[Problem]:
    schema = json.loads(SCHEMA.read_text())
    for kind, group in (("endpoint", ENDPOINTS), ("switch", SWITCHES)):
        rules = {"$ref": f"#/$defs/{kind}", "$defs": schema["$defs"]}
        validator = Draft202012Validator(rules, format_checker=FormatChecker(formats=["ipv4"]))
        for name in inventory.names(group):
            for error in validator.iter_errors(wiring.get(name, {})) if name in wiring else ():
                yield from _problems(name, error, schema["$defs"], kind, place)


def _problems(
    name: str, error: ValidationError, definitions: Mapping[str, Any], kind: str, place: str
) -> Iterator[Problem]:
    path = ".".join((KEY, name, *map(str, error.absolute_path)))
    of_port = len(error.absolute_path) > 1
    properties = definitions["port" if of_port else kind]["properties"]
    if error.validator == "required":
        for key in error.validator_value:
            if key not in error.instance:
                yield Problem(
                    name,
                    f"{path}.{key} is missing",
                    _said(definitions, properties[key]),
                    place=place,
                )
    elif error.validator == "additionalProperties":
        for key in error.instance:
            if key not in properties:
                expected = f"one of {', '.join(properties)}"
                yield Problem(name, f"unknown key {path}.{key}", expected, place=place)
    else:
        key = next(
            (str(part) for part in reversed(error.absolute_path) if isinstance(part, str)), ""
        )
        expected = _said(definitions, properties.get(key, definitions[kind]))
        yield Problem(name, path, expected, error.instance, place)


def _said(definitions: Mapping[str, Any], entry: Mapping[str, Any]) -> str:
    if "$ref" in entry:
        entry = definitions[entry["$ref"].rsplit("/", 1)[1]]
    return str(entry.get("description", "a mapping"))


def _rows(inventory: Inventory, wiring: Mapping[str, Any], place: str) -> Iterator[Problem]:
    hosts = inventory.names(SWITCHES, ENDPOINTS)
    for name in hosts:
        if name not in wiring:
            yield Problem(name, f"{KEY}.{name} is missing", "a row for every host", place=place)
    for name in wiring:
        if name not in hosts:
            expected = f"rows of hosts of this inventory: {', '.join(hosts)}"
            yield Problem("inventory", f"row {KEY}.{name}", expected, place=place)


def _duplicates(inventory: Inventory, wiring: Mapping[str, Any], place: str) -> Iterator[Problem]:
    owners: dict[tuple[str, Any], str] = {}
    for host, key, value, path in _values(inventory, wiring):
        owner = owners.setdefault((key, value), path)
        if owner != path:
            expected = f"a value of its own, {owner} has this one"
            yield Problem(host, path, expected, value, place)


def _values(inventory: Inventory, wiring: Mapping[str, Any]) -> Iterator[tuple[str, str, Any, str]]:
    """Host, what the value is of, value and path, of all that is there once."""
    for name in inventory.names(ENDPOINTS):
        for key in ("switch_port", "dev_port", "mac", "address"):
            if key in wiring.get(name, {}):
                yield name, key, wiring[name][key], f"{KEY}.{name}.{key}"
    for name in inventory.names(SWITCHES):
        for number, port in enumerate(wiring.get(name, {}).get("ports", [])):
            for key, same in (("name", "switch_port"), ("dev_port", "dev_port")):
                if key in port:
                    yield name, same, port[key], f"{KEY}.{name}.ports.{number}.{key}"


def _same_as_variables(
    inventory: Inventory, wiring: Mapping[str, Any], place: str
) -> Iterator[Problem]:
    """Said in two places, a fact is true in one of them at most when they differ."""
    for host in inventory.members(ENDPOINTS):
        for key, variable in _SAME.items():
            row = wiring.get(host.name, {})
            if key in row and variable in host.variables and row[key] != host.variables[variable]:
                expected = f"{row[key]!r} as {KEY}.{host.name}.{key} [{place}] has it"
                yield Problem(
                    host.name, variable, expected, host.variables[variable], host.place(variable)
                )


def _pipes(inventory: Inventory, wiring: Mapping[str, Any], place: str) -> Iterator[Problem]:
    for name in inventory.names(SWITCHES):
        pipes = wiring.get(name, {}).get("pipes")
        for host, key, value, path in _values(inventory, wiring):
            if pipes and key == "dev_port" and value // PORTS_OF_A_PIPE >= pipes:
                expected = (
                    f"a port of one of the {pipes} pipes of {name}: below {pipes * PORTS_OF_A_PIPE}"
                )
                yield Problem(host, path, expected, value, place)
