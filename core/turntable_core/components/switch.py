"""The switch of a testbed: one P4 program, its tables and counters, as the system has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

from turntable_core.components.supervisor import end, kill, spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.switch import Start, SwitchNode, driver_of

Verb = Callable[[Context], Batches]


def _of_driven_switch(verb: Verb) -> Verb:
    """Of a vendor's switch nothing is asked: it is no node of the run, and has no tables."""

    @wraps(verb)
    def asked(context: Context) -> Batches:
        return {} if context.testbed.vendors_switch else verb(context)

    return asked


@_of_driven_switch
def start(context: Context) -> Batches:
    """Loads the program of the turn; the switch has one program at a time."""
    host = context.testbed.switch
    spawning = [spawn(context, host, node.program, *node.options) for node in _nodes(context)]
    return {host.name: spawning}


def change_program(context: Context) -> Batches:
    """Ends the switch and starts it with the turn's program; tables and counters are empty then."""
    ((host, spawning),) = start(context).items()
    return {host: [*(end(node.program) for node in reversed(_nodes(context))), *spawning]}


def crash(context: Context) -> Batches:
    """The switch dies with all its state, then what had spoken to it; `start` brings them back.

    Not where the driver cannot (CRASH): the switch would live on.
    """
    switch = context.testbed.switch
    return {switch.name: [kill(program) for program in driver_of(switch).programs]}


@_of_driven_switch
def configure(context: Context) -> Batches:
    driver, system = driver_of(context.testbed.switch), context.system
    # Groups first: entries that name them would lose copies of packets that are on their way.
    updates = [system.switch_multicast(context), system.switch_tables(context)]
    written = [driver.write(of_one) for of_one in updates if of_one]
    if traffic := _traffic(context):
        written += driver.traffic(traffic)
    settings = driver.settings(system.switch_settings(context.parameters))
    return _to_switch(context, *written, *settings)


@_of_driven_switch
def forget(context: Context) -> Batches:
    """What registers still know of the iteration before."""
    names = context.system.switch_registers(context.parameters)
    requests = driver_of(context.testbed.switch).clear_registers(names)
    return _to_switch(context, *requests)


@_of_driven_switch
def prepare(context: Context) -> Batches:
    """No request is on its way yet: counters begin at zero."""
    driver = driver_of(context.testbed.switch)
    traffic = driver.clear_traffic() if _traffic(context) else []
    return _to_switch(context, *driver.clear_counters(), *traffic)


@_of_driven_switch
def begin(context: Context) -> Batches:
    return _to_switch(context, *driver_of(context.testbed.switch).begin())


@_of_driven_switch
def collect(context: Context) -> Batches:
    names = context.system.switch_counters(context.parameters)
    driver = driver_of(context.testbed.switch)
    traffic = driver.read_traffic() if _traffic(context) else []
    return _to_switch(context, *driver.read_counters(names), *traffic)


def impair(
    context: Context, host: str, direction: str, rules: Sequence[Mapping[str, Any]]
) -> Batches:
    """Faults of the link to a host (SwitchDriver.impair)."""
    ports = {other.name: other.switch_port for other in context.testbed.data_hosts}
    driver = driver_of(context.testbed.switch)
    return _to_switch(context, driver.impair(ports[host], direction, rules))


def _nodes(context: Context) -> list[SwitchNode]:
    system, parameters = context.system, context.parameters
    with_what = Start(
        system.switch_program(parameters),
        system.switch_settings(parameters),
        context.plan.deadlines["start_nodes"],
        _pipe(context),
    )
    return driver_of(context.testbed.switch).nodes(with_what, context.testbed)


def _pipe(context: Context) -> int:
    """Others of the testbed's hosts may be elsewhere."""
    return max(host.pipe or 0 for host in context.system.hosts_in(context.testbed))


def _traffic(context: Context) -> list[dict[str, Any]]:
    return context.system.switch_traffic(context.parameters, context.testbed)


def _to_switch(context: Context, *requests: Request) -> Batches:
    return {context.testbed.switch.name: list(requests)} if requests else {}
