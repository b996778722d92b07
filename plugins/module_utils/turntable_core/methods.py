"""What tells the compared methods apart, as far as the run needs to know."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WRITE_BACK = ("farreach",)  # the switch answers reads and writes of cached keys
WRITE_THROUGH = ("netcache",)  # ... reads only


def caches(parameters: Mapping[str, Any]) -> bool:
    """Whether the switch of a cell answers requests: switch-agent and cache-controller run."""
    return parameters["method"] in WRITE_BACK + WRITE_THROUGH
