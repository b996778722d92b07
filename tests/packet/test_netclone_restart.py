"""NetClone's switch starts again: registers are empty, and requests and responses are on their way
(NetClone reference §4: all state is soft).
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import start
from .live_switch import SoftswitchTarget
from .netclone_frames import header_of
from .netclone_switch import (
    CLIENT,
    HOST0,
    HOST1,
    RECIRCULATION,
    TABLES,
    NetCloneSwitch,
    group_of,
)
from .targets import Frame, Target

GROUP = group_of(0, 1)


def forget(netclone: NetCloneSwitch) -> None:
    """A switch that starts again, and whose tables are written."""
    netclone.restart()


def seq_of(frames: list[Frame]) -> int:
    [seq] = {header_of(frame).seq for _, frame in frames}
    return seq


def number(netclone: NetCloneSwitch, last: int) -> int:
    """Of a request that was cloned after `last` others."""
    netclone.write("sequence.cells", {0: last})
    return seq_of(netclone.ask(GROUP))


def test_state_is_lost_and_everything_works(netclone: NetCloneSwitch) -> None:
    netclone.set_loads({0: 9, 1: 9})
    netclone.write("filter_0.cells", {7: 7})
    assert number(netclone, 500) == 501
    forget(netclone)
    assert netclone.loads() == [(0, 0)] * 4
    assert netclone.read("filter_0.cells", 7) == 0
    asked = netclone.ask(GROUP)
    assert [header_of(frame).clo for _, frame in asked] == [1, 2], "all servers look idle"
    assert seq_of(asked) == 1


def test_request_of_before_gets_its_faster_response(netclone: NetCloneSwitch) -> None:
    seq = number(netclone, 500)
    forget(netclone)
    assert len(netclone.answer(1, seq=seq, clo=2)) == 1
    assert netclone.answer(0, seq=seq, clo=1) == []
    assert netclone.outcomes() == {"faster": 1, "slower": 1}


def test_uncloned_request_of_before_gets_its_response(netclone: NetCloneSwitch) -> None:
    netclone.set_loads({0: 2})
    seq = number(netclone, 500)
    forget(netclone)
    assert len(netclone.answer(0, seq=seq, clo=0, load=4)) == 1
    assert netclone.loads()[0] == (4, 4), "the next response tells the load again"


def test_slower_response_of_before_passes_once_more(netclone: NetCloneSwitch) -> None:
    """Its fingerprint is gone; clients tell duplicates by a number of their own."""
    seq = number(netclone, 500)
    assert len(netclone.answer(0, seq=seq, clo=1)) == 1
    forget(netclone)
    assert len(netclone.answer(1, seq=seq, clo=2)) == 1
    assert netclone.outcomes() == {"faster": 1}


def test_late_response_may_swap_the_two_of_a_later_request(netclone: NetCloneSwitch) -> None:
    """It leaves the fingerprint of a number that is given again: the faster response is taken for
    its slower one. The client gets the other.
    """
    seq = number(netclone, 500)
    forget(netclone)
    assert len(netclone.answer(1, seq=seq, clo=2)) == 1  # the late one
    assert number(netclone, 500) == seq
    assert netclone.answer(0, seq=seq, clo=1) == []
    assert len(netclone.answer(1, seq=seq, clo=2)) == 1
    assert netclone.outcomes() == {"faster": 2, "slower": 1, "cloned": 1, "came_round": 1}


def test_nothing_passes_before_the_tables_are_written(netclone: NetCloneSwitch) -> None:
    tables = ("group.group", "server_port.server_port", "destination.destination", "ipv4_lpm")
    updates = [{"op": "clear", "table": table} for table in tables]
    netclone.target.command("table_write", updates=updates)
    netclone.outcomes()
    assert netclone.ask(GROUP) == []
    assert netclone.answer(0, seq=3, clo=1) == []
    assert netclone.outcomes() == {"unknown_group": 1, "forged": 1}


def test_group_without_multicast_ends_in_the_switch(netclone: NetCloneSwitch) -> None:
    """The two batches of a turn are not one: between them nothing is on its way."""
    updates = [{"op": "clear", "table": table} for table in ("$pre.mgid", "$pre.node")]
    netclone.target.command("table_write", updates=updates)
    assert netclone.ask(GROUP) == []
    netclone.set_loads({0: 1})
    assert len(netclone.ask(GROUP)) == 1


def test_clone_goes_round_once(netclone: NetCloneSwitch) -> None:
    """Every pass is counted, and none but the clone's is the second."""
    clones = 30
    for _ in range(clones):
        assert len(netclone.ask(GROUP)) == 2
    assert netclone.outcomes() == {"cloned": clones, "came_round": clones}


@pytest.mark.skipif(os.geteuid() != 0, reason="the live switch makes network namespaces")
def test_killed_switch_has_lost_everything_and_serves_again(
    build_dir: Path, tmp_path: Path, p4_trace: str | None
) -> None:
    """A cloned request and one that was not, asked before: both get their responses after."""
    target = start("softswitch", "netclone", build_dir, tmp_path, p4_trace)
    assert isinstance(target, SoftswitchTarget)
    try:
        netclone = NetCloneSwitch(target)
        cloned = number(netclone, 500)
        netclone.set_loads({2: 1})
        [(_, alone)] = netclone.ask(group_of(2, 3))
        target.kill_and_start()
        for table in TABLES.values():
            assert target.command("table_info", table=table)["entries"] == 0
        assert netclone.loads() == [(0, 0)] * 4
        assert target.command("table_read", table="$pre.mgid")["entries"] == []
        netclone.restart()
        assert len(netclone.answer(2, seq=header_of(alone).seq)) == 1
        assert len(netclone.answer(0, seq=cloned, clo=1)) == 1
        assert netclone.answer(1, seq=cloned, clo=2) == []
        assert seq_of(netclone.ask(GROUP)) == 1
    finally:
        target.close()


@pytest.mark.skipif(os.geteuid() != 0, reason="the live switch makes network namespaces")
def test_live_ports_count_what_goes_round(running: Callable[[str, str], Target]) -> None:
    """A request arrives once; one copy leaves by the first server's port, one by the second's."""
    netclone = NetCloneSwitch(running("netclone", "softswitch"))
    netclone.target.command("port_stats_clear")
    for _ in range(3):
        netclone.ask(GROUP)
    netclone.set_loads({0: 1})
    netclone.ask(GROUP)
    rows = netclone.target.command("port_stats")["ports"]
    moved = {row["port"]: (row["rx_packets"], row["tx_packets"]) for row in rows}
    assert moved[CLIENT.port] == (4, 0)
    assert moved[RECIRCULATION] == (3, 3)
    assert (moved[HOST0.port], moved[HOST1.port]) == ((0, 4), (0, 3))
    assert not any(count for row in rows for count in row["drops"].values())
