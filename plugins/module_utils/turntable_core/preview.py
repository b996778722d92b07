"""What `--check` says of a run: its plan, and what it will take."""

from __future__ import annotations

from pathlib import Path

from turntable_core import estimate, labels
from turntable_core.estimate import Estimate, Work
from turntable_core.plan import Plan
from turntable_core.testbed import Testbed
from turntable_core.text_table import columns, duration, size

_HEAD = (
    "cell",
    "workload",
    "method",
    "servers",
    "round",
    "bottleneck",
    "iterations",
    "norm.",
    "imb.",
    "with",
)


def render(
    plan: Plan, work: Work, name: str, expected: Estimate, testbed: Testbed, results: Path
) -> str:
    """work: the part of the plan that would be measured; name: of the run."""
    lines = [
        f"{plan.experiment}, profile {plan.profile}: {plan.title}",
        f"run {name}: {len(plan.cells)} cell(s) x {plan.rounds} round(s), "
        f"{len(work)} of {plan.iteration_count} iterations to measure",
        "",
        *_turns(plan, work),
        "",
        *_times(expected),
        *_disk(expected, testbed, results),
        *_memory(expected),
        "",
        "Checked only: nothing was changed, the testbed was not asked.",
    ]
    return "\n".join(lines)


def _turns(plan: Plan, work: Work) -> list[str]:
    rows: list[tuple[object, ...]] = [_HEAD]
    for turn in plan.turns:
        parameters, prediction = turn.cell.parameters, turn.prediction
        open_iterations = sum(chosen is turn for chosen, _ in work)
        rows.append(
            (
                turn.cell.id,
                parameters["workload"],
                parameters["method"],
                parameters["servers"],
                turn.round,
                prediction.bottleneck,
                f"{open_iterations} of {len(turn.iterations)}",
                _number(prediction.trace.normalized, 2),
                _number(prediction.trace.imbalance, 3),
                ", ".join(labels.peculiarities(plan, parameters)),
            )
        )
    if not any(row[-1] for row in rows[1:]):
        rows = [row[:-1] for row in rows]
    table = columns(rows, right=range(3, len(_HEAD) - 1))
    return [*table, "(norm., imb.: normalized throughput and imbalance of the traces)"]


def _number(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _times(expected: Estimate) -> list[str]:
    overhead, iterations = expected.overhead, expected.iterations
    known = f"as in {overhead.runs} earlier run(s)" if overhead.runs else "assumed: no earlier run"
    parts = [
        (expected.window_s, "warm-up and measuring"),
        (iterations * overhead.seconds, f"{overhead.seconds:.2f} s per iteration, {known}"),
        (
            expected.load_s,
            f"building stores: {expected.turns_to_load} of {expected.turns} turn(s) lack some, "
            f"{expected.keys_to_load:,} keys",
        ),
        (expected.setup_s, "starting nodes, configuring, ending"),
    ]
    lines = [f"{duration(seconds):>13}  {what}" for seconds, what in parts if seconds]
    return [f"time    about {duration(expected.total_s)}", *lines]


def _disk(expected: Estimate, testbed: Testbed, results: Path) -> list[str]:
    lines = []
    if testbed.fidelity_class == "emulated":  # its hosts share this machine's file systems
        stores = Path(testbed.servers[0].state_dir).parent
        free = size(estimate.free_bytes(stores))
        lines.append(
            f"disk    {size(expected.store_bytes)} of new stores in {stores}, {free} free there"
        )
    else:
        lines.append(f"disk    {size(expected.store_bytes)} of stores on the server hosts, at most")
    free = size(estimate.free_bytes(results))
    lines.append(f"        {size(expected.raw_bytes)} of raw files in {results}, {free} free there")
    return lines


def _memory(expected: Estimate) -> list[str]:
    free = size(estimate.free_memory_bytes())
    needed = size(expected.client_memory_bytes)
    return [f"memory  {needed} for the traces of all clients, {free} free on this machine"]
