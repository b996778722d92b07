"""Histories of a rack: judged by check-history, and looked at for acknowledged writes."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable_systems.farreach import hosts
from turntable_systems.farreach.placement import FIRST_PORT

from .rack import Rack
from .read_back import read_back

DEADLINE_S = 600  # of a history of ten million operations


@dataclass(frozen=True)
class Checked:
    """A rack's clients, when they have ended and every key that they used was read once more."""

    operations: int
    unanswered: int
    acknowledged_writes: int
    lost: list[str]
    violations: int
    text: str  # the violations, for people

    @property
    def ok(self) -> bool:
        return self.operations > 0 and not self.lost and not self.violations


def check(rack: Rack) -> Checked:
    """Reads all keys of the clients' history back and judges both together."""
    client, file = hosts.clients(rack.testbed)[0], rack.directory / "read_back.ndjson"
    keys = {operation["key"] for operation in operations(rack.history)}
    server = (hosts.servers(rack.testbed)[0].address, FIRST_PORT)
    read_back(rack.network.namespace(client.name), server, sorted(keys), file)
    verdict = judge(rack.build_dir, rack.history, file)
    acknowledged = compare(rack.history, file)
    return Checked(
        verdict.operations,
        verdict.unanswered,
        acknowledged.writes,
        acknowledged.lost,
        len(verdict.violations),
        verdict.text,
    )


@dataclass(frozen=True)
class Verdict:
    operations: int
    unanswered: int
    keys: int
    violations: list[dict[str, Any]]
    text: str  # for people


def judge(build_dir: Path, *paths: Path) -> Verdict:
    """What check-history says of files and directories that are one history."""
    command = [build_dir / "bin" / "check-history", *paths]
    done = subprocess.run(
        [*command, "--json"], capture_output=True, text=True, timeout=DEADLINE_S, check=False
    )
    if done.returncode not in (0, 1):
        raise RuntimeError(f"check-history ended with {done.returncode}: {done.stderr}")
    verdict = json.loads(done.stdout)
    assert (done.returncode == 1) == bool(verdict["violations"])
    text = ""
    if verdict["violations"]:
        text = subprocess.run(command, capture_output=True, text=True, check=False).stdout
    return Verdict(
        verdict["operations"], verdict["unanswered"], verdict["keys"], verdict["violations"], text
    )


def operations(*paths: Path) -> Iterator[dict[str, Any]]:
    """Of files, and of all files of directories."""
    for path in paths:
        for file in sorted(path.glob("*.ndjson")) if path.is_dir() else [path]:
            with file.open() as lines:
                next(lines)  # the head
                yield from map(json.loads, lines)


@dataclass(frozen=True)
class Acknowledged:
    writes: int  # that clients got an answer to
    lost: list[str]  # keys that were read with an older record afterwards, one sentence each


def compare(history: Path, read_back: Path) -> Acknowledged:
    """Whether what was read in the end is at least as new as every acknowledged write.

    Weaker than linearizability, but simple: a key's numbers only grow.
    """
    writes, newest = 0, {}
    for operation in operations(history):
        if operation["op"] != "get" and operation["response_ns"] is not None:
            writes += 1
            key, number = operation["key"], operation["number"]
            newest[key] = max(newest.get(key, 0), number)
    read = {operation["key"]: operation["number"] for operation in operations(read_back)}
    assert newest.keys() <= read.keys(), "not all keys were read"
    lost = [
        f"key {key}: number {number} was acknowledged, {read[key]} is there"
        for key, number in newest.items()
        if read[key] < number
    ]
    return Acknowledged(writes, lost)
