"""Batches that are all or nothing. Rules and codes: P4Runtime 1.4, "Batching and Ordering of
Updates".
"""

from __future__ import annotations

from typing import Any

import pytest
from packet.live_switch import SoftswitchTarget

from .client import CallError, Client, code
from .test_cells import counters, registers
from .test_digests import digest
from .test_meters import cell, cells, limits
from .test_profiles import member
from .test_replication import copies, group, read, replica, session, update
from .test_tables import forward
from .test_value_sets import IPV4, members, unwanted

ATOMICITIES = pytest.mark.parametrize("atomicity", [1, 2])  # ROLLBACK_ON_ERROR, DATAPLANE_ATOMIC


def of_all_kinds(client: Client) -> list[Any]:
    (counter,) = counters(client, 3)
    counter.data.packet_count = 5
    (hits,) = registers(client, "hits", 9)
    hits.data.bitstring = b"\x20"
    every_pair = client.proto.RegisterEntry(register_id=client.id_of("registers", "pairs"))
    for value in (b"\x01", b"\x02"):
        every_pair.data.struct.members.add(bitstring=value)
    return [
        client.update("INSERT", table_entry=forward(client)),
        client.update("INSERT", action_profile_member=member(client, 1)),
        client.update("MODIFY", counter_entry=counter),
        client.update("MODIFY", register_entry=hits),
        client.update("MODIFY", register_entry=every_pair),
        client.update("MODIFY", meter_entry=cell(client, "limits", 2, limits(client, 1))),
        update(client, "INSERT", group(client, 1, replica(client, 2))),
        update(client, "INSERT", session(client, 1, replica(client, 3))),
        client.update("MODIFY", value_set_entry=unwanted(client, b"\x01", IPV4)),
        client.update("INSERT", digest_entry=digest(client, max_list_size=1)),
    ]


def state(client: Client) -> dict[str, Any]:
    wanted = client.proto.Entity(digest_entry=client.proto.DigestEntry())
    return {
        "entries": list(client.entries("forward")),
        "packets": [each.data.packet_count for each in counters(client)],
        "hits": [each.data.bitstring for each in registers(client, "hits")],
        "pairs": [each.data for each in registers(client, "pairs")],
        "limited": [
            each.index.index for each in cells(client, "limits") if each.HasField("config")
        ],
        "groups": read(client, group(client, 0)),
        "sessions": read(client, session(client, 0)),
        "value set": members(client),
        "digests": client.read(wanted),
    }


@ATOMICITIES
def test_all_of_a_batch_is_done(client: Client, atomicity: int) -> None:
    client.write(*of_all_kinds(client), atomicity=atomicity)
    done = state(client)
    assert done["entries"] == [forward(client)]
    assert done["packets"][3] == 5
    assert done["hits"][9] == b"\x20"
    assert {tuple(m.bitstring for m in data.struct.members) for data in done["pairs"]} == {
        (b"\x01", b"\x02")
    }
    assert done["limited"] == [2]
    assert done["groups"] == [group(client, 1, replica(client, 2))]
    assert done["sessions"] == [session(client, 1, replica(client, 3))]
    assert done["value set"] == [b"\x01", IPV4]
    assert len(done["digests"]) == 1


@ATOMICITIES
@pytest.mark.parametrize("place", range(11))
def test_nothing_of_a_batch_is_done(client: Client, atomicity: int, place: int) -> None:
    """Whichever update the one that fails stands behind."""
    before = state(client)
    updates = of_all_kinds(client)
    updates.insert(place, client.update("DELETE", table_entry=forward(client, match=OTHER)))
    with pytest.raises(CallError) as failed:
        client.write(*updates, atomicity=atomicity)
    expected = [code("ABORTED")] * len(updates)
    expected[place] = code("NOT_FOUND")
    assert failed.value.codes() == expected
    assert state(client) == before


OTHER = {"exact": {"value": b"\x77"}}


@ATOMICITIES
def test_a_wrong_group_undoes_the_tables(client: Client, atomicity: int) -> None:
    client.write(update(client, "INSERT", group(client, 1, replica(client, 2))))
    before = state(client)
    updates = [*of_all_kinds(client)[:3], update(client, "INSERT", group(client, 1))]
    with pytest.raises(CallError) as failed:
        client.write(*updates, atomicity=atomicity)
    assert failed.value.codes() == [code("ABORTED")] * 3 + [code("ALREADY_EXISTS")]
    assert state(client) == before


def test_a_failed_batch_leaves_what_packets_see(client: Client, switch: SoftswitchTarget) -> None:
    client.write(
        client.update("INSERT", table_entry=forward(client)),
        update(client, "INSERT", group(client, 1, replica(client, 3, 7))),
        client.update(
            "INSERT",
            table_entry=client.entry(
                "copied",
                client.action("to_group", group=b"\x01"),
                ether_type={"exact": {"value": IPV4}},
            ),
        ),
    )
    before = copies(switch)
    with pytest.raises(CallError):
        client.write(
            update(client, "MODIFY", group(client, 1, replica(client, 1))),
            client.update("INSERT", table_entry=forward(client)),
            atomicity=1,
        )
    assert copies(switch) == before == [(2, b"\x00\x01"), (3, b"\x00\x07")]


def test_a_group_is_changed_once_in_a_batch(client: Client) -> None:
    with pytest.raises(CallError) as failed:
        client.write(
            update(client, "INSERT", group(client, 1)),
            update(client, "MODIFY", group(client, 1, replica(client, 2))),
            atomicity=1,
        )
    assert failed.value.codes() == [code("ABORTED"), code("INVALID_ARGUMENT")]
    assert read(client, group(client, 0)) == []
