"""Entries and counters of the P4 programs, by BfRt name, for a testbed and a turn's scale and
bottleneck.
"""

from __future__ import annotations

from typing import Any

from turntable_core.testbed import Testbed
from turntable_systems.farreach import hosts
from turntable_systems.farreach.p4_numbers import Outcome
from turntable_systems.farreach.placement import FIRST_PORT, place_of, slots_of

# Blocks of p4/shared, in every program of the system.
REQUESTS = "pipe.SwitchIngress.request_partition.request_partition"
ANSWERS = "pipe.SwitchIngress.answer_partition.answer_partition"
ROUTES = "pipe.SwitchIngress.forwarding.ipv4_lpm"
DROPS = "pipe.SwitchIngress.drops.drops"
SERVER_PORTS = "pipe.SwitchIngress.server_port.server_port"

# p4/shared/cache/answer_source.p4, in programs with a cache: as whom the switch answers.
ANSWER_SOURCE = "pipe.SwitchEgress.answer_source.answer_source"
# p4/shared/cache/outcomes.p4, in programs with a cache: packets by what became of them.
OUTCOMES = "pipe.SwitchEgress.outcomes.outcome"
# Those that the switch answers itself.
ANSWERED_OUTCOMES = (
    Outcome.GET_HIT,
    Outcome.PUT_HIT,
    Outcome.PUT_CASE1,
    Outcome.DELETE_HIT,
    Outcome.DELETE_CASE1,
)
# Records that servers send for slots. FarReach's are answers on their way to clients, NetCache's
# are value updates.
UPDATE_OUTCOMES = (Outcome.FILL_TAKEN, Outcome.FILL_REFUSED)
CONTROL_OUTCOME = Outcome.CONTROL  # frames of switch-agent

# Tables whose counters a run compares with the clients', or keeps for an explanation.
COUNTED = (REQUESTS, ANSWERS, DROPS)

Update = dict[str, Any]


def of_turn(testbed: Testbed, servers: int, bottleneck: int, *, cached: bool) -> list[Update]:
    """Updates after which the tables hold exactly this turn's placement; for one `table_write`.

    `cached`: the program is one with a cache.
    """
    clear = [{"op": "clear", "table": table} for table in (REQUESTS, ANSWERS, ROUTES, SERVER_PORTS)]
    partitions = range(servers)
    return [
        *clear,
        *(_request(testbed, servers, partition, bottleneck) for partition in partitions),
        *(_answer(testbed, servers, partition) for partition in partitions),
        *_routes(testbed),
        *_server_ports(testbed),
        *([_answer_of_switch(testbed)] if cached else []),
    ]


def _request(testbed: Testbed, servers: int, partition: int, bottleneck: int) -> Update:
    """Requests for a partition go to its server."""
    place = place_of(partition, bottleneck)
    host = hosts.servers(testbed)[place.server]
    data = {
        "port": host.switch_port,
        "mac": host.mac,
        "ip": host.address,
        "udp_port": place.udp_port,
    }
    return _entry(REQUESTS, "to_server", servers, partition, data)


def _answer(testbed: Testbed, servers: int, partition: int) -> Update:
    """Answers of servers look as if the first one had sent them."""
    return _entry(ANSWERS, "from_first_server", servers, partition, _first_server(testbed))


def _answer_of_switch(testbed: Testbed) -> Update:
    """So do the switch's own."""
    return {
        "op": "set_default",
        "table": ANSWER_SOURCE,
        "action": "from_first_server",
        "data": _first_server(testbed),
    }


def _first_server(testbed: Testbed) -> dict[str, Any]:
    """The only server that clients know."""
    first = hosts.servers(testbed)[0]
    return {"mac": first.mac, "ip": first.address, "udp_port": FIRST_PORT}


def _entry(table: str, action: str, servers: int, partition: int, data: dict[str, Any]) -> Update:
    low, high = slots_of(partition, servers)
    return {
        "op": "insert",
        "table": table,
        "key": {"slot": {"low": low, "high": high}},
        "priority": 0,
        "action": action,
        "data": data,
    }


def _routes(testbed: Testbed) -> list[Update]:
    return [
        {
            "op": "insert",
            "table": ROUTES,
            "key": {"dst_addr": {"value": host.address, "prefix_len": 32}},
            "action": "forward",
            "data": {"port": host.switch_port, "mac": host.mac},
        }
        for host in testbed.data_hosts
    ]


def _server_ports(testbed: Testbed) -> list[Update]:
    """Ports whose answers are believed: those of the inventory's servers."""
    return [
        {
            "op": "insert",
            "table": SERVER_PORTS,
            "key": {"ingress_port": host.switch_port},
            "action": "from_server",
        }
        for host in hosts.servers(testbed)
    ]
