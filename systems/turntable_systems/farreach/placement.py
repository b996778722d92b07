"""Where a logical server runs (docs/architecture.md §3).

Server host 0 runs the bottleneck partition on UDP port 1152. Server host 1 runs any other partition
on 1152 plus its place in the ascending list of all others, so the switch's tables hold for a whole
turn.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST_PORT = 1152
# TCP on the control network (docs/kvcache.md §7): switch-agent listens for the cache-controller,
# which listens for the kvservers.
AGENT_PORT, CONTROLLER_PORT = 5003, 5555
SLOTS = 32768  # hash slots that the partitions share, in ranges of equal width


@dataclass(frozen=True)
class Place:
    server: int  # index of the server host
    udp_port: int


def place_of(partition: int, bottleneck: int) -> Place:
    if partition == bottleneck:
        return Place(0, FIRST_PORT)
    return Place(1, FIRST_PORT + partition - (partition > bottleneck))


def slots_of(partition: int, servers: int) -> tuple[int, int]:
    """First and last slot of a partition."""
    width = SLOTS // servers
    return partition * width, (partition + 1) * width - 1
