"""Logical clients, spread evenly over the client hosts;

all of them begin at one instant (docs/architecture.md §5).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.components import Context, seconds_to_ns
from turntable_core.components.supervisor import spawn_with_secret
from turntable_core.methods import keeps_copies
from turntable_core.placement import CONTROLLER_PORT, FIRST_PORT
from turntable_core.requests import Batches, Request

NODE = "kvclient"
_LATER_LEAD_MS = 1000
# Copies of evicted keys stay until a snapshot has their records.
_EVICTED_TOO = 4


def start(context: Context) -> Batches:
    return {
        host.name: [spawn_with_secret(context, host, NODE, "--address", host.address)]
        for host in context.testbed.clients
    }


def prepare(context: Context) -> Batches:
    parameters, hosts = context.parameters, context.testbed.clients
    clients = parameters["clients"] // len(hosts)
    copies = _copies(context) if keeps_copies(parameters) else {}
    return {
        host.name: [
            Request(
                NODE,
                "prepare",
                {
                    "workload": context.workload,
                    "scale": parameters["servers"],
                    "partitions": context.iteration.partitions,
                    "first_client": index * clients,
                    "clients": clients,
                    "threads": min(parameters["client_threads"], clients),
                    "server_address": context.testbed.servers[0].address,
                    "server_port": FIRST_PORT,
                    "timeout_us": parameters["timeout_us"],
                }
                | copies,
            )
        ]
        for index, host in enumerate(hosts)
    }


def _copies(context: Context) -> dict[str, Any]:
    """What a switch is recovered from (docs/kvcache.md §9): of every cached key, until the next
    `prepare`. Every thread may have one of each, and of keys that have been evicted since.
    """
    parameters = context.parameters
    kept = parameters["cache_size"] * (_EVICTED_TOO if parameters.get("admission", False) else 1)
    address = context.testbed.servers[0].control_address
    return {
        "copies_max": kept * parameters["client_threads"],
        "controller": {"address": address, "port": CONTROLLER_PORT},
    }


def start_lead_ms(parameters: Mapping[str, Any], attempt: int) -> int:
    """Until the common start instant: what was too short for a busy machine once is not again."""
    lead_ms = parameters["start_lead_ms"]
    return lead_ms if attempt == 1 else max(lead_ms, _LATER_LEAD_MS)


def begin(context: Context) -> Batches:
    parameters = context.parameters
    args = {
        "start_at_ns": context.start_at_ns,
        "warmup_ns": seconds_to_ns(parameters["warmup_s"]),
        "measure_ns": seconds_to_ns(parameters["measure_s"]),
        "drain_ns": seconds_to_ns(parameters["drain_s"]),
    }
    return {host.name: [Request(NODE, "start", args)] for host in context.testbed.clients}


def wait(context: Context) -> Batches:
    """Answers when every client has drained: at most `drain_s` after the window."""
    parameters = context.parameters
    running_s = (
        parameters["start_lead_ms"] / 1000
        + parameters["warmup_s"]
        + parameters["measure_s"]
        + parameters["drain_s"]
    )
    args = {"deadline_s": running_s + context.plan.deadlines["command"]}
    return {host.name: [Request(NODE, "wait", args)] for host in context.testbed.clients}


def collect(context: Context) -> Batches:
    return {host.name: [Request(NODE, "stats")] for host in context.testbed.clients}
