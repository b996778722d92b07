"""What the clients of a rack see is linearizable, whatever happens to their packets and keys.

Every run has deletes, and values that cross the 128 bytes of a slot; its cache is so small and its
threshold so low that keys come and go all the time.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest

from .faults import chance, disorder
from .history import check
from .network import CLIENT, SERVERS
from .rack import AGENT, CPU, MS, Rack, Setup, eventually

METHODS = ("farreach", "netcache")
ANSWERS = 4_000
EVICTIONS = 20

StartRack = Callable[[Setup], Rack]

pytestmark = pytest.mark.parametrize("method", METHODS)


def finish(rack: Rack) -> dict[str, Any]:
    """Ends the clients and checks what they saw -> their statistics."""
    eventually(lambda: rack.call(AGENT, "stats")["evicted"] >= EVICTIONS, "evictions")
    statistics = rack.end_clients()
    assert statistics["wrong_values"] == statistics["wrong_node"] == statistics["mismatched"] == 0
    rack.heal()
    checked = check(rack)
    assert checked.ok, "\n".join([*checked.lost, checked.text])
    return statistics


def test_without_faults(start_rack: StartRack, method: str) -> None:
    rack = start_rack(Setup(method=method))
    rack.begin_clients()
    rack.wait_for_answers(ANSWERS)
    finish(rack)


def test_loss_anywhere(start_rack: StartRack, method: str) -> None:
    rack = start_rack(Setup(method=method, seed=2, timeout_ms=50))
    seeds = itertools.count(1)
    for host in (CLIENT, *SERVERS, CPU):
        for direction in ("rx", "tx"):
            rack.impair(host, direction, chance("drop", 1, next(seeds)))
    rack.begin_clients()
    rack.wait_for_answers(ANSWERS)
    assert finish(rack)["retries"] > 0


def test_duplicates_and_disorder_between_client_and_switch(
    start_rack: StartRack, method: str
) -> None:
    rack = start_rack(Setup(method=method, seed=3))
    rack.impair(CLIENT, "rx", *disorder(11))
    rack.impair(CLIENT, "tx", *disorder(21))
    rack.begin_clients()
    rack.wait_for_answers(ANSWERS)
    assert finish(rack)["stale_answers"] > 0


def test_all_faults_at_once_while_requests_are_late(start_rack: StartRack, method: str) -> None:
    """Servers are a millisecond away, in order; time-outs are so short that retries overtake.

    A lost value update of NetCache holds up its server for 100 ms.
    """
    waits = method == "netcache"
    rack = start_rack(Setup(method=method, seed=4, timeout_ms=50 if waits else 10))
    for number, host in enumerate(SERVERS):
        for direction in ("rx", "tx"):
            loss = chance("drop", 1, 31 + number)
            rack.impair(host, direction, loss, {"action": "delay", "delay_ns": MS})
    rack.impair(CLIENT, "rx", chance("drop", 1, 41), *disorder(42))
    rack.impair(CLIENT, "tx", chance("drop", 1, 51), *disorder(52))
    rack.begin_clients()
    rack.wait_for_answers(ANSWERS // 8 if waits else ANSWERS)
    statistics = finish(rack)
    assert statistics["retries"] > 0 and statistics["stale_answers"] > 0


def test_while_the_cache_changes_its_size(start_rack: StartRack, method: str) -> None:
    rack = start_rack(Setup(method=method, seed=5))
    rack.impair(CLIENT, "rx", *disorder(61))
    rack.begin_clients()
    for size in (20, 100, 1, 60, 5):
        rack.settings(cache_size=size)
        rack.wait_for_answers(ANSWERS // 5)
        eventually(lambda size=size: rack.call(AGENT, "stats")["cached"] <= size, "the cache fits")
    finish(rack)
