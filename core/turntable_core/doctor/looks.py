"""What the doctor reads on a host, in one shell command, and how it is taken apart."""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from turntable_core.checks import systems_for
from turntable_core.connections import Outcome
from turntable_core.host_probe import Look, ask_nodes, parse, script
from turntable_core.programs import programs_of
from turntable_core.switch import driver_of
from turntable_core.testbed import DataHost, Host, SwitchHost, Testbed

ANSWER_S = 1  # a node that hangs costs this
DEADLINE_S = 20.0  # for one host with everything in it hanging

# Processors are watched for so long.
_INTERVAL_S = 0.4


@dataclass(frozen=True)
class HostView:
    """One host as it was seen. `unreachable` says why nothing was."""

    host: Host
    unreachable: str | None = None
    seen: Mapping[str, str] = field(default_factory=dict)
    clock: tuple[float, float] | None = None  # offset to the controller's and its bound, seconds

    @property
    def name(self) -> str:
        return self.host.name

    def text(self, look: str) -> str:
        return self.seen.get(look, "")

    def answers(self) -> dict[str, list[dict[str, Any]]]:
        """Node -> its answers to `ping` (and `list`); [] of one whose answer cannot be read."""
        found = {}
        for name, text in self.seen.items():
            if name.startswith("answers-"):
                node = name.removeprefix("answers-").removesuffix(".json")
                try:
                    found[node] = json.loads(text)
                except ValueError:
                    found[node] = []
        return found


def view(host: Host, outcome: Outcome, clock: tuple[float, float] | None) -> HostView:
    if outcome.failure:
        return HostView(host, f"{outcome.failure}: {outcome.message}")
    seen = {name: data.decode(errors="replace") for name, data in parse(outcome.stdout).items()}
    if not seen:
        said = outcome.stderr.decode(errors="replace").strip() or "nothing"
        return HostView(host, f"its shell ended with status {outcome.status} and said: {said}")
    return HostView(host, None, seen, clock)


def script_for(host: Host, testbed: Testbed, interfaces: list[str]) -> str:
    """interfaces: network devices the host must have."""
    programs = " ".join(
        shlex.quote(path) for path in programs_of(host, testbed, systems_for(testbed))
    )
    links = "; ".join(f"ip -oneline link show dev {shlex.quote(name)}" for name in interfaces)
    looks = [
        Look("cpu-before", "head -n 1 /proc/stat"),
        Look("programs", f"sha256sum {programs}"),
        Look("kernel", "uname -r"),
        Look("processors", "nproc"),
        Look("load", "cat /proc/loadavg"),
        Look("memory", "cat /proc/meminfo"),
        Look("open-files", "ulimit -n"),
        Look("user", "id -u"),
        Look("packet-sockets", "test -e /proc/net/packet && echo yes"),
        Look("disk-run", _disk(host.run_dir)),
        Look("disk-state", _disk(host.state_dir)),
        Look("links", links or "true"),
        Look("sockets", "ss --no-header --numeric --udp --listening --processes"),
        Look("processes", _processes(testbed.id, host.name)),
        # waits: how busy processors are shows over an interval
        Look("interval", f"sleep {_INTERVAL_S}"),
        Look("cpu-after", "head -n 1 /proc/stat"),
    ]
    if isinstance(host, SwitchHost) and (patterns := driver_of(host).p4_files):
        files = " ".join(patterns)
        looks.append(Look("p4", f"cd {shlex.quote(host.p4_dir)} && sha256sum -- {files}"))
    return script(looks, before=ask_nodes(host.run_dir, host.bin_dir, ANSWER_S))


def interfaces_of(host: Host, testbed: Testbed, variables: Mapping[str, Any]) -> list[str]:
    """Devices of the host that the inventory names."""
    if isinstance(host, DataHost):
        return [str(variables["turntable_data_interface"])]
    if isinstance(host, SwitchHost):
        ports = [peer.switch_interface for peer in testbed.data_hosts]
        return [*(ports if driver_of(host).opens_interfaces else ()), host.cpu_interface]
    return []


def _disk(directory: str) -> str:
    """Of the directory, or of where it would be made."""
    return (
        f"d={shlex.quote(directory)}; "
        'while [ ! -e "$d" ]; do d=$(dirname "$d"); done; df -Pk "$d" | tail -n 1'
    )


def _processes(testbed: str, host: str) -> str:
    """`pid state node command line` of everything that supervisors of this host have started."""
    mark = shlex.quote(f"TURNTABLE_TESTBED={testbed}")
    place = shlex.quote(f"TURNTABLE_HOST={host}")
    return (
        f"for e in $(grep -lszx {mark} /proc/[0-9]*/environ); do p=${{e%/environ}}; "
        f"grep -qszx {place} $e || continue; "
        'printf "%s %s %s %s\\n" "${p#/proc/}" "$(sed "s/.*) //; s/ .*//" $p/stat)" '
        "\"$(tr '\\0' '\\n' <$e | sed -n s/^TURNTABLE_NODE=//p)\" "
        "\"$(tr '\\0' ' ' <$p/cmdline | cut -c 1-120)\"; done 2>/dev/null"
    )
