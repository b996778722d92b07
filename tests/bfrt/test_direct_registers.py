"""Direct registers: a cell among the data of each entry; and numbers that their actions read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import Client
from .test_tables import FRAME, INVALID, MAC, UNIMPLEMENTED, failing, to

TABLE = "tallied"
FIRST, SECOND = "Ingress.tally.first", "Ingress.tally.second"
GROWTH = "growth"


@pytest.fixture
def counting(client: Client) -> Iterator[Client]:
    client.insert("forward", to(MAC), "send", {"port": 2})
    yield client
    client.delete(GROWTH, is_default_entry=True)


def cell(client: Client, **how: Any) -> tuple[list[int], list[int]]:
    (entry,) = client.read(TABLE, to(MAC), **how)
    return entry.data[FIRST], entry.data[SECOND]


def test_packets_change_what_an_entry_is_read_with(
    counting: Client, switch: SoftswitchTarget
) -> None:
    """As the vendor's test of tna_register: `first` grows by 1 with each packet, `second` by 100.
    A value of each pipe is read.
    """
    counting.insert(TABLE, to(MAC), "count_in_entry", {"value": 9, FIRST: 23, SECOND: 45})
    for _ in range(3):
        switch.send(1, FRAME)
    counting.operate(TABLE, "SyncRegisters")
    assert cell(counting, from_hw=False) == ([26, 26], [345, 345])
    assert cell(counting, pipe=1) == ([26], [345])


def test_a_cell_begins_with_the_programs_value_and_is_modified_alone(counting: Client) -> None:
    counting.insert(TABLE, to(MAC), "count_in_entry", {"value": 9})
    assert cell(counting) == ([5, 5], [7, 7])
    counting.modify(TABLE, to(MAC), None, {SECOND: 8})
    assert cell(counting) == ([5, 5], [8, 8])
    counting.modify(TABLE, to(MAC), "count_in_entry", {"value": 10})
    assert cell(counting) == ([5, 5], [8, 8])


def test_a_parameter_is_a_default_entry(counting: Client, switch: SoftswitchTarget) -> None:
    counting.insert(TABLE, to(MAC), "count_in_entry", {"value": 9})
    counting.modify(GROWTH, None, None, {"value": 10}, is_default_entry=True)
    switch.send(1, FRAME)
    assert cell(counting)[0] == [15, 15]
    (entry,) = counting.read(GROWTH, is_default_entry=True)
    assert (entry.is_default, entry.data) == (True, {"value": 10})
    counting.delete(GROWTH, is_default_entry=True)
    assert counting.read(GROWTH, is_default_entry=True)[0].data == {"value": 1}


def test_a_parameter_is_nothing_else(counting: Client) -> None:
    entry = counting.entry(GROWTH, None, None, {"value": 10})
    assert failing(counting, counting.update("INSERT", entry)).codes() == [UNIMPLEMENTED]
    default = counting.entry(GROWTH, is_default_entry=True)
    assert failing(counting, counting.update("MODIFY", default)).codes() == [INVALID]
