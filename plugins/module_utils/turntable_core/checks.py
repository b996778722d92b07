"""What single values cannot show: whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from turntable_core.errors import InputError
from turntable_core.plan import Cell
from turntable_core.testbed import Testbed


def check_plan(cells: Iterable[Cell], testbed: Testbed, where: str) -> None:
    for cell in cells:
        _check_clients(cell, testbed, where)
        _check_warmup(cell, where)
        _check_delay(cell, testbed, where)


def _check_clients(cell: Cell, testbed: Testbed, where: str) -> None:
    hosts, clients = len(testbed.clients), cell.parameters["clients"]
    if clients % hosts:
        raise InputError(
            where, "clients", clients, f"a multiple of {hosts}, the number of client hosts"
        )


def settling_s(parameters: Mapping[str, Any]) -> float:
    """How long a closed loop takes to be steady after all clients have begun at once.

    The time in which one server answers every client twice; 0 when servers have no limit.
    """
    capacity = parameters["capacity_ops_per_s"]
    return 2 * parameters["clients"] / capacity if capacity else 0.0


def _check_warmup(cell: Cell, where: str) -> None:
    least_s = settling_s(cell.parameters)
    if cell.parameters["warmup_s"] < least_s:
        expected = f"at least 2 * clients / capacity_ops_per_s = {least_s:g} s"
        raise InputError(where, "warmup_s", cell.parameters["warmup_s"], expected)


def _check_delay(cell: Cell, testbed: Testbed, where: str) -> None:
    delay_ns = cell.parameters["switch_processing_delay_ns"]
    if delay_ns and testbed.switch.target != "soft":
        raise InputError(
            where, "switch_processing_delay_ns", delay_ns, "0: only a software switch can be slowed"
        )
