"""Whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import ceil, floor
from typing import Any

from turntable_core.system import Check
from turntable_core.testbed import Testbed
from turntable_core.text_table import size
from turntable_systems.shadowfax import (
    batches,
    key_files,
    placement,
    processors,
    store_size,
    text_stores,
)

Parameters = Mapping[str, Any]

MOST_THREADS = 16  # for a processor that all hosts share: each of them is busy all the time


def _servers(parameters: Parameters, testbed: Testbed) -> str | None:
    there = len(testbed.hosts_of("servers"))
    if parameters["servers"] <= there:
        return None
    return (
        f"at most {there}, the number of server hosts: every server has a host of its own. Choose "
        "an inventory with more of them, or write one (docs/inventory.md)"
    )


def _store(parameters: Parameters, testbed: Testbed) -> str | None:
    """What memcached and Redis do not have is asked of none of them."""
    if not text_stores.is_text(parameters):
        return None
    wanted = {
        "value_bytes": store_size.USUAL_VALUE_BYTES,
        "cluster": False,
        "capacity_per_s": 0,
        "load_file": "",
        "txns_file": "",
        "range_check": "view",
    }
    others = [name for name, value in wanted.items() if parameters[name] != value]
    if not others:
        return None
    name = others[0]
    return (
        f"shadowfax where {name} is {parameters[name]}: the values of memcached and Redis are "
        "numbers here, their keys do not move, and they are as fast as they can"
    )


def _owners(parameters: Parameters, testbed: Testbed) -> str | None:
    if parameters.get("owners", 0) <= parameters["servers"]:
        return None
    return f"at most {parameters['servers']}, the number of servers; 0: all of them"


def _threads(parameters: Parameters, testbed: Testbed) -> str | None:
    if not testbed.emulated:
        return None
    hosts = parameters["servers"] + len(placement.clients(testbed))
    shared = len(os.sched_getaffinity(0))
    most = max(1, MOST_THREADS * shared // hosts)
    if parameters["threads"] <= most:
        return None
    return (
        f"at most {most}: each of {hosts} hosts has so many, and all hosts share this machine's "
        f"{shared} processors"
    )


def _value_bytes(parameters: Parameters, testbed: Testbed) -> str | None:
    most = store_size.most_value_bytes(parameters)
    if parameters["value_bytes"] <= most:
        return None
    return (
        f"at most {most}: a value takes half a page of the log at most, and pages have "
        f"2^{parameters['page_bits']} bytes (page_bits)"
    )


def _batch_operations(parameters: Parameters, testbed: Testbed) -> str | None:
    most = batches.most_operations(parameters)
    if parameters["batch_operations"] <= most:
        return None
    return (
        f"at most {most}: a request takes {batches.request_bytes(parameters)} bytes with values of "
        f"{parameters['value_bytes']} (value_bytes), and a server takes batches of 1 MiB"
    )


def _memory_share(parameters: Parameters, testbed: Testbed) -> str | None:
    if text_stores.is_text(parameters):
        return None
    if store_size.pages(parameters) >= store_size.FEWEST_PAGES:
        return None
    bits, data = parameters["page_bits"], store_size.data_bytes(parameters)
    too_few = (store_size.FEWEST_PAGES - 1) << bits
    least = (floor(100 * too_few / data) + 1) / 100
    return (
        f"at least {least:g}: the log of a server has {store_size.FEWEST_PAGES} pages in memory or "
        f"more, here of 2^{bits} bytes (page_bits), and its data are {size(ceil(data))}"
        f"{_smaller_pages(parameters)}"
    )


def _smaller_pages(parameters: Parameters) -> str:
    """Advice, where there are pages that are small enough."""
    most_bytes = ceil(store_size.wanted_bytes(parameters) / (store_size.FEWEST_PAGES - 1)) - 1
    bits = most_bytes.bit_length() - 1
    if bits < store_size.LEAST_PAGE_BITS:
        return ""
    return f". Or smaller pages: -e page_bits={bits}"


def _compact_above(parameters: Parameters, testbed: Testbed) -> str | None:
    above, bits = parameters["compact_above"], parameters["page_bits"]
    if above == 0 or above >= 1 << bits:
        return None
    return f"at least {1 << bits}, a page of 2^{bits} bytes (page_bits), or 0: never"


def _load_file(parameters: Parameters, testbed: Testbed) -> str | None:
    size_bytes = key_files.KEY_BYTES * parameters["keys"]
    content = f"{size_bytes} bytes, 8 for each of {parameters['keys']} keys (keys)"
    return key_files.expected(parameters["load_file"], testbed, content, size_bytes)


def _txns_file(parameters: Parameters, testbed: Testbed) -> str | None:
    if bool(parameters["load_file"]) != bool(parameters["txns_file"]):
        return "a file where load_file is one, and none where it is empty"
    return key_files.expected(parameters["txns_file"], testbed, "8 bytes for each key, and a key")


def _processors_of(name: str) -> Check:
    def expected(parameters: Parameters, testbed: Testbed) -> str | None:
        try:
            listed = processors.listed(parameters[name])
        except ValueError:
            return (
                "processors in ascending order, joined with +, such as 0-3 or 0+2-3; an empty text "
                "lets threads run on any"
            )
        if not testbed.emulated:
            return None
        known = os.sched_getaffinity(0)
        missing = [str(processor) for processor in listed if processor not in known]
        if not missing:
            return None
        return (
            f"processors that this machine has, where all hosts are: "
            f"{'+'.join(map(str, sorted(known)))}, but not {'+'.join(missing)}"
        )

    return Check(name, expected)


CHECKS = (
    Check("servers", _servers),
    Check(
        "store",
        _store,
        beside=(
            *("value_bytes", "cluster", "capacity_per_s", "load_file", "txns_file"),
            "range_check",
        ),
    ),
    Check("owners", _owners, beside=("servers",)),
    Check("threads", _threads, beside=("servers",)),
    Check("value_bytes", _value_bytes, beside=("page_bits",)),
    Check("batch_operations", _batch_operations, beside=("value_bytes",)),
    Check("memory_share", _memory_share, beside=("page_bits", "keys", "servers", "value_bytes")),
    Check("load_file", _load_file, beside=("keys",)),
    Check("txns_file", _txns_file, beside=("load_file",)),
    Check("compact_above", _compact_above, beside=("page_bits",)),
    _processors_of("server_cpus"),
    _processors_of("client_cpus"),
)
