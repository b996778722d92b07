"""Direct meters: limits among the data of a table's entries."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from packet.bfrt_target import BfrtTarget
from packet.live_switch import SoftswitchTarget
from packet.targets import CommandFailedError

from .client import Client
from .conftest import PORTS
from .test_cells import NO_LIMITS
from .test_tables import FRAME, INVALID, MAC, failing, to

TABLE = "policed"
GREEN, YELLOW, RED = 0, 1, 3  # MeterColor_t


def limits(cbs_kbits: int, pbs_kbits: int, rate_kbps: int = 0) -> dict[str, int]:
    """With a rate of zero nothing is filled again, however slow the test is."""
    return {
        "$METER_SPEC_CIR_KBPS": rate_kbps,
        "$METER_SPEC_PIR_KBPS": rate_kbps,
        "$METER_SPEC_CBS_KBITS": cbs_kbits,
        "$METER_SPEC_PBS_KBITS": pbs_kbits,
    }


UNLIMITED = NO_LIMITS
# RFC 2698: bursts of 125 and 250 bytes, frames of 60 bytes and a check sequence of 4. Tc: 125, 61
# (less than 64: yellow). Tp: 250, 186, 122, 58 (less than 64: red).
ONE_AND_TWO = limits(1, 2)
COLORS = [GREEN, YELLOW, YELLOW, RED]


@pytest.fixture
def forwarding(client: Client) -> Client:
    client.insert("forward", to(MAC), "send", {"port": 2})
    return client


def colors(switch: SoftswitchTarget, count: int = len(COLORS)) -> list[int]:
    frames = [switch.send(1, FRAME) for _ in range(count)]
    return [frame[7] for ((_, frame),) in frames]


def data_of(client: Client) -> dict[str, Any]:
    return client.read(TABLE, to(MAC))[0].data


def test_an_entry_has_its_limits(forwarding: Client, switch: SoftswitchTarget) -> None:
    forwarding.insert(TABLE, to(MAC), "police", {"value": 9} | ONE_AND_TWO)
    assert data_of(forwarding) == {"value": 9} | ONE_AND_TWO
    assert colors(switch) == COLORS


def test_without_limits_all_is_green(forwarding: Client, switch: SoftswitchTarget) -> None:
    forwarding.insert(TABLE, to(MAC), "police", {"value": 9})
    assert data_of(forwarding) == {"value": 9} | UNLIMITED
    assert colors(switch) == [GREEN] * 4


def test_limits_are_modified_alone(forwarding: Client, switch: SoftswitchTarget) -> None:
    """As on an SDE, which takes resources of an entry without an action."""
    forwarding.insert(TABLE, to(MAC), "police", {"value": 9})
    forwarding.modify(TABLE, to(MAC), None, ONE_AND_TWO)
    assert data_of(forwarding) == {"value": 9} | ONE_AND_TWO
    assert colors(switch) == COLORS
    forwarding.modify(TABLE, to(MAC), None, UNLIMITED)
    assert colors(switch) == [GREEN] * 4


def test_an_action_is_modified_alone(forwarding: Client, switch: SoftswitchTarget) -> None:
    forwarding.insert(TABLE, to(MAC), "police", {"value": 9} | ONE_AND_TWO)
    assert colors(switch) == COLORS
    forwarding.modify(TABLE, to(MAC), "police", {"value": 10})
    assert data_of(forwarding) == {"value": 10} | ONE_AND_TWO
    assert colors(switch, 1) == [RED]


def test_an_entry_that_comes_again_has_no_limits(
    forwarding: Client, switch: SoftswitchTarget
) -> None:
    forwarding.insert(TABLE, to(MAC), "police", {"value": 9} | ONE_AND_TWO)
    assert colors(switch) == COLORS
    forwarding.delete(TABLE, to(MAC))
    forwarding.insert(TABLE, to(MAC), "police", {"value": 9})
    assert data_of(forwarding) == {"value": 9} | UNLIMITED


def test_many_entries_in_a_batch(forwarding: Client, switch: SoftswitchTarget) -> None:
    """With limits and without: those are written as rows."""
    entries = [
        forwarding.entry(
            TABLE, to(MAC + i), "police", {"value": i} | (ONE_AND_TWO if i % 3 else {})
        )
        for i in range(1, 31)
    ]
    forwarding.write_updates([forwarding.update("INSERT", entry) for entry in entries])
    read = {e.data["value"]: e.data for e in forwarding.read(TABLE) if not e.is_default}
    assert read == {
        i: {"value": i} | (ONE_AND_TWO if i % 3 else UNLIMITED) for i in range(1, 31)
    }  # fmt: skip


def test_the_default_entry_has_its_limits(forwarding: Client, switch: SoftswitchTarget) -> None:
    default = forwarding.entry(
        TABLE, None, "police", {"value": 9} | ONE_AND_TWO, is_default_entry=True
    )
    forwarding.write_updates([forwarding.update("MODIFY", default)])
    assert colors(switch) == COLORS
    (entry,) = [each for each in forwarding.read(TABLE) if each.is_default]
    assert entry.data == {"value": 9} | ONE_AND_TWO


def test_some_of_the_limits_are_refused(forwarding: Client) -> None:
    some = dict(list(ONE_AND_TWO.items())[:3])
    entry = forwarding.entry(TABLE, to(MAC), "police", {"value": 9} | some)
    assert failing(forwarding, forwarding.update("INSERT", entry)).codes() == [INVALID]


@pytest.fixture
def driven(build_dir: Path, program: Path, tmp_path: Path) -> Iterator[BfrtTarget]:
    target = BfrtTarget(build_dir, program, tmp_path, PORTS)
    yield target
    target.close()


def test_the_driver_sets_and_reads_limits(driven: BfrtTarget) -> None:
    def write(op: str, table: str, **more: Any) -> None:
        update = {"op": op, "table": table, "key": {"hdr.ethernet.dst_addr": MAC}}
        driven.command("table_write", updates=[update | more])

    def entry() -> dict[str, Any]:
        (read,) = driven.command("table_read", table=TABLE)["entries"]
        return read["data"]

    write("insert", "forward", action="send", data={"port": 2})
    write("insert", TABLE, action="police", data={"value": 9} | ONE_AND_TWO)
    assert entry() == {"value": 9} | ONE_AND_TWO
    assert colors(driven) == COLORS
    write("modify", TABLE, data=UNLIMITED)
    assert entry() == {"value": 9} | UNLIMITED
    assert colors(driven) == [GREEN] * 4
    write("modify", TABLE, action="police", data={"value": 10} | ONE_AND_TWO)
    assert colors(driven) == COLORS
    with pytest.raises(CommandFailedError, match="lacks"):
        write("modify", TABLE, data={"$METER_SPEC_CIR_KBPS": 1})
