"""Entries and counters of p4/netclone, by BfRt name, for a testbed, a number of logical servers and
flags.

Logical servers are numbered from 0; several may share a host. Groups are the ordered pairs of them,
numbered from 1: two for each pair i < j, in lexicographic order, the first (i, j), the second
(j, i).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from turntable_core.testbed import PORTS_OF_A_PIPE, DataHost, Testbed
from turntable_systems.netclone.p4_numbers import Outcome
from turntable_systems.netclone.placement import SWITCH_PORT, Place, place_of

GROUPS = "pipe.SwitchIngress.group.group"
DESTINATIONS = "pipe.SwitchIngress.destination.destination"
ROUTES = "pipe.SwitchIngress.forwarding.ipv4_lpm"
SERVER_PORTS = "pipe.SwitchIngress.server_port.server_port"
SETTINGS = "pipe.SwitchIngress.settings.settings"
OUTCOMES = "pipe.SwitchIngress.outcomes.outcome"
# Of the switch itself: multicast groups, and the nodes that they consist of.
MULTICAST_GROUPS = "$pre.mgid"
MULTICAST_NODES = "$pre.node"

# Every pass of a packet through the switch counts in one cell of OUTCOMES. Of requests:
REQUEST_OUTCOMES = (
    Outcome.CLONED,
    Outcome.FIRST_BUSY,
    Outcome.SECOND_BUSY,
    Outcome.TO_FIRST,
    Outcome.TO_SECOND,
)
# ... and of responses that a client gets.
FORWARDED_OUTCOMES = (
    Outcome.ONLY_RESPONSE,
    Outcome.FASTER,
    Outcome.FASTER_OVERWROTE,
    Outcome.UNFILTERED,
)
# What must not happen in a run.
REFUSED_OUTCOMES = (
    Outcome.MALFORMED,
    Outcome.NO_ROUTE,
    Outcome.UNKNOWN_OPERATION,
    Outcome.UNKNOWN_GROUP,
    Outcome.UNKNOWN_TABLE,
    Outcome.FORGED,
)

# What a run compares with clients' and servers' counters.
COUNTED = (OUTCOMES, DESTINATIONS)

# The queue lengths that servers have told, twice.
LOADS = ("pipe.SwitchIngress.loads.state_cells", "pipe.SwitchIngress.loads.shadow_cells")

_RECIRCULATION_PORT = 68  # of a pipe

Update = dict[str, Any]


@dataclass(frozen=True)
class Flags:
    """What a method switches on."""

    racksched: bool = False  # of two servers, a busy first one leaves its request to a less busy
    filter: bool = True  # a slower response of a cloned request is dropped


def groups(servers: int) -> dict[int, tuple[int, int]]:
    """Group -> its first and its second server."""
    ordered = [pair for i, j in combinations(range(servers), 2) for pair in ((i, j), (j, i))]
    return dict(enumerate(ordered, start=1))


def of_turn(testbed: Testbed, servers: int, flags: Flags) -> list[Update]:
    """Updates after which the program's tables hold exactly these servers and flags; for one
    `table_write`.
    """
    return [
        *_cleared(GROUPS, DESTINATIONS, ROUTES, SERVER_PORTS),
        *_groups(servers),
        *_destinations(testbed, servers),
        *_routes(testbed),
        *_server_ports(testbed, servers),
        _settings(flags),
    ]


def multicast_of_turn(testbed: Testbed, servers: int) -> list[Update]:
    """The same for the switch's multicast groups, in a batch of their own.

    A group has two members: the port of its first server, and recirculation, where the clone comes
    round. It has a node of its own, since on the chip a node belongs to one group.
    """
    updates = _cleared(MULTICAST_GROUPS, MULTICAST_NODES)
    for group, (first, _) in groups(servers).items():
        node = {"$MULTICAST_RID": 0, "$DEV_PORT": _ports_of_clones(_place(testbed, first).host)}
        members = {
            "$MULTICAST_NODE_ID": [group],
            "$MULTICAST_NODE_L1_XID_VALID": [False],
            "$MULTICAST_NODE_L1_XID": [0],
        }
        updates += [
            _entry(MULTICAST_NODES, {"$MULTICAST_NODE_ID": group}, data=node),
            _entry(MULTICAST_GROUPS, {"$MGID": group}, data=members),
        ]
    return updates


def _cleared(*tables: str) -> list[Update]:
    return [{"op": "clear", "table": table} for table in tables]


def _groups(servers: int) -> Iterator[Update]:
    for group, (first, second) in groups(servers).items():
        yield _entry(GROUPS, {"group": group}, "pair", {"first": first, "second": second})


def _destinations(testbed: Testbed, servers: int) -> Iterator[Update]:
    """A server is sent requests as the first of a pair, as the second, and as the first of those
    that are cloned. Beside them: what names a server without entries is counted, and ends there.
    """
    for server in range(servers):
        place = _place(testbed, server)
        rewrite = {"mac": place.host.mac, "ip": place.host.address, "udp_port": place.udp_port}
        to_port = {"port": place.host.switch_port, **rewrite}
        as_first = {"first": _exactly(server)}
        as_second = {"second": _exactly(server)}
        yield _destination(_ONE_IS_BUSY | as_first, "send", to_port)
        yield _destination(_SECOND_IS_SHORTER | as_second, "send", to_port)
        yield _destination(_BOTH_IDLE | as_first, "clone", rewrite)
    for what_is_known in (_ONE_IS_BUSY, _SECOND_IS_SHORTER, _BOTH_IDLE):
        yield _destination(what_is_known, "unknown_server", {}, priority=1)


_ONE_IS_BUSY: Update = {"both_idle": False, "second_is_shorter": False}
_SECOND_IS_SHORTER: Update = {"both_idle": False, "second_is_shorter": True}
_BOTH_IDLE: Update = {"both_idle": True, "second_is_shorter": False}


def _destination(key: Update, action: str, data: Update, priority: int = 0) -> Update:
    return {**_entry(DESTINATIONS, key, action, data), "priority": priority}


def _routes(testbed: Testbed) -> Iterator[Update]:
    for host in testbed.data_hosts:
        key = {"dst_addr": {"value": host.address, "prefix_len": 32}}
        yield _entry(ROUTES, key, "forward", {"port": host.switch_port, "mac": host.mac})


def _server_ports(testbed: Testbed, servers: int) -> Iterator[Update]:
    """Ports from which the responses of a server are believed."""
    for server in range(servers):
        key = {"ingress_port": _place(testbed, server).host.switch_port, "server": server}
        yield _entry(SERVER_PORTS, key, "from_server", {"server": server})


def _settings(flags: Flags) -> Update:
    data = {"racksched": flags.racksched, "filter": flags.filter}
    return {"op": "set_default", "table": SETTINGS, "action": "set_flags", "data": data}


def _entry(
    table: str, key: dict[str, Any], action: str | None = None, data: dict[str, Any] | None = None
) -> Update:
    acts = {} if action is None else {"action": action}
    return {"op": "insert", "table": table, "key": key, **acts, "data": data or {}}


def _exactly(server: int) -> dict[str, int]:
    """Of a ternary key of 8 bits."""
    return {"value": server, "mask": 0xFF}


def _place(testbed: Testbed, server: int) -> Place:
    return place_of(server, SWITCH_PORT, testbed)


def _ports_of_clones(first: DataHost) -> list[int | None]:
    assert first.pipe is not None, "the system needs a switch"
    return [first.switch_port, first.pipe * PORTS_OF_A_PIPE + _RECIRCULATION_PORT]
