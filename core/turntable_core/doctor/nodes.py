"""Who has the testbed, what runs on it, and what has been left behind."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable_core.checks import systems_for
from turntable_core.doctor.finding import NOTE, OK, PROBLEM, Finding
from turntable_core.doctor.looks import HostView
from turntable_core.ownership.run_claim import may_live
from turntable_core.testbed import Testbed


@dataclass(frozen=True)
class Supervisor:
    """What a host's supervisor says about itself."""

    pid: int
    lease_s: float
    nodes: Sequence[Mapping[str, Any]]
    owner: Mapping[str, Any] | None


def findings(testbed: Testbed, views: Sequence[HostView]) -> Iterator[Finding]:
    reached = [view for view in views if view.unreachable is None]
    if not reached:
        return
    supervisors = {view.name: found for view in reached if (found := supervisor_of(view))}
    yield from _lock(testbed, supervisors)
    yield from _nodes(reached, supervisors)
    yield from _leftovers(reached, supervisors)
    yield from _ports(testbed, reached, supervisors)


def supervisor_of(view: HostView) -> Supervisor | None:
    """None: no supervisor answers on this host."""
    answers = view.answers().get("supervisor", [])
    if len(answers) < 2 or not all(answer.get("ok") for answer in answers):
        return None
    ping, listed = (answer["result"] for answer in answers)
    lease_s = (
        ping["lease_left_ms"] / 1000 if "lease_left_ms" in ping else listed["lease_remaining_s"]
    )
    return Supervisor(ping["pid"], lease_s, listed["nodes"], ping.get("owner"))


def _lock(testbed: Testbed, supervisors: Mapping[str, Supervisor]) -> Iterator[Finding]:
    if not supervisors:
        yield Finding(OK, "lock", "free: no run has the testbed")
        return
    first = supervisors.get(testbed.hosts[0].name) or next(iter(supervisors.values()))
    if first.owner and not may_live(first.owner):
        yield Finding(
            NOTE,
            "lock",
            f"held by {describe_owner(first.owner)}, whose playbook has ended; free in "
            f"{first.lease_s:.0f} s",
            "a run that is started now waits for that",
        )
        return
    yield Finding(
        PROBLEM,
        "lock",
        f"held by {describe_owner(first.owner)}; {first.lease_s:.0f} s of its lease left",
        "a live run renews its lease: wait for it to end. One that is gone does not: the testbed "
        f"is free in {first.lease_s:.0f} s",
    )


def describe_owner(owner: Mapping[str, Any] | None) -> str:
    """`run R of user@controller (pid 7), for 0:03:12`, as far as it is known."""
    if not owner:
        return "a run that does not say who it is"
    seconds = max(0, round(time.time() - owner.get("since_ns", time.time_ns()) / 1e9))
    age = f"{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return (
        f"run {owner.get('run', '?')} of {owner.get('user', '?')}@{owner.get('controller', '?')} "
        f"(pid {owner.get('pid', '?')}), for {age}"
    )


def _nodes(views: Sequence[HostView], supervisors: Mapping[str, Supervisor]) -> Iterator[Finding]:
    rows, problems = [], False
    for view in views:
        supervisor = supervisors.get(view.name)
        for node in supervisor.nodes if supervisor else ():
            state = _state(view, node)
            rows.append(f"{view.name} {node['name']} {state}")
            if state in ("hangs", "stopped by a signal"):
                problems = True
                yield Finding(
                    PROBLEM,
                    "nodes",
                    f"{view.name}: {node['name']} (pid {node['pid']}) {state}",
                    f"look at {view.host.run_dir}/{node['name']}.log; playbooks/stop.yml ends it",
                )
    if not problems:
        yield Finding(OK, "nodes", "; ".join(rows) if rows else "none runs")


def _state(view: HostView, node: Mapping[str, Any]) -> str:
    if node["state"] != "running":
        how = "exit_signal" if "exit_signal" in node else "exit_status"
        return f"has ended ({how.replace('_', ' ')} {node.get(how)})"
    if _processes(view).get(node["pid"], ("", ""))[0] == "T":
        return "stopped by a signal"
    answers = view.answers().get(node["name"], [])
    if answers and answers[0].get("ok"):
        return answers[0]["result"].get("state", "running")
    return "hangs"


def _leftovers(
    views: Sequence[HostView], supervisors: Mapping[str, Supervisor]
) -> Iterator[Finding]:
    left = []
    for view in views:
        if view.name in supervisors:
            supervisor = supervisors[view.name]
            if supervisor.owner and may_live(supervisor.owner):
                continue  # what its run's nodes have begun is the run's, too
            known = {supervisor.pid, *(node["pid"] for node in supervisor.nodes)}
        else:
            known = set()
            left += [f"{view.name}: {node}.sock, without a listener" for node in view.answers()]
        left += [
            f"{view.name}: process {pid} ({command})"
            for pid, (_, command) in _processes(view).items()
            if pid not in known
        ]
    if left:
        yield Finding(
            NOTE,
            "leftovers",
            "; ".join(left),
            "the next run ends and removes them; playbooks/stop.yml does it now",
        )
    else:
        yield Finding(OK, "leftovers", "none")


def _processes(view: HostView) -> dict[int, tuple[str, str]]:
    """pid -> (state letter, command line) of what this host's supervisors have started."""
    rows = (line.split(" ", 3) for line in view.text("processes").splitlines())
    return {
        int(row[0]): (row[1], row[3].strip()) for row in rows if len(row) == 4 and row[0].isdigit()
    }


def _ports(
    testbed: Testbed, views: Sequence[HostView], supervisors: Mapping[str, Supervisor]
) -> Iterator[Finding]:
    needed = _ports_by_host(testbed)
    for view in views:
        if view.name in supervisors:
            continue
        for line in view.text("sockets").splitlines():
            found = re.match(r"\S+\s+\S+\s+\S+\s+(\S+):(\d+)\s+\S+\s*(.*)", line)
            if found and int(found.group(2)) in needed.get(view.name, ()):
                yield Finding(
                    PROBLEM,
                    "ports",
                    f"{view.name}: UDP {found.group(1)}:{found.group(2)} is taken by "
                    f"{found.group(3).strip() or 'an unknown process'}",
                    "nodes of a run need it: end that process",
                )


def _ports_by_host(testbed: Testbed) -> dict[str, set[int]]:
    """Of the programs of every system that the testbed has the hosts for."""
    ports: dict[str, set[int]] = {}
    for role in (role for system in systems_for(testbed) for role in system.roles):
        for host in testbed.hosts_of(role.group):
            ports.setdefault(host.name, set()).update(role.udp_ports)
    return ports
