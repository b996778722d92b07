"""What single values cannot show: whether a cell's parameters fit each other and the testbed, and
whether the testbed has the hosts that the system needs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from turntable_core import systems
from turntable_core.errors import InputError, TurntableError
from turntable_core.overrides import WHERE
from turntable_core.plan import Cell
from turntable_core.system import Check, Parameters, Role, System
from turntable_core.testbed import PORTS_OF_A_PIPE, DataHost, Testbed
from turntable_inventory.inventory import SWITCHES, TARGET, VENDOR
from turntable_inventory.others import inventories_of
from turntable_inventory.problem import Problem
from turntable_inventory.read import shorten
from turntable_inventory.roles import roles_of


def check_plan(
    system: System, cells: Iterable[Cell], testbed: Testbed, origins: Mapping[str, str]
) -> None:
    """origins: parameter -> where its value was given, for messages."""
    for cell in cells:
        for check in system.checks():
            expected = check.expected(cell.parameters, testbed)
            if expected is not None:
                name = check.parameter
                expected += _what_to_add(cell.parameters, check, origins)
                raise InputError(origins[name], name, cell.parameters[name], expected)


def _what_to_add(parameters: Parameters, check: Check, origins: Mapping[str, str]) -> str:
    """An experiment's value that does not fit what the user chose is not to be edited."""
    if origins[check.parameter].startswith(WHERE):
        return ""
    chosen = [name for name in check.beside if origins.get(name, "").startswith(WHERE)]
    if not chosen:
        return ""
    given = " ".join(f"-e {name}={parameters[name]}" for name in chosen)
    return f". Beside {given}, give such a value: -e {check.parameter}=…"


def check_hosts(system: System, testbed: Testbed, inventories: Path) -> None:
    """inventories: the directory in which others lie, for the message."""
    lacking = list(_lacking(system, _groups_of(testbed)))
    if not lacking:
        return
    fitting = [
        name
        for name, groups in inventories_of(inventories)
        if not any(_lacking(system, {**roles_of(groups), SWITCHES: groups.get(SWITCHES, [])}))
    ]
    there = shorten(str(inventories))
    advice = (
        f"Inventories that have what it needs: {', '.join(fitting)}. Choose one, for instance "
        f"-i {there}/{fitting[0]}"
        if fitting
        else f"No inventory of {there} has what it needs: docs/inventory.md says how to write one"
    )
    lines = (f"  {line}" for line in lacking)
    raise TurntableError(
        "\n".join((f"inventory: not the hosts that {system.name} needs", *lines, advice))
    )


_PORT = "turntable_switch_port"


def check_pipes(system: System, testbed: Testbed, place: Callable[[str, str], str]) -> None:
    """place: (host, variable) -> `file:line` where the inventory gives it."""
    if not system.needs_one_pipe:
        return
    hosts = system.hosts_in(testbed)
    pipes = Counter(host.pipe for host in hosts)
    if len(pipes) < 2:
        return
    (pipe, _), *_ = pipes.most_common(1)
    there = next(host for host in hosts if host.pipe == pipe)
    lines = (
        f"  {host.name}: {_other_pipe(host, there, place)}" for host in hosts if host.pipe != pipe
    )
    advice = (
        f"The switch keeps state of {system.name} in registers, and its pipes share none. Plug the "
        "hosts into ports of one pipe, and say so in the inventory"
    )
    raise TurntableError("\n".join(("inventory: hosts in several pipes", *lines, advice)))


def _other_pipe(host: DataHost, there: DataHost, place: Callable[[str, str], str]) -> str:
    assert there.pipe is not None, "hosts are plugged into a switch all or none"
    first = there.pipe * PORTS_OF_A_PIPE
    expected = (
        f"a port of pipe {there.pipe} ({first} to {first + PORTS_OF_A_PIPE - 1}), where "
        f"{there.name} is; this one is of pipe {host.pipe}"
    )
    return Problem(host.name, _PORT, expected, host.switch_port, place(host.name, _PORT)).subject()


def systems_for(testbed: Testbed) -> list[System]:
    """Those that the testbed has the hosts for."""
    groups = _groups_of(testbed)
    return [system for system in systems.every() if not any(_lacking(system, groups))]


def _groups_of(testbed: Testbed) -> dict[str, list[str]]:
    roles = {role: [host.name for host in hosts] for role, hosts in testbed.roles.items()}
    switches = [testbed.switch.name] if testbed.switch else []
    vendors = [testbed.vendors_switch] if testbed.vendors_switch else []
    return {**roles, SWITCHES: switches, VENDOR: vendors}


def _lacking(system: System, groups: Mapping[str, Sequence[str]]) -> Iterator[str]:
    """In words, group by group; groups: roles and switches, with their hosts."""
    needed = [Role(SWITCHES, 1, 1)] if system.needs_switch else []
    if vendors := groups.get(VENDOR):
        if system.needs_switch and system.needs_switch_program:
            yield (
                f"switch {', '.join(vendors)} is a vendor's ({TARGET} {VENDOR}); expected one that "
                f"runs the P4 program of {system.name}"
            )
        needed = []
    for role in (*needed, *system.roles):
        hosts = groups.get(role.group, ())
        if len(hosts) < role.least or (role.most is not None and len(hosts) > role.most):
            names = f" ({', '.join(hosts)})" if hosts else ""
            yield f"group {role.group} has {_count(len(hosts))}{names}; expected {_how_many(role)}"


def _how_many(role: Role) -> str:
    if role.most is None:
        return f"{_count(role.least)} or more"
    return _count(role.most) if role.most == role.least else f"{role.least} to {role.most} hosts"


def _count(hosts: int) -> str:
    return "1 host" if hosts == 1 else f"{hosts or 'no'} hosts"
