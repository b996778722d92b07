"""How long requests take: the distributions of service times, undilated, as nodes are told them
(src/netclone/distribution.h).

The four published ones have names of their own; `redis` is what GET and SCAN took at an idle
redis-server (redis_times.json). With probability `jitter_probability` a copy takes
`jitter_factor` times as long ("unexpected variability" of the paper).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

# {"distribution": NAME, ...}, times in us; or one of each operation, {"GET": ..., "SCAN": ...}.
Spec = Mapping[str, Any]

PUBLISHED: Mapping[str, Spec] = {
    "exp25": {"distribution": "exponential", "mean_us": 25},
    "bimodal25": {"distribution": "bimodal", "short_us": 25, "long_us": 250, "long_share": 0.1},
    "exp50": {"distribution": "exponential", "mean_us": 50},
    "bimodal50": {"distribution": "bimodal", "short_us": 50, "long_us": 500, "long_share": 0.1},
}
REDIS = "redis"
_REDIS_TIMES = Path(__file__).with_name("redis_times.json")
# Of the trimodal one: equally likely times, as multiples of the mean (5, 50, 500 in RackSched).
_TRIMODAL = (5, 50, 500)


def spec_of(parameters: Mapping[str, Any]) -> Spec:
    """Of a cell."""
    name = parameters["distribution"]
    if name in PUBLISHED:
        return PUBLISHED[name]
    if name == REDIS:
        return _redis_times()
    mean_us = parameters["mean_us"]
    if name == "fixed":
        return {"distribution": "fixed", "us": mean_us}
    if name == "lognormal":
        return {"distribution": "lognormal", "mean_us": mean_us, "sigma": parameters["sigma"]}
    scale = mean_us * len(_TRIMODAL) / sum(_TRIMODAL)
    short, middle, long = (part * scale for part in _TRIMODAL)
    share = 1 / len(_TRIMODAL)
    return {
        "distribution": "trimodal",
        "short_us": short,
        "middle_us": middle,
        "long_us": long,
        "middle_share": share,
        "long_share": share,
    }


def meaningless(parameters: Mapping[str, Any]) -> frozenset[str]:
    name = parameters.get("distribution")
    if name in PUBLISHED or name == REDIS:
        return frozenset({"mean_us", "sigma"})
    return frozenset() if name == "lognormal" else frozenset({"sigma"})


def jitter_of(parameters: Mapping[str, Any]) -> dict[str, float]:
    return {
        "probability": parameters["jitter_probability"],
        "factor": parameters["jitter_factor"],
    }


def mean_us(parameters: Mapping[str, Any]) -> float:
    """Of a copy, jitter included."""
    probability, factor = parameters["jitter_probability"], parameters["jitter_factor"]
    return _mean_of(spec_of(parameters), parameters) * (1 + probability * (factor - 1))


def mix_of(parameters: Mapping[str, Any]) -> list[dict[str, Any]] | None:
    """Operations and their shares; None: work that is drawn."""
    if parameters["distribution"] != REDIS:
        return None
    scans = parameters["scan_share"]
    return [{"operation": "GET", "share": 1 - scans}, {"operation": "SCAN", "share": scans}]


@cache
def _redis_times() -> Spec:
    return json.loads(_REDIS_TIMES.read_text(encoding="utf-8"))["service"]


def _mean_of(spec: Spec, parameters: Mapping[str, Any]) -> float:
    if mix := mix_of(parameters):
        return math.fsum(part["share"] * _mean(spec[part["operation"]]) for part in mix)
    return _mean(spec)


def _mean(spec: Spec) -> float:
    kind = spec["distribution"]
    if kind == "fixed":
        return spec["us"]
    if kind in ("exponential", "lognormal"):
        return spec["mean_us"]
    return _weighted(_atoms(spec))


def _weighted(atoms: Sequence[tuple[float, float]]) -> float:
    return math.fsum(us * share for us, share in atoms)


def _atoms(spec: Spec) -> list[tuple[float, float]]:
    """Times and their shares."""
    if spec["distribution"] == "histogram":
        count = sum(seen for _, seen in spec["bins"])
        return [(us, seen / count) for us, seen in spec["bins"]]
    middle = spec.get("middle_share", 0.0)
    short = 1 - middle - spec["long_share"]
    return [
        (spec["short_us"], short),
        (spec.get("middle_us", 0.0), middle),
        (spec["long_us"], spec["long_share"]),
    ]
