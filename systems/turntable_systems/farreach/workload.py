"""The workload object that nodes are told (docs/architecture.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_FIELDS = ("records", "theta", "value_bytes", "clients", "operations", "seed")


# The newest records are the hottest ones.
_NEWEST = frozenset({"workloadd"})
# Every record has its turn, once.
_IN_TURN = frozenset({"workload-load"})


def is_like_its_window(workload: str, *, cached: bool) -> bool:
    """Whether any window of the traces is distributed over partitions as the whole of them is, and
    with `cached` over the keys that are the hottest of the whole.
    """
    return workload not in _NEWEST and not (cached and workload in _IN_TURN)


def workload_of(parameters: Mapping[str, Any], round_: int) -> dict[str, Any]:
    return {
        "name": parameters["workload"],
        **{name: parameters[name] for name in _FIELDS},
        "round": round_,
    }
