"""Columns of `--check`."""

from __future__ import annotations

from collections.abc import Mapping

from turntable_core.plan import Turn
from turntable_systems.farreach import admission, popularity
from turntable_systems.farreach.methods import caches


def of_recorded(turn: Turn) -> Mapping[str, str]:
    """Of a recorded trace: what is replayed of it, and requests for keys that no switch can have,
    since they have values that are too long.
    """
    facts = turn.prediction.recorded
    if facts is None:
        return {}
    share = facts["not_cacheable"]["requests"] / facts["requests"]
    return {
        "requests": f"{facts['requests']:,}",
        "keys": f"{facts['keys']:,}",
        "not cacheable": f"{share:.1%}",
    }


def of_changes(turn: Turn) -> Mapping[str, str]:
    """Where keys are admitted, and where hot ones change: the same columns in all turns of a run.

    at change: normalized throughput of the first moment of a change, the lowest of them all.
    """
    parameters, prediction = turn.cell.parameters, turn.prediction
    columns = {}
    if popularity.is_played(parameters) and prediction.popularity is not None:
        least = [period.normalized(adapted=False) for period in prediction.popularity.periods[1:]]
        known = [value for value in least if value is not None]
        columns["at change"] = number(min(known, default=None), 2)
    if "admission" in parameters:
        live = admission.is_live(parameters) and caches(parameters)
        threshold = admission.hot_threshold(parameters, prediction)
        columns["hot threshold"] = str(threshold) if live else "-"
    return columns


def number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
