"""Published results: a CSV whose columns before `metric` are conditions on a cell's parameters. An
empty one is met by cells that lack the parameter, since it says nothing about them.
"""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from turntable_core.errors import InputError, TurntableError, did_you_mean

_NOT_CONDITIONS = ("metric", "value", "unit", "source")


class Reference:
    """Raises TurntableError when the file is missing or is no table of that form."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._rows = _read(file) if file is not None else []

    def check(self, parameters: Collection[str]) -> None:
        """Raises InputError for a condition on what is no parameter."""
        for column in self._rows[0] if self._rows else ():
            if column not in parameters and column not in _NOT_CONDITIONS:
                expected = f"a parameter{did_you_mean(column, parameters)}"
                raise InputError(f"{self._file}:1", "column", column, expected)

    @property
    def metrics(self) -> list[str]:
        return list(dict.fromkeys(row["metric"] for row in self._rows))

    def value(self, metric: str, parameters: Mapping[str, Any]) -> float | None:
        """The published value for exactly these parameters, or None.

        A changed theta, for instance, has no published number.
        """
        for row in self._rows:
            if row["metric"] == metric and all(
                _equal(row[key], parameters.get(key)) for key in row if key not in _NOT_CONDITIONS
            ):
                return float(row["value"])
        return None


def _read(file: Path) -> list[dict[str, str]]:
    try:
        with file.open(newline="", encoding="utf-8") as lines:
            reader = csv.DictReader(lines)
            _check_columns(f"{file}:1", reader.fieldnames or ())
            return [_checked(f"{file}:{reader.line_num}", row) for row in reader]
    except (OSError, UnicodeDecodeError) as error:
        raise TurntableError(
            f"{file}: cannot be read: {error}. Expected the CSV of published results that the "
            "experiment names as `reference`; an experiment without one leaves the key out."
        ) from None


def _check_columns(where: str, columns: Collection[str]) -> None:
    for column in ("metric", "value"):
        if column not in columns:
            raise InputError(where, "columns", ",".join(columns), f"a column {column!r} too")


def _checked(where: str, row: dict[str, str]) -> dict[str, str]:
    if None in row or None in row.values():
        raise InputError(where, "row", ",".join(map(str, row.values())), "a field per column")
    try:
        float(row["value"])
    except ValueError:
        raise InputError(where, "value", row["value"], "a number") from None
    return row


def _equal(text: str, value: Any) -> bool:
    if value is None:
        return not text
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return text == str(value)
