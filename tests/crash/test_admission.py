"""NetCache's blocking admission on real nodes (docs/kvcache.md §6 and §7): who dies in the middle
of it, and what a write of an evicted key costs.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest

from .asker import SWITCH_NODE, Asker, asker, keys_of
from .network import CPU, SERVERS
from .rack import AGENT, CONTROLLER, MS, SERVER_NODES, Rack, Setup, eventually

PARTITION, SERVER = 2, SERVER_NODES[1]
KEY = next(keys_of(PARTITION))
FIRST, SECOND, THIRD = b"the first", b"the second", b"the third"
NONE_IS_HOT = 0xFFFF
LATE_MS = 4_000

StartRack = Callable[[Setup], Rack]


def netcache(**settings: float) -> Setup:
    """A rack whose keys become hot by one GET, and are reported again soon."""
    return Setup(method="netcache", warm=1, cache_size=100, **settings)


def hold_control_frames(rack: Rack) -> None:
    """What the agent sends is lost until heal(); it sends all of it again."""
    rack.impair(CPU, "rx", {"action": "drop", "every": 1})


def in_transit(rack: Rack) -> int:
    return rack.call(AGENT, "stats")["in_transit"]


def is_quiet(rack: Rack) -> bool:
    """Nothing is under way between switch, agent, controller and servers."""
    controller = rack.call(CONTROLLER, "stats")
    unanswered = [controller[f"unanswered_by_{name}"] for name in ("servers", "agent")]
    unanswered.append(rack.call(AGENT, "stats")["unanswered_by_controller"])
    return in_transit(rack) == 0 and unanswered == [0, 0, 0]


def make_hot(rack: Rack, client: Asker, done: Callable[[], bool]) -> None:
    """GETs of the key until the agent has been told."""

    def ask() -> bool:
        client.get(KEY)
        return done()

    eventually(ask, "the key is hot")
    rack.settings(hot_threshold=NONE_IS_HOT)


def begin_admission(rack: Rack, client: Asker) -> None:
    """The server has answered FETCH, and the agent's frames to the switch are lost."""
    hold_control_frames(rack)
    make_hot(rack, client, lambda: in_transit(rack) == 1)


def admit(rack: Rack, client: Asker) -> None:
    make_hot(rack, client, lambda: client.get(KEY).node == SWITCH_NODE)
    eventually(lambda: is_quiet(rack), "the admission is settled")


@pytest.mark.parametrize("others", [(), (CONTROLLER,), (AGENT,), (AGENT, CONTROLLER)])
def test_a_server_restarted_in_an_admission_answers_no_write_that_the_switch_hides(
    start_rack: StartRack, others: tuple[str, ...]
) -> None:
    rack = start_rack(netcache())
    with asker(rack) as client:
        client.put(KEY, FIRST)
        begin_admission(rack, client)
        rack.kill(SERVER, *others)
        rack.recover(SERVER, *(name for name in others if name != AGENT))
        answered = client.try_put(KEY, SECOND)
        if AGENT in others:  # its successor waits for the switch
            rack.start_agent()
            rack.heal()
            rack.configure_agent(fresh=False)
        rack.heal()
        number = answered or client.put(KEY, SECOND)
        eventually(lambda: in_transit(rack) == 0, "no admission under way")
        found = client.get(KEY)
        assert (found.value, found.number >= number) == (SECOND, True), found


def test_the_first_write_of_an_evicted_key_needs_nobody(start_rack: StartRack) -> None:
    rack = start_rack(netcache(capacity=1000))
    with asker(rack) as client:
        client.put(KEY, FIRST)
        admit(rack, client)
        client.put(KEY, SECOND)  # through the switch, which has the key
        eventually(lambda: client.get(KEY).node == SWITCH_NODE, "the value update")
        rack.settings(cache_size=1)
        eventually(lambda: is_quiet(rack), "the key is evicted")
        assert client.get(KEY).node == PARTITION
        before = held_back_us(rack)
        client.put(KEY, THIRD)
        assert client.get(KEY).value == THIRD
    assert held_back_us(rack) == before
    assert rack.call(SERVER, "stats")["controller"]["evictions_asked"] == 0


def held_back_us(rack: Rack) -> float:
    servers = rack.call(SERVER, "stats")["logical_servers"]
    return next(server["held_back_us"] for server in servers if server["partition"] == PARTITION)


def test_a_write_of_an_earlier_admission_does_not_hide_behind_a_later_one(
    start_rack: StartRack,
) -> None:
    """It says "cached", for it passed the switch when the key was there, and comes late to a server
    that has given its record for the next admission meanwhile.
    """
    rack = start_rack(netcache())
    with asker(rack) as client:
        client.put(KEY, FIRST)
        admit(rack, client)
        rack.impair(SERVERS[1], "tx", {"action": "delay", "every": 1, "delay_ns": LATE_MS * MS})
        assert client.try_put(KEY, SECOND) is None  # it is on its way
        rack.settings(cache_size=1)
        eventually(lambda: is_quiet(rack), "the key is evicted")
        rack.settings(cache_size=100, hot_threshold=1)

        def comes_back() -> bool:
            client.send_get(KEY)
            return is_cached(rack)

        eventually(comes_back, "the key is there again")
        rack.heal()
        eventually(lambda: is_executed(rack), "the write has come")
        assert client.get(KEY).value == SECOND


def is_cached(rack: Rack) -> bool:
    return rack.call(AGENT, "stats")["cached"] == 2 and is_quiet(rack)


def is_executed(rack: Rack) -> bool:
    servers = rack.call(SERVER, "stats")["logical_servers"]
    return any(server["writes"] >= 2 for server in servers if server["partition"] == PARTITION)
