"""Statistics that another program wrote -> runs in the results, as if measured here.

What the files mean, a system knows (Analysis.imports). A run is made whole, or not at all.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turntable_core import caller, files, journal
from turntable_core.errors import TurntableError
from turntable_core.manifest import MANIFEST_FORMAT, git_state
from turntable_core.plan import Plan, Turn
from turntable_core.run_directory import RunDirectory, new_run_name

_REPOSITORY = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class ImportedIteration:
    index: int  # in its turn
    answers: Mapping[str, Sequence[Mapping[str, Any]]]  # by host, as raw files have them
    missing: str | None  # what the iteration lacks, so that it does not count
    written_at_ns: int  # its files, CLOCK_REALTIME: nothing else says when it was measured


@dataclass(frozen=True)
class ImportedTurn:
    turn: Turn
    iterations: tuple[ImportedIteration, ...]  # those of which there is anything
    files: tuple[Path, ...] = ()  # that it was read from


@dataclass(frozen=True)
class Imported:
    """One run."""

    plan: Plan
    turns: tuple[ImportedTurn, ...]
    fidelity_class: str
    note: str | None = None  # a sentence of the user


def import_directory(
    results: Path, directory: Path, name: str | None = None, *, dry_run: bool = False
) -> list[Path]:
    """Directories of the runs that were made, results/<experiment>/<name> each. dry_run: that would
    be made.

    Raises TurntableError, after which nothing is there that was not before.
    """
    runs = _read(directory)
    name = name or new_run_name(runs[0].plan.profile)
    targets = [results / run.plan.experiment / name for run in runs]
    for target in targets:
        if target.exists():
            raise TurntableError(f"{target}: is there already; choose another name with -e run=ID")
    if not dry_run:
        _make(results, directory, runs, targets)
    return targets


def _make(
    results: Path, directory: Path, runs: Sequence[Imported], targets: Sequence[Path]
) -> None:
    caller.make_directory(results)
    whole = Path(tempfile.mkdtemp(prefix=".import-", dir=results))
    try:
        for index, run in enumerate(runs):
            _write(whole / str(index), run, directory)
        for index, target in enumerate(targets):
            caller.make_directory(target.parent)
            (whole / str(index)).rename(target)
    finally:
        shutil.rmtree(whole)


def _read(directory: Path) -> Sequence[Imported]:
    from turntable.system import analysis_of_system  # noqa: PLC0415  (it needs this module)
    from turntable_core import systems  # noqa: PLC0415

    if not directory.is_dir():
        raise TurntableError(f"{directory}: no such directory; expected one with statistics files")
    analyses = [analysis_of_system(system) for system in systems.every()]
    for analysis in analyses:
        if runs := analysis.imports(directory):
            return runs
    known = "; ".join(analysis.importable for analysis in analyses if analysis.importable)
    raise TurntableError(f"{directory}: no file in or below it can be imported; expected {known}")


def _write(path: Path, run: Imported, source: Path) -> None:
    directory = RunDirectory(path)
    directory.create(run.plan, _manifest(run, source))
    for imported in run.turns:
        for iteration in imported.iterations:
            _write_iteration(directory, imported.turn, iteration)
    caller.give_tree(path)


def _write_iteration(directory: RunDirectory, turn: Turn, iteration: ImportedIteration) -> None:
    attempt = journal.Attempt(
        *(turn.cell.id, turn.round, iteration.index, 1),
        status=journal.FAILED if iteration.missing else journal.OK,
        began_at_ns=iteration.written_at_ns,
        ended_at_ns=iteration.written_at_ns,
        failure_class="environment" if iteration.missing else None,
        message=iteration.missing,
    )
    place = directory.path / attempt.directory
    place.mkdir(parents=True)
    for host, answers in iteration.answers.items():
        data = files.to_compact_json({"host": host, "phase": "collect", "answers": answers})
        (place / f"{host}.json").write_bytes(data)
        attempt.files[f"{host}.json"] = hashlib.sha256(data).hexdigest()
    journal.append(directory.journal_file, attempt)


def _manifest(run: Imported, source: Path) -> dict[str, Any]:
    """Nothing is known of hosts, programs and versions."""
    read = sorted({path for turn in run.turns for path in turn.files})
    digests = {str(path.relative_to(source)): files.digest_of_file(path) for path in read}
    return {
        "format": MANIFEST_FORMAT,
        "created_at": datetime.now(UTC).isoformat(timespec="seconds"),
        "fidelity_class": run.fidelity_class,
        "imported": {
            "from": str(source),
            "files": digests,
            "note": run.note,
            "by": git_state(_REPOSITORY),
        },
    }
