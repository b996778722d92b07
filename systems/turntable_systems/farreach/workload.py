"""The workload object that nodes are told (docs/architecture.md §4)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.plan import Turn
from turntable_systems.farreach import recorded

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


def replays_pieces(parameters: Mapping[str, Any]) -> bool:
    """Whether each iteration of a turn begins at a place of its own in the traces, so that together
    they see all of them. Where keys are inserted, their order matters; recorded requests have one.
    """
    like_its_window = is_like_its_window(parameters["workload"], cached=True)
    return like_its_window and not recorded.is_recorded(parameters)


def workload_of(turn: Turn) -> dict[str, Any]:
    parameters = turn.cell.parameters
    if turn.prediction.recorded is not None:
        return recorded.workload_object(turn.prediction.recorded, parameters)
    return {
        "name": parameters["workload"],
        **{name: parameters[name] for name in _FIELDS},
        "round": turn.round,
    }
