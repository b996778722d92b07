"""What the hosts can still tell about a failure, in one file that fits into a mail.

`logs.tar.gz` of a run holds a directory per failure: the ends of all logs, what supervisors and
nodes answer, the state of each machine, the kernel's last messages and the end of the journal. Its
size is bounded: of more failures than KEPT the first and the latest are kept.
"""

from __future__ import annotations

import io
import json
import shlex
import tarfile
import time
from collections.abc import Mapping
from pathlib import Path

from turntable_core import files
from turntable_core.connections import Outcome
from turntable_core.host_probe import TEXT_BYTES, Look, ask_nodes, parse, script
from turntable_core.run_directory import RunDirectory
from turntable_core.testbed import Host

DEADLINE_S = 10.0  # for all hosts at once; a host that is slower is described by that

KEPT = 8
_JOURNAL_BYTES = 16 * 1024

# A node that hangs costs this once; a host has no more than three.
_ANSWER_S = 1

Files = dict[str, bytes]

MACHINE = (
    Look("date.txt", "date --iso-8601=ns; uptime"),
    Look("kernel.txt", "uname -a; cat /proc/meminfo; cat /proc/pressure/* 2>/dev/null"),
    Look("sockets.txt", "ss --all --numeric --processes --udp --unix"),
    Look("links.txt", "ip -statistics address"),
    Look("dmesg.txt", "dmesg --time-format iso 2>/dev/null || dmesg", 16 * 1024),
)


def script_for(host: Host) -> str:
    """The host's logs first: they are what must not be missed."""
    directory = shlex.quote(host.run_dir)
    logs = (
        f"for log in {directory}/*.log; do "
        f'[ -f "$log" ] && show "${{log##*/}}" {TEXT_BYTES} <"$log"; done'
    )
    answers = ask_nodes(host.run_dir, host.bin_dir, _ANSWER_S)
    places = f"{directory} {shlex.quote(host.state_dir)}"
    disks = Look("disks.txt", f"df --human-readable {places}; df --inodes {places}")
    processes = Look(
        "processes.txt",
        # Without the shells that run this very script.
        f"ps -eo pid,ppid,stat,ni,pcpu,rss,lstart,args | grep -F {directory} | grep -vF 'show()'",
    )
    return script([*MACHINE, disks, processes], before=f"{logs}\n{answers}")


def from_host(outcome: Outcome) -> Files:
    """What a host told; one that could not be asked is described by why."""
    if outcome.failure:
        return {"NOT-REACHED.txt": f"{outcome.failure}: {outcome.message}\n".encode()}
    seen = parse(outcome.stdout)
    if outcome.status != 0 or not seen:
        seen["PROBLEM.txt"] = b"status %r\n" % outcome.status + outcome.stderr
    return seen


def write(run: RunDirectory, failure_name: str, message: str, hosts: Mapping[str, Outcome]) -> Path:
    """Adds a failure to the run's bundle. Raises OSError when that cannot be written."""
    members = {
        f"{failure_name}/failure.txt": f"{time.strftime('%F %T %z')}\n{message}\n".encode(),
        f"{failure_name}/journal.ndjson": _tail(run.journal_file, _JOURNAL_BYTES),
    }
    for host, outcome in hosts.items():
        for name, content in from_host(outcome).items():
            members[f"{failure_name}/{host}/{name}"] = content
    earlier = _read(run.logs_file)
    facts = {
        path.name: path.read_bytes()
        for path in (run.manifest_file, run.testbed_file)
        if path.exists()
    }
    files.replace(run.logs_file, _packed(run.path.name, facts | _bounded(earlier) | members))
    return run.logs_file


def _bounded(earlier: Files) -> Files:
    """Without those failures that make room for one more."""
    names = list(dict.fromkeys(name.split("/")[0] for name in earlier))
    dropped = set(names[1 : max(1, len(names) - (KEPT - 2))])
    return {name: data for name, data in earlier.items() if name.split("/")[0] not in dropped}


def _read(path: Path) -> Files:
    """The failures of an existing bundle; none of one that is damaged."""
    try:
        with tarfile.open(path) as bundle:
            return {
                member.name.split("/", 1)[1]: bundle.extractfile(member).read()
                for member in bundle
                if member.isfile() and member.name.count("/") > 1
            }
    except (OSError, EOFError, tarfile.TarError):
        return {}


def _packed(directory: str, members: Files) -> bytes:
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as bundle:
        for name, data in members.items():
            member = tarfile.TarInfo(f"{directory}/{name}")
            member.size, member.mtime = len(data), int(time.time())
            bundle.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


def _tail(path: Path, limit_bytes: int) -> bytes:
    """Whole lines at the end of a file."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return json.dumps({"unreadable": str(error)}).encode() + b"\n"
    return data if len(data) <= limit_bytes else data[-limit_bytes:].partition(b"\n")[2]
