"""A switch is killed under load, alone or with others: nothing that was acknowledged is lost, and
the switch has its cache again (docs/kvcache.md §9).
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .history import check
from .rack import CONTROLLER, SERVER_NODES, SOFTSWITCH, Rack, Setup, replayed

ANSWERS = 2_000  # before the kill, and after the recovery


@pytest.mark.parametrize(
    ("method", "killed"),
    [
        ("farreach", (SOFTSWITCH,)),
        ("farreach", (SOFTSWITCH, SERVER_NODES[1])),
        ("farreach", (CONTROLLER, SOFTSWITCH)),
        ("netcache", (SOFTSWITCH, SERVER_NODES[0])),
    ],
)
def test_a_switch_killed_under_load_loses_nothing(
    start_rack: Callable[[Setup], Rack], method: str, killed: tuple[str, ...]
) -> None:
    rack = start_rack(Setup(method=method))
    rack.begin_clients()
    rack.wait_for_answers(ANSWERS)
    rack.kill(*killed)
    recovered = rack.recover(*killed)
    assert recovered is not None
    # A controller that was killed, too, knows the keys of the copies.
    assert recovered["restored"] == rack.setup.warm or CONTROLLER in killed
    rack.wait_for_answers(ANSWERS)
    rack.end_clients()
    checked = check(rack)
    assert checked.acknowledged_writes > 0
    assert checked.ok, "\n".join([*checked.lost, checked.text])
    if method == "farreach":
        # How many of them are newer says nothing: evictions may have stored them all in time.
        assert replayed(recovered) > 0, recovered
