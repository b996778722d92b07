"""What keeps the jobs beside memcached from its processor's time (docs/swan.md, Isolation)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NONE = "none"
# Mechanism -> the parameters that it has.
SETTINGS: Mapping[str, tuple[str, ...]] = {
    NONE: (),
    "taskset": (),
    "cpuset": (),
    "shares": ("be_shares",),
    "idle": (),
    "quota": ("quota_share",),
    "sched_idle": (),
    "nice": ("be_nice",),
    "fifo": ("rt_runtime_share",),
    "cat": ("cat_ways",),
    "mba": ("mba_percent",),
}
_ALL = frozenset(name for names in SETTINGS.values() for name in names)


def request(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """`isolation` of colocator's command `prepare`."""
    mechanism = parameters["isolation"]
    return {"mechanism": mechanism, **{name: parameters[name] for name in SETTINGS[mechanism]}}


def meaningless(parameters: Mapping[str, Any]) -> frozenset[str]:
    mechanism = parameters.get("isolation", NONE)
    return _ALL - set(SETTINGS.get(mechanism, _ALL))
