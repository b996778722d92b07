"""The newest run: complete, or how it is continued."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from turntable_core import journal, selection
from turntable_core.catalogue import resume_command
from turntable_core.doctor.finding import NOTE, OK, PROBLEM, Finding
from turntable_core.errors import TurntableError
from turntable_core.ownership import run_claim
from turntable_core.run_directory import RunDirectory

_LEAST_BYTES = 200 << 20


def findings(results: Path, newest: Path | None) -> Iterator[Finding]:
    yield _room(results)
    if newest is None:
        yield Finding(OK, "newest run", f"there is none in {results} yet")
        return
    try:
        yield _state(RunDirectory(newest))
    except (TurntableError, OSError, ValueError, KeyError) as error:
        yield Finding(NOTE, "newest run", f"{newest} cannot be read: {error}", "start a new run")


def _room(results: Path) -> Finding:
    place = next(path for path in (results, *results.parents) if path.exists())
    if not os.access(place, os.W_OK):
        return Finding(PROBLEM, "results", f"{place} cannot be written", "run as its owner or root")
    free = shutil.disk_usage(place).free
    if free < _LEAST_BYTES:
        text = f"{free >> 20} MiB left in {place}"
        return Finding(PROBLEM, "results", text, "free some space, or remove old runs")
    return Finding(OK, "results", f"{free / 2**30:.1f} GiB free in {place}")


def _state(run: RunDirectory) -> Finding:
    plan, attempts = run.plan(), run.attempts()
    failed = sum(attempt.status == journal.FAILED for attempt in attempts)
    refused = journal.refused(attempts)
    name, skipped = f"{run.path.parent.name}/{run.path.name}", run.skipped()
    total = sum(
        len(turn.iterations) for turn in plan.turns if (turn.cell.id, turn.round) not in skipped
    )
    done = total - len(selection.work(plan, attempts, None, skipped))
    text = f"{name}: {done - len(refused)} of {total} iterations measured"
    if refused:
        reason = next(iter(refused.values())).message
        text += f", {len(refused)} not available ({reason})"
    if failed:
        logs = f", logs in {run.logs_file}" if run.logs_file.exists() else ""
        text += f", {failed} attempts failed{logs}"
    if (owner := run_claim.worker_of(run.path)) is not None:
        return Finding(OK, "newest run", f"{text}; it runs: playbook {owner.get('pid')}")
    if done == total:
        return Finding(OK, "newest run", text)
    manifest = json.loads(run.manifest_file.read_bytes())
    return Finding(
        NOTE, "newest run", text, "continue it with", resume_command(manifest, run.path.name)
    )
