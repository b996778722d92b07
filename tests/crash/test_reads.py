"""What was read stays, also when only the switch had it; and what only a dead switch had is read by
nobody once the next one serves (docs/kvcache.md §6, §9).
"""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import replace

from turntable_systems.farreach.placement import place_of, slots_of

from .hand_client import PUTREQ_LARGEVALUE_SEQ, PUTRES_SEQ, SWITCH_NODE, HandClient, lose
from .network import CLIENT, SERVERS
from .rack import AGENT, BOTTLENECK, SCALE, SOFTSWITCH, Rack, Setup, eventually
from .read_back import wire_key
from .test_snapshots import SUPERSEDED, register, slots

NEW, LARGE = b"written!", bytes(200)
NOTHING_IS_HOT = 0xFFFF  # threshold
SLOTS = 32768

StartRack = Callable[[Setup], Rack]


def quiet_rack(start_rack: StartRack) -> Rack:
    """FarReach with some keys cached, and nothing that comes or goes by itself."""
    rack = start_rack(Setup(hot_threshold=NOTHING_IS_HOT))
    eventually(lambda: rack.call(AGENT, "stats")["in_transit"] == 0, "no admission under way")
    return rack


def supersede(rack: Rack, client: HandClient, key: int) -> None:
    """NEW is in the slot alone: the answer to its PUT is lost, and then a large PUT on its way to
    the server.
    """
    rack.impair(CLIENT, "tx", lose(PUTRES_SEQ))
    client.put(key, NEW)
    client.misses()
    rack.heal()
    for server in SERVERS:
        rack.impair(server, "tx", lose(PUTREQ_LARGEVALUE_SEQ))
    client.large_put(key, LARGE)
    client.misses()
    rack.heal()


def test_what_was_read_survives_the_switch(start_rack: StartRack) -> None:
    rack = quiet_rack(start_rack)
    key, _ = next(slots(rack))
    with HandClient(rack) as client:
        before = client.get(key)
        assert before.value != NEW
        supersede(rack, client, key)
        read = client.get(key)
        assert (read.value, read.node != SWITCH_NODE) == (NEW, True)
        rack.kill(SOFTSWITCH)
        rack.recover(SOFTSWITCH, clients=0)
        after = client.get(key)
    assert (after.value, after.number) == (read.value, read.number)


def test_a_late_get_of_a_dead_switch_brings_nothing_back(start_rack: StartRack) -> None:
    """It carries a record that nobody has read and that the next switch does not serve."""
    rack = quiet_rack(start_rack)
    key, slot = next(slots(rack))
    partition = next(p for p in range(SCALE) if in_partition(key, p))
    place = place_of(partition, BOTTLENECK)
    with HandClient(rack) as client:
        client.get(key)
        supersede(rack, client, key)
        rack.kill(SOFTSWITCH)
        rack.recover(SOFTSWITCH, clients=0)
        served = client.get(key)
        assert served.value != NEW  # nobody has read it: it may be gone
        with HandClient(rack, SERVERS[place.server], place.udp_port) as late:
            answer = late.answer(late.record_get(key, NEW, number=1))
            assert answer == replace(served, node=partition)
            assert late.get(key) == answer
        # The new switch's GETs with records that it was restored with are answered.
        for server in SERVERS:
            rack.impair(server, "tx", lose(PUTREQ_LARGEVALUE_SEQ))
        client.large_put(key, LARGE)
        client.misses()
        rack.heal()
        assert register(rack, "slot_seq")[slot] >> 30 == SUPERSEDED
        assert client.get(key) == replace(served, node=partition)


def in_partition(key: int, partition: int) -> bool:
    low, high = slots_of(partition, SCALE)
    return low <= zlib.crc32(wire_key(key)) % SLOTS <= high
