"""What fills a slot that has been admitted is the newest record (docs/kvcache.md §2, §6)."""

from __future__ import annotations

from collections.abc import Callable

from .asker import keys_of
from .hand_client import FRAGMENT_BYTES, SWITCH_NODE, HandClient
from .rack import AGENT, Rack, Setup, eventually
from .test_snapshots import ADMITTED, LATEST, register, slots

OLD, LARGE, NEW = b"the old.", bytes(FRAGMENT_BYTES + 100), b"the new."
NOTHING_IS_HOT = 0xFFFF  # threshold

StartRack = Callable[[Setup], Rack]


def make_admitted(rack: Rack, client: HandClient, key: int) -> None:
    """By GETs; the last of them may have filled its slot."""

    def is_admitted() -> bool:
        client.get(key)
        return key in dict(slots(rack)) and rack.call(AGENT, "stats")["in_transit"] == 0

    eventually(is_admitted, "the key is admitted")
    rack.settings(hot_threshold=NOTHING_IS_HOT)


def state_of(rack: Rack, key: int) -> int:
    return register(rack, "slot_seq")[dict(slots(rack))[key]] >> 30


def test_a_large_write_that_is_not_whole_yet_is_in_no_fill(start_rack: StartRack) -> None:
    """The switch numbers its first fragment, then admits the key; then the others come."""
    rack = start_rack(Setup(warm=1))
    key = next(key for key in keys_of(2) if key not in dict(slots(rack)))
    with HandClient(rack) as client:
        before = client.answer(client.put(key, OLD))
        write = client.large_put(key, LARGE)
        make_admitted(rack, client, key)
        read = client.get(key)
        assert (read.value, read.number) == (OLD, before.number)
        assert state_of(rack, key) == ADMITTED
        client.rest_of_large_put(write, key, LARGE)
        written = client.answer(write)
        assert written.number > before.number
        read = client.get(key)
        assert (read.value, read.number) == (LARGE, written.number)


def test_a_large_write_that_was_overtaken_keeps_no_fill_away(start_rack: StartRack) -> None:
    """Its other fragments may never come."""
    rack = start_rack(Setup(warm=1))
    key = next(key for key in keys_of(2) if key not in dict(slots(rack)))
    with HandClient(rack) as client:
        client.large_put(key, LARGE)
        after = client.answer(client.put(key, NEW))
        make_admitted(rack, client, key)
        eventually(lambda: client.get(key).node == SWITCH_NODE, "the slot is filled")
        assert state_of(rack, key) == LATEST
        read = client.get(key)
        assert (read.value, read.number) == (NEW, after.number)
