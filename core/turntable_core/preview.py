"""What `--check` says of a run: its plan, and what it will take."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from turntable_core import estimate, labels
from turntable_core.estimate import Estimate, Work
from turntable_core.plan import Plan
from turntable_core.text_table import columns, duration, size


def render(
    plan: Plan,
    work: Work,
    name: str,
    expected: Estimate,
    results: Path,
    shared: Sequence[str] = (),
) -> str:
    """work: the part of the plan that would be measured; name: of the run; shared: what becomes of
    cells that other experiments have measured, a line each.
    """
    lines = [
        f"{plan.experiment}, profile {plan.profile}: {plan.title}",
        f"run {name}: {len(plan.cells)} cell(s) x {plan.rounds} round(s), "
        f"{len(work)} of {plan.iteration_count} iterations to measure",
        "",
        *_turns(plan, work),
        *shared,
        "",
        *_times(expected),
        *_disk(expected, results),
        *_memory(expected),
        "",
        "Checked only: nothing was changed, the testbed was not asked.",
    ]
    return "\n".join(lines)


def _turns(plan: Plan, work: Work) -> list[str]:
    rows: list[dict[str, str]] = []
    for turn in plan.turns:
        parameters = turn.cell.parameters
        open_iterations = sum(chosen is turn for chosen, _ in work)
        identity = zip(plan.system.identity, labels.identity(plan, parameters), strict=True)
        rows.append(
            {
                "cell": turn.cell.id,
                **dict(identity),
                "round": str(turn.round),
                "iterations": f"{open_iterations} of {len(turn.iterations)}",
                **plan.system.preview(turn),
                "with": ", ".join(labels.peculiarities(plan, parameters)),
            }
        )
    heads = [head for head in rows[0] if head != "with" or any(row["with"] for row in rows)]
    numbers = range(heads.index("round"), len(heads) - ("with" in heads))
    table = columns([heads, *([row[head] for head in heads] for row in rows)], right=numbers)
    note = plan.system.preview_note
    return [*table, *([f"({note})"] if note else [])]


def _times(expected: Estimate) -> list[str]:
    overhead, iterations = expected.overhead, expected.iterations
    known = f"as in {overhead.runs} earlier run(s)" if overhead.runs else "assumed: no earlier run"
    parts = [
        (expected.window_s, "warm-up and measuring"),
        (iterations * overhead.seconds, f"{overhead.seconds:.2f} s per iteration, {known}"),
        (expected.preparation.seconds, expected.preparation.what),
        (expected.setup_s, "starting nodes, configuring, ending"),
    ]
    lines = [f"{duration(seconds):>13}  {what}" for seconds, what in parts if seconds]
    return [f"time    about {duration(expected.total_s)}", *lines]


def _disk(expected: Estimate, results: Path) -> list[str]:
    needs = expected.preparation
    lines = []
    if needs.disk_of:
        where = ""
        if needs.disk_on:
            where = f" in {needs.disk_on}, {size(estimate.free_bytes(needs.disk_on))} free there"
        lines.append(f"{size(needs.disk_bytes)} of {needs.disk_of}{where}")
    free = size(estimate.free_bytes(results))
    lines.append(f"{size(expected.raw_bytes)} of raw files in {results}, {free} free there")
    lines += [
        f"{size(disk.wanted_bytes)} together, on one disk, {size(disk.free_bytes)} free there"
        for disk in estimate.disks(expected, results)
        if len(disk.directories) > 1
    ]
    return [f"{'' if index else 'disk':8}{line}" for index, line in enumerate(lines)]


def _memory(expected: Estimate) -> list[str]:
    needs = expected.preparation
    if not needs.memory_of:
        return []
    free = size(estimate.free_memory_bytes())
    return [
        f"memory  {size(needs.memory_bytes)} for {needs.memory_of}, {free} free on this machine"
    ]
