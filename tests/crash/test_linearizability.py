"""What the clients of a rack see is linearizable, whatever happens to their packets."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .rack import AGENT, Rack, Setup, eventually

METHODS = ("farreach", "netcache")


@pytest.mark.parametrize("method", METHODS)
def test_without_faults(start_rack: Callable[[Setup], Rack], method: str) -> None:
    rack = start_rack(Setup(method=method))
    rack.begin_clients()
    rack.wait_for_answers(5_000)
    eventually(lambda: rack.call(AGENT, "stats")["evicted"] >= 20, "20 evictions")
    statistics = rack.end_clients()
    assert statistics["wrong_values"] == statistics["wrong_node"] == statistics["mismatched"] == 0
    assert rack.call(AGENT, "stats")["unexpected_acknowledgements"] == 0
