"""Compares two bfrt.json in what a control plane sees: names, key fields, actions, data, digests.

Ids, sizes (the compiler rounds them up), annotations and attributes may differ.
"""

from __future__ import annotations

from typing import Any

from . import named
from .named import Names

# Kinds of tables that the compiler adds for the chip and its debugging: no program asks for them.
_OF_THE_CHIP = ("ParserInstance", "PortMetadata", "Snapshot", "TblDbgCnt")


def differences(ours: dict[str, Any], theirs: dict[str, Any]) -> list[str]:
    """One line per difference, empty if there is none."""
    return named.differences(names(ours), names(theirs))


def names(document: dict[str, Any]) -> Names:
    tables = {
        t["name"]: t for t in document["tables"] if not t["table_type"].startswith(_OF_THE_CHIP)
    }
    return {
        "table": {name: _table(table) for name, table in tables.items()},
        "digest": {
            learn["name"]: {f["name"]: _type(f["type"]) for f in learn["fields"]}
            for learn in document.get("learn_filters", [])
        },
    }


def _table(table: dict[str, Any]) -> Names:
    return {
        "kind": table["table_type"],
        "key": {key["name"]: f"{key['match_type']} {_type(key['type'])}" for key in table["key"]},
        "action": {
            action["name"]: {d["name"]: _type(d["type"]) for d in action["data"]}
            for action in table.get("action_specs", [])
        },
        "data": {
            field["name"]: _datum(field)
            for datum in table["data"]
            for field in datum.get("oneof", [datum.get("singleton", datum)])
        },
    }


def _datum(field: dict[str, Any]) -> str:
    """A type, or what each of a list of containers has."""
    if "container" not in field:
        return _type(field["type"])
    parts = [part["singleton"] for part in field["container"]]
    texts = [f"{part['name']} {_type(part['type'])}" for part in parts]
    return f"list of {', '.join(texts)}"


def _type(type_: dict[str, Any]) -> str:
    width = type_.get("width")
    return type_["type"] if width is None else f"{type_['type']} {width}"
