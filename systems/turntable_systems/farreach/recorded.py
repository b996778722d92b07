"""A recorded trace as the workload (docs/workloads.md §9): `-e trace=FILE`."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from turntable_systems.farreach.methods import CACHEABLE_BYTES

_PREFIX = "trace:"

# Of parameters about which the file decides: one value each, so that levels are one cell.
_DECIDED: Mapping[str, Any] = {
    "theta": 0.99,
    "seed": 0,
    "records": 1_000_000_000,  # at most: a cell's cache may be larger than those of a trace
    "value_bytes": CACHEABLE_BYTES,  # every value has its own; those that fit are cached
}


def is_recorded(parameters: Mapping[str, Any]) -> bool:
    return bool(parameters.get("trace"))


def resolved(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    """With a trace the workload is the file, in whatever experiment."""
    if not is_recorded(parameters):
        return {name: value for name, value in parameters.items() if name != "trace"}
    file = Path(parameters["trace"])
    with suppress(RuntimeError):  # the home of nobody: there is no such file either
        file = file.expanduser()
    file = file.resolve()
    return {**parameters, **_DECIDED, "trace": str(file), "workload": _PREFIX + file.name}


def arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Of workload-analyze."""
    return {"--workload": "trace", "--recorded": parameters["trace"]}


def workload_object(facts: Mapping[str, Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """facts: what workload-analyze said of the trace. All rounds replay the same requests."""
    return {
        "name": "trace",
        "records": facts["keys"],
        "theta": _DECIDED["theta"],
        "value_bytes": facts["longest_value_bytes"],
        "clients": parameters["clients"],
        "operations": facts["requests"],
        "seed": _DECIDED["seed"],
        "round": 0,
        "trace": {"file": facts["file"], "digest": facts["digest"]},
    }
