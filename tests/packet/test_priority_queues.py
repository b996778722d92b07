"""Priority on a switch that has queues: what the program chooses is where packets wait, and the
highest is served first.

No test depends on how long something takes: a port at 1 kbit/s that has sent PLUG, which is
64 seconds of its rate, sends nothing more before the test lets it.
"""

from __future__ import annotations

from typing import Any

import pytest

from .bfrt_target import BfrtTarget
from .frames import Packet
from .live_switch import SoftswitchTarget
from .nocache_tables import CLIENT, SERVER0, SERVER1
from .priority_switch import QUEUES, PrioritySwitch, marked

PLUG = marked(0).change(payload=bytes(7958))
RATE_BPS = 1000


def target_of(priority: PrioritySwitch) -> SoftswitchTarget:
    assert isinstance(priority.target, SoftswitchTarget)
    return priority.target


def queues_of(priority: PrioritySwitch, port: int, count: str) -> list[int]:
    [described] = priority.target.command("tm_read", port=port)["ports"]
    assert [queue["queue"] for queue in described["queues"]] == list(range(QUEUES))
    return [queue[count] for queue in described["queues"]]


def past_the_driver(priority: PrioritySwitch, command: str, **arguments: Any) -> Any:
    """Of softswitch itself: over BF Runtime it has no limits of queues and clears nothing."""
    target = target_of(priority)
    ask = target.softswitch if isinstance(target, BfrtTarget) else target.command
    return ask(command, **arguments)


def limit(priority: PrioritySwitch, queue: int, buffer_bytes: int | None) -> None:
    update = {"port": SERVER0.port, "queue": queue, "buffer_bytes": buffer_bytes}
    past_the_driver(priority, "tm_write", updates=[update])


def shape(priority: PrioritySwitch, **rate: Any) -> None:
    priority.target.command("tm_write", updates=[{"port": SERVER0.port, **rate}])


def plug(priority: PrioritySwitch) -> None:
    """From now on packets to SERVER0 wait."""
    shape(priority, max_rate_bps=RATE_BPS, max_burst_bytes=0)
    assert len(priority.send(PLUG)) == 1
    past_the_driver(priority, "tm_clear")


def unplug(priority: PrioritySwitch, frames: int) -> list[bytes]:
    """Frames that have waited for SERVER0, as they leave."""
    shape(priority, max_rate_bps=None)
    return [target_of(priority).next_frame(SERVER0.port) for _ in range(frames)]


def as_sent(packet: Packet) -> bytes:
    return bytes(packet.change(dst_mac=SERVER0.mac))


@pytest.mark.parametrize("queue", range(QUEUES))
def test_packet_passes_the_queue_that_is_counted(live_priority: PrioritySwitch, queue: int) -> None:
    past_the_driver(live_priority, "tm_clear")
    assert live_priority.queue_of(marked(8 * queue)) == queue
    watermarks = queues_of(live_priority, SERVER0.port, "watermark_cells")
    assert [number for number, cells in enumerate(watermarks) if cells] == [queue]
    assert not any(queues_of(live_priority, SERVER1.port, "watermark_cells"))


def test_highest_queue_is_served_first(live_priority: PrioritySwitch) -> None:
    plug(live_priority)
    waiting = [marked(8 * queue).change(payload=bytes([queue])) for queue in range(QUEUES)]
    for packet in waiting:
        assert live_priority.send(packet) == []
    assert queues_of(live_priority, SERVER0.port, "usage_cells") == [1] * QUEUES
    assert unplug(live_priority, QUEUES) == [as_sent(packet) for packet in reversed(waiting)]


def test_packets_of_a_queue_keep_their_order(live_priority: PrioritySwitch) -> None:
    plug(live_priority)
    dscps = [8, 48, 8, 0, 48, 9, 8]
    packets = [marked(dscp).change(payload=bytes([i])) for i, dscp in enumerate(dscps)]
    for packet in packets:
        assert live_priority.send(packet) == []
    expected = [packets[i] for i in (1, 4, 0, 2, 6, 3, 5)]
    assert unplug(live_priority, len(packets)) == [as_sent(packet) for packet in expected]


def test_what_a_full_queue_refuses_is_counted_by_both(live_priority: PrioritySwitch) -> None:
    """And the other queues are not full."""
    limit(live_priority, queue=2, buffer_bytes=160)
    try:
        plug(live_priority)
        live_priority.target.command("counter_clear")
        for dscp in (16, 16, 16, 16, 24, 8):
            assert live_priority.send(marked(dscp)) == []
        drops = queues_of(live_priority, SERVER0.port, "drop_count_packets")
        usage = queues_of(live_priority, SERVER0.port, "usage_cells")
        assert drops == [0, 0, 4 - usage[2], 0, 0, 0, 0, 0]
        assert 0 < usage[2] < 4
        assert usage == [0, 1, usage[2], 1, 0, 0, 0, 0]
        queued = {queue: packets for (_, queue), (packets, _) in live_priority.queued().items()}
        assert queued == {1: 1, 2: 4, 3: 1}
        unplug(live_priority, sum(usage))
    finally:
        limit(live_priority, queue=2, buffer_bytes=None)


def test_a_slow_port_holds_nobody_else_up(live_priority: PrioritySwitch) -> None:
    plug(live_priority)
    assert live_priority.send(marked(56)) == []
    assert [port for port, _ in live_priority.send(marked(0, to=SERVER1))] == [SERVER1.port]
    assert [port for port, _ in live_priority.send(marked(0, to=CLIENT))] == [CLIENT.port]
    assert unplug(live_priority, 1) == [as_sent(marked(56))]
