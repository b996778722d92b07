"""The workload object that nodes are told (docs/architecture.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FIELDS = ("records", "theta", "value_bytes", "clients", "operations", "seed")


def workload_of(parameters: Mapping[str, Any], round_: int) -> dict[str, Any]:
    return {
        "name": parameters["workload"],
        **{name: parameters[name] for name in _FIELDS},
        "round": round_,
    }
