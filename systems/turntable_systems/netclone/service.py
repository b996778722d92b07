"""How long requests take: the distributions of service times, undilated, as nodes are told them
(src/netclone/distribution.h).

The four published ones have names of their own. With probability `jitter_probability` a copy takes
`jitter_factor` times as long ("unexpected variability" of the paper).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

Spec = Mapping[str, Any]  # {"distribution": NAME, ...}, times in us

PUBLISHED: Mapping[str, Spec] = {
    "exp25": {"distribution": "exponential", "mean_us": 25},
    "bimodal25": {"distribution": "bimodal", "short_us": 25, "long_us": 250, "long_share": 0.1},
    "exp50": {"distribution": "exponential", "mean_us": 50},
    "bimodal50": {"distribution": "bimodal", "short_us": 50, "long_us": 500, "long_share": 0.1},
}
# Of the trimodal one: equally likely times, as multiples of the mean (5, 50, 500 in RackSched).
_TRIMODAL = (5, 50, 500)


def spec_of(parameters: Mapping[str, Any]) -> Spec:
    """Of a cell."""
    name = parameters["distribution"]
    if name in PUBLISHED:
        return PUBLISHED[name]
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
    if name in PUBLISHED:
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
    return _mean_of(spec_of(parameters)) * (1 + probability * (factor - 1))


def _mean_of(spec: Spec) -> float:
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
    middle = spec.get("middle_share", 0.0)
    short = 1 - middle - spec["long_share"]
    return [
        (spec["short_us"], short),
        (spec.get("middle_us", 0.0), middle),
        (spec["long_us"], spec["long_share"]),
    ]
