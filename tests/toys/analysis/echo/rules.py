"""May the numbers be believed?"""

from __future__ import annotations

from collections.abc import Mapping

from turntable import rules
from turntable.verdict import Case, Finding, Rule


def _delivered(case: Case) -> Finding:
    """An open loop that is not answered has no latency: the queue grows as long as one measures."""
    least = case.bounds["delivered_share_min"]
    shares = [m.delivered / m.offered if m.offered else 0.0 for m in case.measurements]
    if all(share >= least for share in shares):
        return Finding()
    return Finding(f"{min(shares):.2%} of the offered load was delivered (at least {least:.0%})")


def _stalls(case: Case) -> Finding:
    return rules.limit(
        case,
        "the client sent late (share of the window)",
        lambda m: m.send_late_max_us / 1e6 / m.seconds,
        case.bounds["late_share_max"],
    )


# In the order in which reasons are given: what is wrong first, what may explain it after.
RULES: Mapping[str, Rule] = {
    "delivered": _delivered,
    "errors": rules.errors,
    "unanswered": rules.losses("requests stayed unanswered", lambda m: m.unanswered),
    "socket drops": rules.losses("sockets dropped packets", lambda m: m.socket_drops),
    "NIC drops": rules.nic_drops,
    "late start": rules.late_start(lambda case: case.bounds["start_late_us_max"]),
    "client stalls": _stalls,
    "clients starved": rules.starved("the client", lambda m: m.wait_share),
    "steal": rules.steal,
}
