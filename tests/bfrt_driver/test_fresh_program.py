"""`bfrt-driver --fresh` at a switch that another driver has used."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from packet.bfrt_target import BfrtTarget, Node
from packet.netclone_switch import (
    NETCLONE_PORTS,
    OUTCOMES,
    PIPE,
    TABLES,
    NetCloneSwitch,
    group_of,
)

MIRROR = {
    "op": "insert",
    "table": "$mirror.cfg",
    "key": {"$sid": 5},
    "action": "$normal",
    "data": {"$session_enable": True, "$direction": "INGRESS", "$ucast_egress_port": 3},
}
SETTINGS = f"{PIPE}.settings.settings"
STATE = f"{PIPE}.loads.state_cells"

Command = Callable[..., Any]


@pytest.fixture
def netclone(build_dir: Path, tmp_path: Path) -> Iterator[BfrtTarget]:
    target = BfrtTarget(build_dir, build_dir / "lib/p4/netclone.so", tmp_path, NETCLONE_PORTS)
    yield target
    target.close()


def state_of(command: Command) -> dict[str, Any]:
    """Everything that a program or a fixed table keeps, by what it is of."""
    tables = (*TABLES.values(), SETTINGS, "$pre.node", "$pre.mgid", "$mirror.cfg")
    state = {table: command("table_read", table=table) for table in tables}
    state[STATE] = command("register_read", table=STATE, first=0, count=8)["values"]
    state[OUTCOMES] = command("counter_read", table=OUTCOMES)
    return state


def test_nothing_of_an_earlier_driver_is_left(
    netclone: BfrtTarget, build_dir: Path, tmp_path: Path
) -> None:
    at_start = state_of(netclone.command)
    switch = NetCloneSwitch(netclone)
    netclone.command("table_write", updates=[MIRROR])
    switch.settings(racksched=True, filter_=False)
    netclone.command("register_write", table=STATE, first=3, values=[7])
    switch.ask(group_of(0, 1))
    used = state_of(netclone.command)
    assert [table for table in at_start if used[table] == at_start[table]] == []

    netclone.driver.end()
    argv = [build_dir / "bin/bfrt-driver", "--switch", netclone.address, "--program", "netclone"]
    for option, left in (([], used), (["--fresh"], at_start)):
        driver = Node("next", tmp_path, [*argv, "--pipe", "1", *option])
        try:
            assert state_of(driver.command) == left
        finally:
            driver.close()
