"""Entries and counters of p4/priority, by BfRt name, for a testbed (docs/priority.md)."""

from __future__ import annotations

from typing import Any

from turntable_core.testbed import Testbed
from turntable_systems.homa.links import QUEUES

PROGRAM = "priority"
QUEUE_OF_DSCP = "pipe.SwitchIngress.dscp_to_queue.dscp_to_queue"
ROUTES = "pipe.SwitchIngress.forwarding.ipv4_lpm"
OUTCOMES = "pipe.SwitchIngress.outcomes.outcome"

COUNTED = (OUTCOMES,)
_DSCP_OF_PRIORITY = 8  # a packet of priority p has DSCP 8 p

Update = dict[str, Any]


def of_turn(testbed: Testbed) -> list[Update]:
    """Updates after which the program's tables hold exactly this; for one `table_write`."""
    queues = [
        _entry(QUEUE_OF_DSCP, {"dscp": _DSCP_OF_PRIORITY * queue}, "to_queue", {"queue": queue})
        for queue in range(QUEUES)
    ]
    routes = [
        _entry(
            ROUTES,
            {"dst_addr": {"value": host.address, "prefix_len": 32}},
            "forward",
            {"port": host.switch_port, "mac": host.mac},
        )
        for host in testbed.data_hosts
    ]
    cleared = [{"op": "clear", "table": table} for table in (QUEUE_OF_DSCP, ROUTES)]
    return [*cleared, *queues, *routes]


def _entry(table: str, key: Update, action: str, data: Update) -> Update:
    return {"op": "insert", "table": table, "key": key, "action": action, "data": data}
