"""The rules of a verdict. docs/farreach.md argues for the bounds."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from turntable import rules
from turntable.rules import losses, starved
from turntable.systems.farreach.artifact.rules import where_known
from turntable.systems.farreach.measurement import Measurement
from turntable.systems.farreach.rules import (
    capacity,
    changes,
    counters,
    method,
    open_loop,
    shares,
)
from turntable.systems.farreach.rules.closed_loop import latest_start_us, stall
from turntable.systems.farreach.rules.open_loop import (
    below_saturation,
    closed_only,
    either,
    open_only,
)
from turntable.verdict import Rule


def _socket_drops(measurement: Measurement) -> int:
    return measurement.client_socket_drops + sum(
        server.socket_drops for server in measurement.servers
    )


def _stall(who: str, late_us: Callable[[Measurement], float | None]) -> Rule:
    return either(stall(who, late_us), open_loop.stall(who, late_us))


# In the order in which reasons are given: what is wrong first, what may explain it after.
OF_MACHINE = rules.OF_MACHINE | {"bottleneck", "lost capacity", "sent late", "idle path"}

_OF_RUNS: Mapping[str, Rule] = {
    "limit": closed_only(capacity.limited),
    "bottleneck": closed_only(capacity.bottleneck),
    "offered": open_only(open_loop.offered),
    "delivered": open_only(open_loop.delivered),
    "lost capacity": either(capacity.lost_capacity, open_loop.lost_capacity),
    "counters": counters.counters,
    "cached keys": method.cached_keys,
    "hit share": shares.hits,
    "composition": shares.composition,
    "settled": closed_only(shares.settled),
    "recovery": method.recovered,
    "copies": method.copies,
    "snapshots": method.snapshots,
    "changes together": changes.together,
    "changes": changes.shape,
    "rates": counters.rates,
    "errors": rules.errors,
    "retries": rules.retries,
    "unanswered": below_saturation(losses("requests stayed unanswered", lambda m: m.unanswered)),
    "socket drops": losses("sockets dropped packets", _socket_drops),
    "switch drops": rules.switch_drops,
    "NIC drops": rules.nic_drops,
    "sent late": open_only(open_loop.sent_late),
    "idle path": open_only(open_loop.idle_path),
    "withheld": open_only(open_loop.withheld),
    "late start": rules.late_start(lambda case: latest_start_us(case.parameters)),
    "late end": rules.late_end,
    "steal": rules.steal,
    "switch stalls": rules.of_switch_thread(
        _stall("the switch", lambda m: m.switch_thread.late_max_us)
    ),
    "client stalls": _stall("clients", lambda m: m.client_threads.late_max_us),
    "switch starved": rules.switch_starved,
    "clients starved": starved("clients", lambda m: m.client_threads.wait_share),
}

RULES: Mapping[str, Rule] = {name: where_known(name, rule) for name, rule in _OF_RUNS.items()}
