"""memcached, as colocator starts it and mcload-node reaches it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from turntable_core.testbed import DataHost, Testbed
from turntable_systems.swan import distributions
from turntable_systems.swan.placement import with_commas

UNIX = "unix"
_SOCKET = "memcached.socket"

_ITEM_BYTES = 48 + 8 + 1 + 2

# memcached's own first table has 2^16 buckets, and doubles when it has 1.5 keys per bucket.
_LEAST_HASH_POWER, _KEYS_PER_BUCKET = 16, 1.5


def host(testbed: Testbed) -> DataHost:
    (only,) = testbed.hosts_of("servers")
    return only


def endpoint(parameters: Mapping[str, Any], testbed: Testbed) -> dict[str, Any]:
    """`server` of mcload-node's commands."""
    at = host(testbed)
    if parameters["transport"] == UNIX:
        return {"socket": f"{at.run_dir}/{_SOCKET}"}
    return {"address": at.address, "port": parameters["memcached_port"]}


def settings(parameters: Mapping[str, Any], testbed: Testbed, *, fresh: bool) -> dict[str, Any]:
    """`memcached` of colocator's command `prepare`."""
    return {
        "threads": parameters["threads"],
        "connections": parameters["max_connections"],
        "memory_mb": parameters["memory_mb"],
        "hash_power": hash_power(parameters["records"]),
        "user": parameters["memcached_user"],
        "affinity": parameters["threads_affinity"],
        "timeout_s": parameters["memcached_timeout_s"],
        "fresh": fresh,
        **endpoint(parameters, testbed),
    }


def own_descriptors(parameters: Mapping[str, Any]) -> int:
    """Which memcached 1.6 takes from its connections for itself, at most: measured were 14 with one
    thread, and no start at all with four threads and 20 connections.
    """
    return 16 + 4 * parameters["threads"]


def hash_power(records: int) -> int:
    """Of a table that holds the records without growing. It grows some seconds after it was filled,
    and stops all requests for tens of milliseconds then: the first load of a block would have that
    in its percentile, and no other.
    """
    keys = records + 1  # by which a generator knows that they are stored
    return max(_LEAST_HASH_POWER, math.ceil(math.log2(keys / _KEYS_PER_BUCKET)))


def least_bytes(parameters: Mapping[str, Any]) -> float | None:
    """What the records take in memcached 1.6 at least: header, compare-and-swap number, ends of key
    and value; without what its slab classes waste. None where sizes differ.
    """
    sizes = [distributions.always(str(parameters[name])) for name in ("key_size", "value_size")]
    if None in sizes:
        return None
    return parameters["records"] * (_ITEM_BYTES + sum(size or 0 for size in sizes))


def content(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """`content` of mcload-node's commands."""
    sizes = {name: with_commas(parameters[name]) for name in ("key_size", "value_size")}
    return {"records": parameters["records"], **sizes, "seed": parameters["seed"]}
