"""Recorded runs, and variants of the first.

RUN: 4 servers, bottleneck 3, iterations of 1 s, c = 5,000 ops/s. ROUNDS: workloads A and C, three
rounds each, 4 servers, bottleneck 3, iterations of 0.6 s, c = 2,000 ops/s. UPDATES: FarReach, and
NetCache with two delays of its value updates, 2 servers, bottleneck 1, 100 % writes, iterations of
2 s, c = 1,000 ops/s. RECOVERY: FarReach, 2 servers, bottleneck 1, 100 % writes, iterations of 1 s,
c = 5,000 ops/s, switch and servers killed and recovered after each. LATENCY: 2 servers, bottleneck
1, iterations of 1 s, c = 1,000 ops/s: closed loops, then open ones at 0.5 and 1.3 of the maximum,
on a machine that was busy.

Raw files and journal of `recorded/` are as the nodes left them; the manifests are shortened, and
UPDATES was left the cells of one workload.
Operations of RUN in the windows, both client machines together (bottleneck, rotated partition):
iteration 0: 4998; 1: 4999, 4455 of partition 0; 2: 5000, 3747 of partition 1;
3: 5044, 4361 of partition 2.
"""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

RECORDED = Path(__file__).parent / "recorded"
RUN = "20261120-221649-smoke"
ROUNDS = "20261121-183502-rounds"
UPDATES = "20261122-011430-updates"
RECOVERY = "20261122-050728-recovery"
LATENCY = "20261123-010300-latency"
ALL = (RUN, ROUNDS, UPDATES, RECOVERY, LATENCY)
CELL = "9d633a7a7f89"


def copy_run(parent: Path, name: str = RUN) -> Path:
    return Path(shutil.copytree(RECORDED / name, parent / name))


def edit_json(path: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    document = json.loads(path.read_text())
    edit(document)
    path.write_text(json.dumps(document))


def drop_attempt(run: Path, iteration: int) -> None:
    """As if the iteration had never been measured."""
    kept = [line for line in journal(run) if line["iteration"] != iteration]
    write_journal(run, kept)


def fail_attempt(run: Path, iteration: int, message: str) -> None:
    """As if its only attempt had failed."""
    lines = journal(run)
    lines[iteration] |= {
        "status": "failed", "failure_class": "timeout", "message": message, "overhead_s": None,
        "files": {},
    }  # fmt: skip
    write_journal(run, lines)


def add_round(run: Path, fewer: int) -> None:
    """A second round like the first, except that iteration 2 served `fewer` operations less of its
    rotated partition (1), all of them those of client0.
    """
    shutil.copytree(run / "raw" / CELL / "r0", run / "raw" / CELL / "r1")
    client = run / "raw" / CELL / "r1" / "i2" / "a1" / "client0.json"

    def take(document: dict[str, Any]) -> None:
        stats = document["answers"][0]["result"]
        stats["operations"] -= fewer
        for rows in (stats["partitions"], stats["seconds"][0]["partitions"]):
            (row,) = (row for row in rows if row["partition"] == 1)
            row["server_ops"] -= fewer

    edit_json(client, take)
    lines = journal(run)
    again = [json.loads(json.dumps(line)) | {"round": 1} for line in lines]
    again[2]["files"]["client0.json"] = hashlib.sha256(client.read_bytes()).hexdigest()
    write_journal(run, [*lines, *again])

    def plan(document: dict[str, Any]) -> None:
        document["rounds"] = 2
        document["turns"].append(document["turns"][0] | {"round": 1})

    edit_json(run / "plan.json", plan)


def set_capacity(run: Path, ops_per_s: float) -> None:
    """The plan asked for another capacity than the servers had."""
    edit_json(
        run / "plan.json",
        lambda plan: plan["cells"][CELL].update(capacity_ops_per_s=ops_per_s),
    )


def journal(run: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (run / "journal.ndjson").read_text().splitlines()]


def write_journal(run: Path, lines: list[dict[str, Any]]) -> None:
    (run / "journal.ndjson").write_text("".join(json.dumps(line) + "\n" for line in lines))
