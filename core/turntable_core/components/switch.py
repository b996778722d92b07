"""The switch of a testbed: one P4 program, its tables and counters, as the system has them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from turntable_core.components.supervisor import end, spawn
from turntable_core.context import Context
from turntable_core.requests import Batches, Request
from turntable_core.switch import driver_of


def start(context: Context) -> Batches:
    """Loads the program of the turn; the switch has one program at a time."""
    host, driver = context.testbed.switch, driver_of(context.testbed.switch)
    program = context.system.switch_program(context.parameters)
    options = driver.program_options(program, context.testbed)
    return {host.name: [spawn(context, host, driver.node, *options)]}


def change_program(context: Context) -> Batches:
    """Ends the switch and starts it with the turn's program; tables and counters are empty then."""
    ((host, spawning),) = start(context).items()
    return {host: [end(driver_of(context.testbed.switch).node), *spawning]}


def configure(context: Context) -> Batches:
    driver, system = driver_of(context.testbed.switch), context.system
    # Groups first: entries that name them would lose copies of packets that are on their way.
    updates = [system.switch_multicast(context), system.switch_tables(context)]
    written = [driver.write(of_one) for of_one in updates if of_one]
    settings = driver.settings(system.switch_settings(context.parameters))
    return _to_switch(context, *written, settings)


def forget(context: Context) -> Batches:
    """What registers still know of the iteration before."""
    names = context.system.switch_registers(context.parameters)
    requests = driver_of(context.testbed.switch).clear_registers(names)
    return _to_switch(context, *requests) if requests else {}


def prepare(context: Context) -> Batches:
    """No request is on its way yet: counters begin at zero."""
    return _to_switch(context, *driver_of(context.testbed.switch).clear_counters())


def begin(context: Context) -> Batches:
    return _to_switch(context, *driver_of(context.testbed.switch).begin())


def collect(context: Context) -> Batches:
    names = context.system.switch_counters(context.parameters)
    return _to_switch(context, *driver_of(context.testbed.switch).read_counters(names))


def impair(
    context: Context, host: str, direction: str, rules: Sequence[Mapping[str, Any]]
) -> Batches:
    """Faults of the link to a host (SwitchDriver.impair)."""
    ports = {other.name: other.switch_port for other in context.testbed.data_hosts}
    driver = driver_of(context.testbed.switch)
    return _to_switch(context, driver.impair(ports[host], direction, rules))


def _to_switch(context: Context, *requests: Request) -> Batches:
    return {context.testbed.switch.name: list(requests)}
