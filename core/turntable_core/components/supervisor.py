"""The owner of a host's nodes (docs/architecture.md §2).

Started through the connection, then asked like any node.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from dataclasses import replace

from turntable_core.context import Context
from turntable_core.ownership.owner import Owner
from turntable_core.requests import Batches, Request
from turntable_core.testbed import Host, Testbed

NODE = "supervisor"


def command_lines(testbed: Testbed, owner: Owner, hosts: Iterable[Host]) -> dict[str, str]:
    """Host -> the shell command that starts its supervisor in the background.

    Status 3: another owner has the host. The same owner's supervisor has its lease renewed.
    """
    return {
        host.name: f"mkdir -p -m 0700 {shlex.quote(host.run_dir)} && "
        + shlex.join(
            host.prioritized(
                [
                    f"{host.bin_dir}/supervisor",
                    "--directory",
                    host.run_dir,
                    "--testbed",
                    testbed.id,
                    "--host",
                    host.name,
                    "--lease",
                    f"{testbed.lease_s:g}",
                    "--owner",
                    owner.text(),
                    "--daemonize",
                ]
            )
        )
        for host in hosts
    }


def holder_lines(testbed: Testbed) -> dict[str, str]:
    """Host -> the shell command that tells who has it (src/node/host_lock.h)."""
    return {
        host.name: shlex.join(
            [f"{host.bin_dir}/supervisor", "--directory", host.run_dir, "--holder"]
        )
        for host in testbed.hosts
    }


def spawn(
    context: Context, host: Host, program: str, *options: str, name: str | None = None
) -> Request:
    """Starts a node at its supervisor's priority. It is named like its program, unless a host has
    several of the program.

    Answered once the node itself answers `ping`.
    """
    name = name or program
    argv = [f"{host.bin_dir}/{program}", "--directory", host.run_dir, "--name", name]
    args = {
        "name": name,
        "argv": [*argv, *options],
        "deadline_s": context.plan.deadlines["start_nodes"],
    }
    return Request(NODE, "spawn", args)


def spawn_with_secret(context: Context, host: Host, program: str, *options: str) -> Request:
    """The same for a node that has control links: it reads the run's secret from its input."""
    request = spawn(context, host, program, *options, "--secret", "/dev/stdin")
    return replace(request, args=request.args | {"input": context.secret})


def begin(context: Context) -> Batches:
    """What the hosts' kernels have counted when a measurement begins."""
    return {host.name: [Request(NODE, "host_stats")] for host in context.testbed.hosts}


# ... and when it has ended: the difference is the measurement's.
collect = begin


def end(name: str) -> Request:
    """Ends one node of a host."""
    return Request(NODE, "stop", {"name": name})


def kill(name: str) -> Request:
    """Ends one node of a host as a crash does."""
    return Request(NODE, "stop", {"name": name, "kill": True})


def clear(context: Context) -> Batches:
    """Ends every node of every host; the supervisors stay, and with them the lock."""
    return {host.name: [Request(NODE, "stop_all")] for host in context.testbed.hosts}


def release(testbed: Testbed) -> Batches:
    """Ends every node of every host, and the supervisors."""
    return {host.name: [Request(NODE, "shutdown")] for host in testbed.hosts}
