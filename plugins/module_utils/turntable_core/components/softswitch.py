"""The software switch: one P4 program, its tables and counters (docs/architecture.md §5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core import switch_tables
from turntable_core.components import Context
from turntable_core.components.supervisor import end, spawn
from turntable_core.methods import caches
from turntable_core.requests import Batches, Request

NODE = "softswitch"


def program_of(parameters: Mapping[str, Any]) -> str:
    """The P4 program of a cell: the method's own."""
    return parameters["method"]


def start(context: Context) -> Batches:
    """Loads the program of the turn's method; the switch has one program at a time."""
    switch = context.testbed.switch
    options = ["--program", f"{switch.p4_dir}/{program_of(context.parameters)}.so"]
    options += ["--port-driver", switch.port_driver]
    for host in context.testbed.data_hosts:
        options += ["--port", f"{host.switch_port}={host.switch_interface}"]
    options += ["--cpu-port", f"{switch.cpu_port}={switch.cpu_interface}"]
    if switch.trace is not None:
        options += ["--trace", switch.trace]
    return {switch.name: [spawn(context, switch, NODE, *options)]}


def change_program(context: Context) -> Batches:
    """Ends the switch and starts it with the turn's program; tables and counters are empty then."""
    ((host, spawning),) = start(context).items()
    return {host: [end(NODE), *spawning]}


def configure(context: Context) -> Batches:
    """Tables for a turn: the testbed's addresses, and hash slots to servers for its scale and
    bottleneck.
    """
    parameters = context.parameters
    updates = switch_tables.of_turn(
        context.testbed,
        parameters["servers"],
        context.turn.prediction.bottleneck,
        cached=caches(parameters),
    )
    return {
        context.testbed.switch.name: [
            Request(NODE, "table_write", {"updates": updates}),
            Request(
                NODE, "settings", {"processing_delay_ns": parameters["switch_processing_delay_ns"]}
            ),
        ]
    }


def prepare(context: Context) -> Batches:
    """No request is on its way yet: counters begin at zero."""
    return {
        context.testbed.switch.name: [
            Request(NODE, "counter_clear"),
            Request(NODE, "port_stats_clear"),
        ]
    }


def begin(context: Context) -> Batches:
    """Lateness counts from here: before, the clients' traces were cut at the thread's expense."""
    return {context.testbed.switch.name: [Request(NODE, "pipeline_thread_clear")]}


def collect(context: Context) -> Batches:
    tables = switch_tables.COUNTED
    if caches(context.parameters):
        tables += (switch_tables.OUTCOMES,)
    counters = [Request(NODE, "counter_read", {"table": table}) for table in tables]
    # Drops first: frames of a snapshot that is under way end in the switch too, and must not be
    # among its drops without being among the outcomes that explain them.
    return {
        context.testbed.switch.name: [Request(NODE, "port_stats"), *counters, Request(NODE, "info")]
    }
