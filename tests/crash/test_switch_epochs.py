"""Snapshots, recoveries and switches that are killed in the middle of them (docs/kvcache.md §9):
what is of one switch epoch does nothing in another.
"""

from __future__ import annotations

from collections.abc import Callable

from .history import check
from .rack import AGENT, CONTROLLER, SOFTSWITCH, Rack, Setup, eventually, replayed

StartRack = Callable[[Setup], Rack]

PERIOD_S = 0.05
ANSWERS = 2_000


def snapshots(rack: Rack, *names: str) -> int:
    """Of the controller's snapshots, those that ended in these ways."""
    counted = rack.call(CONTROLLER, "stats")["snapshots"]
    return sum(counted.get(name, 0) for name in names)


def test_no_snapshot_between_the_start_of_a_switch_and_its_recovery(start_rack: StartRack) -> None:
    rack = start_rack(Setup(snapshot_period_s=PERIOD_S))
    rack.begin_clients()
    rack.wait_for_answers(ANSWERS)
    eventually(lambda: snapshots(rack, "taken") >= 3, "snapshots under load")
    rack.kill(SOFTSWITCH)
    rack.start_switch()
    rack.configure_agent(fresh=True)
    # The instants of three snapshots pass before anybody recovers the switch.
    due = snapshots(rack, "taken", "refused") + 3
    eventually(lambda: snapshots(rack, "taken", "refused") >= due, "the period goes on")
    recovered = rack.call(CONTROLLER, "recover", clients=1, deadline_s=30)
    rack.forward()
    taken = snapshots(rack, "taken")
    eventually(lambda: snapshots(rack, "taken") > taken, "snapshots of the recovered switch")
    rack.wait_for_answers(ANSWERS)
    rack.end_clients()
    checked = check(rack)
    assert checked.acknowledged_writes > 0
    assert checked.ok, "\n".join([*checked.lost, checked.text])
    assert replayed(recovered) > 0, recovered
    assert rack.call(AGENT, "stats")["snapshots"]["taken"] > 0
