"""What a translated program declares: its tables, registers and their bits, by its bfrt.json.

What these take of a chip is its compiler's business (docs/p4soft.md): it rounds to blocks, and
shares units.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_EXACT = "Exact"
_PRIORITY = "$MATCH_PRIORITY"  # the control plane's, no field of a packet


@dataclass(frozen=True)
class Declared:
    """Of one program."""

    match_tables: int  # those that match something
    match_entries: int
    exact_key_bits: int  # of all entries of the tables that match exactly, hash tables in SRAM
    ternary_key_bits: int  # the same of the other tables: LPM, ternary, range
    registers: int
    register_cells: int
    register_bits: int
    counters: int  # with an index; those of tables' entries are not among them


def declared(schema: Mapping[str, Any]) -> Declared:
    """schema: of NAME.bfrt.json."""
    tables = schema["tables"]
    matching = [table for table in tables if _is_match(table) and _fields(table)]
    registers = [table for table in tables if table["table_type"] == "Register"]
    return Declared(
        match_tables=len(matching),
        match_entries=sum(table["size"] for table in matching),
        exact_key_bits=_key_bits(table for table in matching if _is_exact(table)),
        ternary_key_bits=_key_bits(table for table in matching if not _is_exact(table)),
        registers=len(registers),
        register_cells=sum(table["size"] for table in registers),
        register_bits=sum(table["size"] * _cell_bits(table) for table in registers),
        counters=sum(table["table_type"] == "Counter" for table in tables),
    )


def _is_match(table: Mapping[str, Any]) -> bool:
    return table["table_type"].startswith("MatchAction")


def _fields(table: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [key for key in table["key"] if key["name"] != _PRIORITY]


def _is_exact(table: Mapping[str, Any]) -> bool:
    return all(field["match_type"] == _EXACT for field in _fields(table))


def _key_bits(tables: Iterable[Mapping[str, Any]]) -> int:
    return sum(
        table["size"] * sum(field["type"]["width"] for field in _fields(table)) for table in tables
    )


def _cell_bits(table: Mapping[str, Any]) -> int:
    """A cell may have two fields."""
    return sum(datum["singleton"]["type"]["width"] for datum in table["data"])
