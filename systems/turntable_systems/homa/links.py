"""The links of a cell: rates, delays, and what follows from them.

Every host has a link to the switch. On an emulated testbed hosts pace their side of it, and the
switch serializes and delays its own (docs/homa.md §9); what is `dilation` times as slow as the
paper's takes so many times as long.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from turntable_core.testbed import Testbed

Parameters = Mapping[str, Any]
Update = dict[str, Any]

QUEUES = 8
_PAYLOAD_HEADER = 30  # of Homa's DATA
_GRANT = 23
_BELOW = 42  # UDP 8, IP 20, Ethernet 14
OVERHEAD = 24  # preamble 8, check sequence 4, gap 12


def bits_per_s(parameters: Parameters) -> int:
    return round(parameters["link_mbps"] * 1e6)


def dilation(parameters: Parameters) -> float:
    return parameters["true_gbps"] * 1e9 / bits_per_s(parameters)


def full_packet_us(parameters: Parameters) -> float:
    return _time_us(parameters, parameters["payload_bytes"] + _PAYLOAD_HEADER)


def round_trip_us(parameters: Parameters) -> float:
    """From a full packet's begin until its grant has made the next one begin: both cross two
    links, and wait for both hosts.
    """
    of_links = 2 * (full_packet_us(parameters) + _time_us(parameters, _GRANT))
    return of_links + 2e3 * (parameters["path_delay_ms"] + parameters["host_delay_ms"])


def rtt_bytes(parameters: Parameters) -> int:
    """RTTbytes: what a link carries in a round trip, in whole packets (docs/homa.md §3)."""
    if parameters["rtt_bytes"]:
        return parameters["rtt_bytes"]
    carried = bits_per_s(parameters) * round_trip_us(parameters) / 8e6
    payload = parameters["payload_bytes"]
    return math.ceil(carried / payload) * payload


def traffic(testbed: Testbed, parameters: Parameters) -> list[Update]:
    """Of a software switch's `tm_write`. A rack's ports are links, with delays of their own."""
    if not testbed.emulated:
        return []
    ports = [host.switch_port for host in testbed.data_hosts]
    of_ports = [
        {
            "port": port,
            "link_bps": bits_per_s(parameters),
            "link_overhead_bytes": OVERHEAD,
            "delay_ns": round(parameters["path_delay_ms"] * 1e6),
        }
        for port in ports
    ]
    of_queues = [
        {"port": port, "queue": queue, "buffer_bytes": parameters["buffer_bytes"]}
        for port in ports
        for queue in range(QUEUES)
    ]
    return [*of_ports, *of_queues]


def _time_us(parameters: Parameters, homa_bytes: int) -> float:
    """Of a packet on a link."""
    return (homa_bytes + _BELOW + OVERHEAD) * 8e6 / bits_per_s(parameters)
