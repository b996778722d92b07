"""Where logical servers are placed, and which slots are theirs."""

from __future__ import annotations

import pytest

from turntable_systems.farreach.placement import place_of, slots_of


def test_places_are_those_of_the_artifact() -> None:
    # FarReach reference §1.3: 1152 + r below the bottleneck, 1152 + r - 1 above it.
    places = [place_of(partition, bottleneck=2) for partition in range(4)]
    assert [(place.server, place.udp_port) for place in places] == [
        (1, 1152), (1, 1153), (0, 1152), (1, 1154),
    ]  # fmt: skip


@pytest.mark.parametrize("servers", [2, 16, 128])
def test_slots_are_covered_once(servers: int) -> None:
    slots = [
        slot
        for p in range(servers)
        for slot in range(slots_of(p, servers)[0], slots_of(p, servers)[1] + 1)
    ]
    assert slots == list(range(32768))


def test_slot_of_the_hottest_key_is_in_its_partition() -> None:
    # FarReach reference §5.2: slot 30317, partitions 14/29/59/118 at 16/32/64/128 servers.
    for servers, partition in ((16, 14), (32, 29), (64, 59), (128, 118)):
        low, high = slots_of(partition, servers)
        assert low <= 30317 <= high
