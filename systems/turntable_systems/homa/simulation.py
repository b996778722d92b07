"""What homa-sim is asked of a cell: its own transport, links and calls, on the testbed's clock.

It knows neither TCP nor two transports at once. Of such a cell it is asked for the calls, for the
idle network, and for what of the calls' payload a window of this length can have, over Homa.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_systems.homa import links, methods, sizes, transport

# Of what homa-sim simulates in a second, on a virtual machine with two cores: payload of all hosts.
_PLANNED_MBPS = 5000.0


def question(parameters: Mapping[str, Any], round_: int) -> dict[str, Any]:
    gbps = links.bits_per_s(parameters) / 1e9
    return {
        **transport.common(parameters),
        **transport.priorities(parameters),
        "transport": "homa" if methods.is_tcp(parameters) else methods.kind(parameters),
        "sizes": sizes.argument(parameters),
        "load": parameters["load"],
        "arrivals": parameters["arrivals"],
        "outstanding": parameters["outstanding"],
        "fan_out": parameters["fan_out"],
        "response_bytes": parameters["response_bytes"],
        "hosts": 2 * parameters["clients"],
        "gbps": gbps,
        "link_delay_us": 1e3 * parameters["path_delay_ms"] / 2,
        "host_delay_us": 1e3 * parameters["host_delay_ms"],
        "buffer_bytes": parameters["buffer_bytes"],
        "tick_us": 1e3 * parameters["tick_ms"],
        "warmup_s": parameters["warmup_s"],
        "measure_s": parameters["measure_s"],
        "drain_s": parameters["drain_s"],
        "seed": seed_of(parameters, round_),
    }


def planning_s(parameters: Mapping[str, Any]) -> float:
    simulated_s = parameters["warmup_s"] + parameters["measure_s"]
    mbps = 2 * parameters["clients"] * parameters["link_mbps"] * min(parameters["load"], 1)
    return simulated_s * mbps / _PLANNED_MBPS


def seed_of(parameters: Mapping[str, Any], round_: int) -> int:
    """Rounds differ, transports do not."""
    return parameters["seed"] + round_
