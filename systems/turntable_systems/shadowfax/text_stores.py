"""Debian's memcached and Redis beside Shadowfax: the parameter `store`."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

from turntable_systems.shadowfax import batches

SHADOWFAX, MEMCACHED, REDIS = "shadowfax", "memcached", "redis"
PORTS: Mapping[str, int] = {MEMCACHED: 11211, REDIS: 6379}  # their own

# Of memcached: a header of 48 bytes, a CAS number, key and value, in a slab of 96 or 120 bytes.
_ITEM_BYTES = 120
_LEAST_MEMORY_MB = 64  # of all classes of slabs, a page each
_LEAST_HASH_POWER, _MOST_HASH_POWER = 12, 32

Parameters = Mapping[str, Any]


def store(parameters: Parameters) -> str:
    """Plans of earlier versions say none."""
    return parameters.get("store", SHADOWFAX)


def is_text(parameters: Parameters) -> bool:
    return store(parameters) != SHADOWFAX


def memory_mb(parameters: Parameters) -> int:
    """What memcached may take: all keys of a server, so that it evicts none."""
    of_one = ceil(parameters["keys"] / parameters["servers"])
    return _LEAST_MEMORY_MB + 2 * ceil(of_one * _ITEM_BYTES / (1 << 20))


def settings(parameters: Parameters) -> dict[str, Any]:
    """Of textstore-node's `prepare`: the fastest that is known (docs/bench.md)."""
    if store(parameters) == REDIS:
        return {}
    keys = parameters["keys"]
    return {
        "threads": parameters["threads"],
        "memory_mb": memory_mb(parameters),
        "hash_power": min(max((keys - 1).bit_length(), _LEAST_HASH_POWER), _MOST_HASH_POWER),
        # A batch is served before other connections have their turn, while it is filled, too.
        "requests_per_event": max(
            parameters["batch_operations"], batches.fill_operations(parameters)
        ),
    }
