"""The tables of a switch, by name, from the documents that it answers (bfrt.json)."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from turntable_bfrt.errors import SchemaError

_BITS = {f"{sign}int{bits}": bits for sign in ("u", "") for bits in (8, 16, 32, 64)}


@dataclass(frozen=True)
class Field:
    id: int
    name: str
    kind: str  # of a value: number, bool, string or float
    width: int = 0  # bits of a number
    repeated: bool = False
    match: str = ""  # of a key: Exact, Ternary, LPM, Range, Optional


@dataclass(frozen=True)
class Action:
    id: int
    name: str
    data: Mapping[str, Field]


@dataclass(frozen=True)
class Table:
    id: int
    name: str
    type: str
    keys: Mapping[str, Field]
    actions: Mapping[str, Action]
    data: Mapping[str, Field]  # beside that of an action
    operations: tuple[str, ...]

    def action(self, name: str) -> Action:
        return self.actions[resolve(self.actions, name, f"action of table {self.name}")]

    def data_of(self, action: Action | None) -> Mapping[str, Field]:
        return self.data if action is None else {**self.data, **action.data}


def resolve(names: Iterable[str], wanted: str, what: str) -> str:
    """The name itself, or the only one that ends in it after a dot."""
    known = list(names)
    if wanted in known:
        return wanted
    found = [name for name in known if name.endswith(f".{wanted}")]
    if len(found) == 1:
        return found[0]
    which = f"several: {', '.join(found)}" if found else f"there are {', '.join(sorted(known))}"
    raise SchemaError(f"{wanted!r} is no {what}; {which}")


def tables_of(*documents: bytes) -> dict[str, Table]:
    """By name. documents: of the program, and of the switch's own tables; empty ones are none."""
    return {
        table.name: table
        for document in documents
        if document
        for table in map(_table, json.loads(document)["tables"])
    }


def _field(document: Mapping[str, Any]) -> Field:
    kind = document["type"]["type"]
    width = document["type"]["width"] if kind == "bytes" else _BITS.get(kind, 0)
    return Field(
        document["id"],
        document["name"],
        "number" if width else kind,
        width,
        document.get("repeated", False),
        document.get("match_type", ""),
    )


def _data(documents: Iterable[Mapping[str, Any]]) -> dict[str, Field]:
    singles = (document.get("singleton", document) for document in documents)
    return {field.name: field for field in (_field(one) for one in singles if "type" in one)}


def _table(document: Mapping[str, Any]) -> Table:
    return Table(
        document["id"],
        document["name"],
        document["table_type"],
        {key["name"]: _field(key) for key in document["key"]},
        {
            action["name"]: Action(action["id"], action["name"], _data(action["data"]))
            for action in document.get("action_specs", [])
        },
        _data(document["data"]),
        tuple(document.get("supported_operations", [])),
    )
