"""Explains the state of a testbed in plain words, and changes nothing.

Documented in plugins/modules/diagnose_testbed.py.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any, ClassVar

from ansible.plugins.loader import filter_loader
from ansible.utils.color import stringc

from turntable.find_run import find_run
from turntable_core.connections import Command, HostConnections
from turntable_core.doctor import looks, machines, network, nodes, page, programs, runs
from turntable_core.doctor.finding import OK, PROBLEM, Finding
from turntable_core.errors import TurntableError
from turntable_core.run_action import RunAction, failure
from turntable_core.testbed import Host, Testbed, read_testbed
from turntable_inventory.problem import render as render_problems
from turntable_inventory.read import problems_of, read_inventory

_CLOCK_PROBES = 3


class ActionModule(RunAction):
    ARGUMENTS: ClassVar = {
        "build": {"type": "path", "required": True},
        "results": {"type": "path", "required": True},
    }

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        findings = self._findings(arguments, task_vars)
        result = {
            "changed": False,
            "report": page.render(_title(task_vars), findings, self._display.columns, stringc),
        }
        conclusion = page.conclusion(findings, self._display.columns)
        if any(finding.level == PROBLEM for finding in findings):
            return result | failure(conclusion)
        return result | {"report": f"{result['report']}\n{conclusion}"}

    def _findings(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> list[Finding]:
        checked = read_inventory(task_vars)
        problems = list(problems_of(checked))
        if problems:
            lines = render_problems(problems, list(checked.hosts)).splitlines()
            return [Finding(PROBLEM, "inventory", line) for line in lines]
        testbed = read_testbed(task_vars["hostvars"], task_vars["groups"])
        found = [Finding(OK, "inventory", _describe(testbed))]
        if all(host.embedded for host in checked.hosts.values()):
            found += network.findings(_topology(testbed, task_vars))
        views = self._look(testbed, task_vars)
        network_is_up = all(finding.level == OK for finding in found)
        found += machines.findings(views, network_is_up)
        build = Path(arguments["build"])
        found += programs.findings(testbed, views, programs.built(build), build)
        found += nodes.findings(testbed, views)
        results = Path(arguments["results"])
        return [*found, *runs.findings(results, _newest(results))]

    def _look(self, testbed: Testbed, task_vars: dict[str, Any]) -> list[looks.HostView]:
        connections = self.connections(task_vars)
        commands = []
        for host in testbed.hosts:
            variables = task_vars["hostvars"][host.name]
            interfaces = looks.interfaces_of(host, testbed, variables)
            commands.append(Command(host.name, looks.script_for(host, testbed, interfaces)))
        outcomes = connections.run(commands, looks.DEADLINE_S)
        return [
            looks.view(
                host,
                outcomes[host.name],
                None if outcomes[host.name].failure else _clock(connections, host),
            )
            for host in testbed.hosts
        ]


def _topology(testbed: Testbed, task_vars: dict[str, Any]) -> dict[str, Any]:
    """As the role embedded_testbed makes it of the inventory."""
    make = filter_loader.get("embedded_topology").j2_function
    groups = task_vars["groups"]
    switch = testbed.switch.name if testbed.switch else None
    endpoints = [host.name for host in testbed.data_hosts]
    return make(task_vars["hostvars"], groups["controller"][0], switch, endpoints)


def _clock(connections: HostConnections, host: Host) -> tuple[float, float] | None:
    """Offset of the host's clock to this one's and how well it is known, seconds.

    The connection is open by now: the answer comes back within milliseconds. The quickest of a few
    is the best.
    """
    known = []
    for _ in range(_CLOCK_PROBES):
        before = time.time_ns()
        outcome = connections.run([Command(host.name, "date +%s%N")], 5.0)[host.name]
        after = time.time_ns()
        if outcome.status == 0 and outcome.stdout.strip().isdigit():
            offset_ns = int(outcome.stdout) - (before + after) / 2
            known.append(((after - before) / 2e9, offset_ns / 1e9))
    if not known:
        return None
    bound_s, offset_s = min(known)
    return offset_s, bound_s


def _newest(results: Path) -> Path | None:
    try:
        return find_run(results)
    except TurntableError:
        return None


def _title(task_vars: dict[str, Any]) -> str:
    sources = ", ".join(str(path) for path in task_vars.get("ansible_inventory_sources") or [])
    groups = task_vars["groups"]
    host = next(iter([*groups.get("switches", []), *groups.get("endpoints", [])]), None)
    name = task_vars["hostvars"][host].get("turntable_testbed_id", "?") if host else "?"
    return f"Testbed {name}, inventory {sources}"


def _describe(testbed: Testbed) -> str:
    switch = f"1 switch ({testbed.switch.target})" if testbed.switch else "no switch"
    if testbed.vendors_switch:
        switch = "1 switch (vendor)"
    hosts = ", ".join(f"{len(hosts)} {role}" for role, hosts in testbed.roles.items())
    return f"holds together: {switch}, {hosts}; {testbed.fidelity_class}"
