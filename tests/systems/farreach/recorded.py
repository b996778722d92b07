"""Writes a run directory as a play would have left it, from made-up statistics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from turntable_core import files, journal
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.run_directory import RunDirectory
from turntable_systems.farreach.placement import slots_of
from turntable_systems.farreach.rotation import partitions_of
from turntable_systems.farreach.switch_tables import ANSWERS, REQUESTS

from .statistics import SERVER_ZEROS, client_stats

Ops = Mapping[int, int]


def write_run(directory: Path, plan: Plan) -> RunDirectory:
    run = RunDirectory(directory)
    run.create(plan, {"fidelity_class": "emulated"})
    return run


def record(run: RunDirectory, turn: Turn, iteration: Iteration, clients: Sequence[Ops]) -> None:
    """One successful attempt.

    clients: for each client machine, operations by partition in one second.
    """
    servers = turn.cell.parameters["servers"]
    total = {p: sum(ops[p] for ops in clients) for p in partitions_of(iteration)}
    hosts = {
        f"client{i}": [answer("kvclient", "stats", client_stats(ops, 1.0))]
        for i, ops in enumerate(clients)
    }
    rows = [
        {"partition": p, "served_in_window": n, "served_total": n, "busy_in_window_ns": n * 10**7}
        | SERVER_ZEROS
        for p, n in total.items()
    ]
    hosts["server0"] = [answer("kvserver", "stats", {"logical_servers": rows, "window_ns": 10**9})]
    hosts["switch0"] = [counters(table, servers, total) for table in (REQUESTS, ANSWERS)]
    number = run.next_attempt(turn.cell.id, turn.round, iteration.index)
    attempt_dir = run.path / journal.attempt_directory(
        turn.cell.id, turn.round, iteration.index, number
    )
    written = {}
    for host, answers in hosts.items():
        content = files.to_json({"format": 1, "host": host, "answers": answers})
        written[f"{host}.json"] = files.write_once(attempt_dir / f"{host}.json", content)
    journal.append(
        run.journal_file, attempt(turn, iteration, number, files=written, overhead_s=0.25)
    )


def record_failure(run: RunDirectory, turn: Turn, iteration: Iteration) -> None:
    number = run.next_attempt(turn.cell.id, turn.round, iteration.index)
    failed = {"status": journal.FAILED, "failure_class": "timeout", "message": "made up"}
    journal.append(run.journal_file, attempt(turn, iteration, number, **failed))


def attempt(turn: Turn, iteration: Iteration, number: int, **fields: object) -> journal.Attempt:
    times = {"status": journal.OK, "began_at_ns": 0, "ended_at_ns": 1}
    return journal.Attempt(turn.cell.id, turn.round, iteration.index, number, **(times | fields))


def answer(node: str, command: str, result: dict) -> dict:
    return {"node": node, "command": command, "result": result}


def counters(table: str, servers: int, packets: Ops) -> dict:
    entries = []
    for partition in range(servers):
        low, high = slots_of(partition, servers)
        entries.append(
            {
                "key": {"slot": {"low": low, "high": high}},
                "$COUNTER_SPEC_PKTS": packets.get(partition, 0),
            }
        )
    return answer("softswitch", "counter_read", {"table": table, "counters": entries})
