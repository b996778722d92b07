"""Which node of the raw files is the switch: the analysis asks the drivers, and names none."""

from __future__ import annotations

import pytest

from turntable import raw
from turntable.measurement import Punctuality
from turntable.raw import RawAnswer
from turntable_core.switch import DROPS, THREAD, driver


class OtherSwitch(driver.SoftSwitch):
    node = "other-switch"


def answers(node: str) -> list[RawAnswer]:
    thread = {"elapsed_ns": 1_000, "late_max_ns": 2_000, "wait_ns": 250}
    drops = {"no_route": 3, "answered": 10}
    return [
        RawAnswer("switch0", "collect", node, "info", {"pipeline_thread": thread}),
        RawAnswer("switch0", "collect", node, "port_stats", {"ports": [{"drops": drops}]}),
    ]


@pytest.mark.parametrize("node", ["softswitch", "other-switch"])
def test_every_driver_s_node_is_a_switch(monkeypatch: pytest.MonkeyPatch, node: str) -> None:
    monkeypatch.setattr(driver, "_DRIVERS", {"soft": driver.SoftSwitch, "other": OtherSwitch})
    assert raw.switch_drops(answers(node), {"answered": 10}) == {"no_route": 3}
    assert raw.switch_thread(answers(node)).wait_share == 0.25


def test_what_a_driver_cannot_ask_is_not_measured() -> None:
    """As bfrt-driver answers: no thread, and drops of ports only (docs/bfrt-driver.md)."""
    drops = {"rx_queue_full": 0, "rx_error": 0, "tx_failed": 2}
    told = [
        RawAnswer("switch0", "collect", "bfrt-driver", "info", {"pipeline_thread": None}),
        RawAnswer("switch0", "collect", "bfrt-driver", "port_stats", {"ports": [{"drops": drops}]}),
    ]
    assert raw.switch_thread(told) == Punctuality(None, None)
    assert raw.switch_drops(told, {"egress_drop": 5}) == {"tx_failed": 2}
    assert raw.switch_not_measured(told).keys() == {THREAD, DROPS}
    assert raw.switch_not_measured(answers("softswitch")) == {}


def test_no_other_node_is() -> None:
    assert raw.switch_drops(answers("stranger"), {}) is None
    assert raw.switch_thread(answers("stranger")).wait_share is None
