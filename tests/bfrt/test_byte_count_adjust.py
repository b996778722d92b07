"""The attribute MeterByteCountAdjust: what a meter adds to the bytes of each frame."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import ALL_PIPES, CallError, Client
from .test_direct_meters import GREEN, RED, YELLOW, limits
from .test_tables import FRAME, INVALID, MAC, failing, to


def attribute(client: Client, table: str, **values: int) -> Any:
    made = client.proto.TableAttribute(table_id=client.table(table)["id"])
    made.byte_count_adj.SetInParent()
    for name, value in values.items():
        setattr(made.byte_count_adj, name, value)
    return made


def setting(client: Client, table: str, adjust: int) -> Any:
    update = client.proto.Update(type="INSERT")
    made = attribute(client, table, byte_count_adjust=adjust)
    update.entity.table_attribute.CopyFrom(made)
    return update


def adjust_of(client: Client, table: str, pipe: int = ALL_PIPES) -> int:
    question = client.proto.Entity(table_attribute=attribute(client, table))
    (answer,) = client.read_entities([question], pipe=pipe).entities
    adjust: int = answer.table_attribute.byte_count_adj.byte_count_adjust
    return adjust


@pytest.fixture
def metering(client: Client) -> Iterator[Client]:
    """Packets that leave have the colour of the direct meter."""
    client.insert("forward", to(MAC), "send", {"port": 2})
    yield client
    client.write_updates([setting(client, table, 0) for table in ("policed", "limits")])
    client.delete("limits")


@pytest.mark.parametrize("table", ["limits", "policed", "pace"])
def test_it_is_read_as_it_was_set(metering: Client, table: str) -> None:
    assert adjust_of(metering, table) == 0
    for adjust in (-12, 20, -8192, 8191, 0):
        metering.write_updates([setting(metering, table, adjust)])
        assert adjust_of(metering, table) == adjust


# RFC 2698 with bursts of 125 and 250 bytes, and no rates. Frames of 60 bytes and a check sequence
# of 4 count 64 bytes, or what is added to them makes of that.
@pytest.mark.parametrize(
    ("adjust", "colors"),
    [
        (0, [GREEN, YELLOW, YELLOW, RED]),
        (61, [GREEN, YELLOW, RED, RED]),  # 125
        (-34, [GREEN] * 4 + [YELLOW] * 4 + [RED]),  # 30
        (-64, [GREEN] * 20),
    ],
)
def test_a_direct_meter_counts_so_many_bytes_more(
    metering: Client, switch: SoftswitchTarget, adjust: int, colors: list[int]
) -> None:
    metering.write_updates([setting(metering, "policed", adjust)])
    metering.insert("policed", to(MAC), "police", {"value": 9} | limits(1, 2))
    frames = [switch.send(1, FRAME) for _ in colors]
    assert [frame[7] for ((_, frame),) in frames] == colors


def test_an_indexed_meter_counts_so_many_bytes_more(
    metering: Client, switch: SoftswitchTarget
) -> None:
    """Packets that `limits` finds red are not counted."""
    for adjust, passed in ((0, 3), (61, 2), (-34, 8)):
        metering.write_updates([setting(metering, "limits", adjust)])
        metering.insert("limits", {"$METER_INDEX": 0}, data=limits(1, 2))
        before = hits(metering)
        for _ in range(12):
            switch.send(1, FRAME)
        assert hits(metering) - before == passed


def hits(client: Client) -> int:
    (cell,) = client.read("hits", {"$REGISTER_INDEX": 0})
    count: int = cell.data["Ingress.hits.f1"][0]
    return count


@pytest.mark.parametrize("adjust", [-8193, 8192, 2**31 - 1])
def test_what_the_chips_register_cannot_hold_is_refused(metering: Client, adjust: int) -> None:
    refused = failing(metering, setting(metering, "limits", adjust))
    assert refused.codes() == [INVALID]
    assert "expected bytes, -8192 to 8191" in refused.details[0][1]
    assert adjust_of(metering, "limits") == 0


def test_what_has_no_meter_has_no_such_attribute(client: Client) -> None:
    for table in ("forward", "seen"):
        assert failing(client, setting(client, table, 1)).codes() == [INVALID]
        with pytest.raises(CallError) as failed:
            adjust_of(client, table)
        assert failed.value.codes() == [INVALID]
