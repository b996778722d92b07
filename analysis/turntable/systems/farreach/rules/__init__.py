"""The rules of a verdict. docs/experiments.md argues for the bounds."""

from __future__ import annotations

from collections.abc import Mapping

from turntable import rules
from turntable.rules import losses, starved
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rules import capacity, counters, method, shares
from turntable.systems.farreach.rules.closed_loop import latest_start_us, stall
from turntable.verdict import Rule


def _socket_drops(measurement: Measurement) -> int:
    return measurement.client_socket_drops + sum(
        server.socket_drops for server in measurement.servers
    )


# In the order in which reasons are given: what is wrong first, what may explain it after.
RULES: Mapping[str, Rule] = {
    "bottleneck": capacity.bottleneck,
    "lost capacity": capacity.lost_capacity,
    "counters": counters.counters,
    "cached keys": method.cached_keys,
    "hit share": shares.hits,
    "composition": shares.composition,
    "settled": shares.settled,
    "recovery": method.recovered,
    "copies": method.copies,
    "snapshots": method.snapshots,
    "rates": counters.rates,
    "errors": rules.errors,
    "retries": rules.retries,
    "unanswered": losses("requests stayed unanswered", lambda m: m.unanswered),
    "socket drops": losses("sockets dropped packets", _socket_drops),
    "switch drops": rules.switch_drops,
    "NIC drops": rules.nic_drops,
    "late start": rules.late_start(lambda case: latest_start_us(case.parameters)),
    "late end": rules.late_end,
    "steal": rules.steal,
    "switch stalls": stall("the switch", lambda m: m.switch_thread.late_max_us),
    "client stalls": stall("clients", lambda m: m.client_threads.late_max_us),
    "switch starved": rules.switch_starved,
    "clients starved": starved("clients", lambda m: m.client_threads.wait_share),
}
