"""Lpf and Wred: tables whose cells are told time constants and thresholds."""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import Client
from .test_tables import FRAME, INVALID, MAC, failing, to

LPF = {
    "$LPF_SPEC_TYPE": "RATE",
    "$LPF_SPEC_GAIN_TIME_CONSTANT_NS": 1000.0,
    "$LPF_SPEC_DECAY_TIME_CONSTANT_NS": 2.0**40,
    "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR": 1,
}
WRED = {
    "$WRED_SPEC_TIME_CONSTANT_NS": 0.0,
    "$WRED_SPEC_MIN_THRESH_CELLS": 0,
    "$WRED_SPEC_MAX_THRESH_CELLS": 0,
    "$WRED_SPEC_MAX_PROBABILITY": 1.0,
}
# As the vendor's test expects them after a reset.
FRESH_LPF = dict.fromkeys(LPF, 0) | {"$LPF_SPEC_TYPE": "SAMPLE"}
FRESH_WRED = dict.fromkeys(WRED, 0) | {
    "$WRED_SPEC_MIN_THRESH_CELLS": 0xFF000000,
    "$WRED_SPEC_MAX_THRESH_CELLS": 0xFF000000,
}


@pytest.mark.parametrize(
    ("table", "given", "fresh"), [("smooth", LPF, FRESH_LPF), ("early", WRED, FRESH_WRED)]
)
def test_a_cell_is_written_read_and_reset(
    client: Client, table: str, given: dict[str, Any], fresh: dict[str, Any]
) -> None:
    index = "$LPF_INDEX" if table == "smooth" else "$WRED_INDEX"
    client.insert(table, {index: 3}, data=given)
    assert client.read(table, {index: 3})[0].data == given
    cells = client.read(table)
    assert [cell.key[index] for cell in cells] == list(range(8))
    assert cells[4].data == fresh
    client.delete(table)
    assert client.read(table, {index: 3})[0].data == fresh
    entry = client.entry(table, {index: 8}, data=given)
    assert failing(client, client.update("INSERT", entry)).codes() == [INVALID]


def test_packets_get_what_the_filter_computes(client: Client, switch: SoftswitchTarget) -> None:
    """A sum that takes 1100 s to decay, halved: of frames to …:01 1 / 2, 2 / 2, 3 / 2."""
    client.insert("forward", to(MAC), "send", {"port": 2})
    client.insert("smooth", {"$LPF_INDEX": 3}, data=LPF)
    client.insert("filtered", to(MAC), "filter", {"index": 3})
    results = [frame[9] for _ in range(3) for ((_, frame),) in [switch.send(1, FRAME)]]
    assert results == [0, 1, 1]
