"""Whether a cell's parameters fit each other and the testbed."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from turntable_core.errors import TurntableError
from turntable_core.system import Check
from turntable_core.testbed import Testbed
from turntable_systems.homa import links, methods, placement, sizes

Parameters = Mapping[str, Any]

# That nodes and a software switch carry: a virtual machine with two cores, docs/homa.md §9.
PACKETS_OF_A_PROCESSOR = 15_000


def _sizes(parameters: Parameters, testbed: Testbed) -> str | None:
    name = parameters["sizes"]
    if name == sizes.FIXED:
        return None
    try:
        sizes.text_of(name)
    except TurntableError:
        return "W1 to W8, fixed, or a file with a table of sizes (experiments/homa/sizes/README.md)"
    return None


def _clients(parameters: Parameters, testbed: Testbed) -> str | None:
    of_both = (placement.clients(testbed, parameters), placement.servers(testbed, parameters))
    most = min(map(len, of_both))
    if most < parameters["clients"]:
        return (
            f"at most {most} on this testbed: clients and as many servers have a host each. "
            "inventories/embedded-homa has 4 of both"
        )
    return None


def _priorities(parameters: Parameters, testbed: Testbed) -> str | None:
    if parameters.get("priorities") != "paper" or parameters["cutoffs"]:
        return None
    if parameters["sizes"] not in sizes.PAPER:
        return "rule: the paper has settings for W1 to W8 alone"
    if methods.levels(parameters) not in methods.PAPER_LEVELS:
        return "rule: the paper has settings for 1, 2, 4 and 8 priorities alone"
    return None


def _cutoffs(parameters: Parameters, testbed: Testbed) -> str | None:
    if not parameters.get("cutoffs"):
        return None
    numbers = [int(part) for part in parameters["cutoffs"].split("+")]
    if numbers != sorted(set(numbers)):
        return f"sizes that grow, such as {'+'.join(map(str, sorted(set(numbers))))}"
    levels = methods.levels(parameters)
    if len(numbers) > max(levels - 2, 0):
        return (
            f"at most {max(levels - 2, 0)} numbers for method {parameters['method']}: of {levels} "
            "priorities one at least is for what is granted, and each number begins another one"
        )
    return None


def _beside(parameters: Parameters, testbed: Testbed) -> str | None:
    if not methods.is_mixed(parameters):
        return None
    if parameters["beside"] == parameters["method"]:
        return "another method than the cell's, or none"
    if parameters["clients"] < 2:
        return "none: every second client has it, and there is one client"
    return None


def _rtt_bytes(parameters: Parameters, testbed: Testbed) -> str | None:
    payload = parameters["payload_bytes"]
    packets, rest = divmod(parameters["rtt_bytes"], payload)
    if not rest:
        return None
    near = [f"{n * payload} ({_packets(n)})" for n in (packets, packets + 1) if n]
    return (
        f"whole packets of {payload} bytes (payload_bytes), such as {' or '.join(near)}; or 0: as "
        "many as a link carries in a round trip"
    )


def _packets(number: int) -> str:
    return f"{number} packet{'s' * (number > 1)}"


def _fan_out(parameters: Parameters, testbed: Testbed) -> str | None:
    most = parameters["outstanding"]
    if parameters["fan_out"] > most:
        return f"at most {most}, as many as a client may have under way (outstanding)"
    return None


def _link_mbps(parameters: Parameters, testbed: Testbed) -> str | None:
    """All hosts and the switch share an emulated testbed's machine."""
    if not testbed.emulated:
        return None
    most_packets = PACKETS_OF_A_PROCESSOR * len(os.sched_getaffinity(0))
    links_at_once = 2 * parameters["clients"] * min(parameters["load"], 1)
    most_mbps = most_packets * links.full_packet_us(parameters) * parameters["link_mbps"] / 1e6
    most_mbps /= links_at_once
    if parameters["link_mbps"] <= most_mbps:
        return None
    return (
        f"at most {most_mbps:.3g} on this machine: its {most_packets:,} full packets per second, "
        f"shared by the links of {2 * parameters['clients']} hosts"
    )


CHECKS = (
    Check("clients", _clients),
    Check("beside", _beside, beside=("method", "clients")),
    Check("fan_out", _fan_out, beside=("outstanding",)),
    Check("link_mbps", _link_mbps, beside=("clients", "load")),
    Check("sizes", _sizes),
    Check("priorities", _priorities, beside=("method", "sizes")),
    Check("cutoffs", _cutoffs, beside=("method",)),
    Check("rtt_bytes", _rtt_bytes, beside=("payload_bytes",)),
)
