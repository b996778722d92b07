"""Published results: a CSV whose columns before `metric` are conditions on a cell's parameters."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from pathlib import Path
from typing import Any

_NOT_CONDITIONS = ("metric", "value", "unit", "source")


class Reference:
    def __init__(self, file: Path | None) -> None:
        self._rows = []
        if file is not None:
            with file.open(newline="", encoding="utf-8") as lines:
                self._rows = list(csv.DictReader(lines))

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


def _equal(text: str, value: Any) -> bool:
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return text == str(value)
