"""Request/answer pairs through softswitch beside a plain AF_PACKET forwarder and BMv2, over veth.

All carry the same closed-loop load of key-value packets on the same links, in turn.
"""

from __future__ import annotations

import itertools
import os
from pathlib import Path

from . import bmv2_json, cache_loads
from .comparison import OURS, YARDSTICK, Comparison, NotRunError, Outcome, Unit, alternate_all
from .forwarders import AF_PACKET, AF_XDP, OUTSTANDING, PORTS, Command, Forwarders
from .namespaces import (
    CLIENT_ADDRESS,
    CLIENT_MAC,
    SERVER_ADDRESS,
    SERVER_MAC,
    UDP_PORT,
    super_frames_off,
    switched_hosts,
)
from .program_loads import LOADS
from .settings import Settings

PLAIN = "plain AF_PACKET forwarder"
PROGRAMS = ("trivial", "large")
DRIVERS = (AF_PACKET, AF_XDP)
BMV2 = "TURNTABLE_BMV2"
BMV2_OUTSTANDING = 48  # for both sides: simple_switch drops what exceeds 64 frames of a port
BMV2_GOALS = {"trivial": 4.5, "large": 10.0}


def measure(settings: Settings) -> list[Outcome]:
    """The program of --program and those of bench/programs beside the plain forwarder."""
    with switched_hosts("s") as hosts:
        forwarders = Forwarders(settings, hosts)
        outcomes = []
        for name, driver in itertools.product((settings.program, *PROGRAMS), DRIVERS):
            sides = {
                YARDSTICK: lambda: forwarders.load(forwarders.plain),
                OURS: lambda name=name, driver=driver: _soft(forwarders, name, driver),
            }
            comparisons = _comparisons(f"switch with {name}, over veth", PLAIN, 0.8, driver)
            outcomes += alternate_all(comparisons, settings.rounds, sides)
        return [*outcomes, *_hits(forwarders)]


def _hits(forwarders: Forwarders) -> list[Outcome]:
    """Every request is for a cached key: the switch answers, the yardstick's server does."""
    program = forwarders.settings.build / "lib" / "p4" / f"{cache_loads.PROGRAM}.so"
    commands = [*cache_loads.commands(), cache_loads.sessions()]
    request = f"--payload-bytes {cache_loads.GET_BYTES} --mark-offset {cache_loads.MARK_OFFSET}"
    sides = {
        YARDSTICK: lambda: forwarders.load(forwarders.plain, request=request),
        OURS: lambda: forwarders.load(lambda: forwarders.soft(program, commands), request=request),
    }
    what = f"switch with {cache_loads.PROGRAM}, all hits, over veth"
    comparisons = _comparisons(what, PLAIN, 0.8)
    return alternate_all(comparisons, forwarders.settings.rounds, sides)


def measure_bmv2(settings: Settings) -> list[Outcome]:
    """The programs of bench/programs beside BMv2 with equivalent ones."""
    simple_switch = Path(os.environ.get(BMV2, ""))
    if not simple_switch.is_file():
        raise NotRunError(f"{BMV2} names no program; expected the path of BMv2's simple_switch")
    with switched_hosts("b") as hosts:
        for port in PORTS.values():
            super_frames_off(hosts.switch, port)
        forwarders = Forwarders(settings, hosts)
        outcomes = []
        for name, driver in itertools.product(PROGRAMS, DRIVERS):
            program = bmv2_json.PROGRAMS[name](LOADS[name]().updates)
            sides = {
                YARDSTICK: lambda program=program: forwarders.load(
                    lambda: forwarders.bmv2(simple_switch, program), BMV2_OUTSTANDING
                ),
                OURS: lambda name=name, driver=driver: _soft(
                    forwarders, name, driver, BMV2_OUTSTANDING
                ),
            }
            comparisons = _comparisons(
                f"{name}, beside BMv2", "simple_switch", BMV2_GOALS[name], driver
            )
            outcomes += alternate_all(comparisons, settings.rounds, sides)
        return outcomes


def _comparisons(
    what: str, yardstick: str, goal: float, driver: str = AF_PACKET
) -> list[Comparison]:
    """Of what Forwarders.load() gives; the second one suffers less from other jobs."""
    ours = f"softswitch, {driver}"
    return [
        Comparison(what, yardstick, ours, Unit.PAIRS_PER_S, goal),
        Comparison(what, yardstick, ours, Unit.CPU_US_PER_PAIR),
    ]


def _soft(
    forwarders: Forwarders, name: str, driver: str, outstanding: int = OUTSTANDING
) -> tuple[float, float]:
    file, commands = _program(forwarders.settings, name)
    return forwarders.load(lambda: forwarders.soft(file, commands, driver), outstanding)


def _program(settings: Settings, name: str) -> tuple[Path, list[Command]]:
    """A program's library, and the commands that make it forward between the hosts."""
    if name in LOADS:
        return settings.bench_program(name), LOADS[name]().commands()
    if name == "static_forwarder":
        forward = ((CLIENT_MAC, 1), (SERVER_MAC, 2))
        commands = [{"command": "forward", "args": {"mac": m, "port": p}} for m, p in forward]
        return settings.bench_program(name), commands
    updates = {"updates": key_value_tables()}
    file = settings.build / "lib" / "p4" / f"{name}.so"
    return file, [{"command": "table_write", "args": updates}]


def key_value_tables() -> list[dict[str, object]]:
    """One partition at the server; p4/shared says what the tables do."""
    whole = {"key": {"slot": {"low": 0, "high": 32767}}, "priority": 0}
    server = {"mac": SERVER_MAC, "ip": SERVER_ADDRESS, "udp_port": UDP_PORT}
    tables = (
        ("request_partition", "to_server", whole, {"port": 2, **server}),
        ("answer_partition", "from_first_server", whole, server),
        ("forwarding", "forward", _route(CLIENT_ADDRESS), {"port": 1, "mac": CLIENT_MAC}),
        ("forwarding", "forward", _route(SERVER_ADDRESS), {"port": 2, "mac": SERVER_MAC}),
        ("server_port", "from_server", {"key": {"ingress_port": 2}}, {}),
    )
    return [
        {"op": "insert", "table": _table_name(block), "action": action, "data": data, **match}
        for block, action, match, data in tables
    ]


def _table_name(block: str) -> str:
    return f"pipe.SwitchIngress.{block}.{'ipv4_lpm' if block == 'forwarding' else block}"


def _route(address: str) -> dict[str, object]:
    return {"key": {"dst_addr": {"value": address, "prefix_len": 32}}}
