"""A run directory -> what was planned and what every iteration measured, judged.

Knows files; the system under test knows their fields. A raw file that is missing, or is not what
the journal recorded, makes its iteration a gap that says why: the rest of the run still counts.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from turntable import raw
from turntable.measurement import Event, Measurement
from turntable.raw import COLLECT, RawAnswer
from turntable.results import UNKNOWN, CellResult, Run, RunFacts, TurnResult
from turntable.summary import row_of
from turntable.system import analysis_of
from turntable.verdict import Case, Verdict, judge
from turntable_core import journal, labels, timeline
from turntable_core.errors import TurntableError
from turntable_core.manifest import read_manifest
from turntable_core.plan import Plan, Turn
from turntable_core.reference import Reference
from turntable_core.run_directory import RunDirectory

Done = Mapping[tuple[str, int, int], journal.Attempt]


class DamagedFileError(TurntableError):
    """A raw file is missing, unreadable or changed, or says what the analysis does not expect."""


def load_run(directory: Path | str, wanted: Callable[[Turn], bool] = lambda turn: True) -> Run:
    """The run in results/<experiment>/<run>, or the wanted turns of it. Turns that its precision
    made needless are left out.

    Raises TurntableError when it has no readable plan or journal, or its published numbers are no
    table.
    """
    run = RunDirectory(directory)
    facts = _facts(run)
    done, reference = journal.succeeded(facts.attempts), Reference(facts.reference_file)
    by_cell: dict[str, list[TurnResult]] = {}
    skipped = run.skipped()
    for turn in facts.plan.turns:
        if wanted(turn) and (turn.cell.id, turn.round) not in skipped:
            result = _turn_result(run, facts, turn, done, reference)
            by_cell.setdefault(turn.cell.id, []).append(result)
    cells = tuple(_cell(facts, tuple(turns), reference) for turns in by_cell.values())
    return Run(**vars(facts), cells=cells)


def load_runs(directories: Iterable[Path | str] | Path | str) -> list[Run]:
    """Every one of the directories; of a single directory all runs below it, by name.

    load_runs("results/<experiment>"), load_runs([one, another])
    """
    if isinstance(directories, str | Path):
        found = sorted(path.parent for path in Path(directories).glob("**/plan.json"))
        if not found:
            raise TurntableError(f"{directories}: no run in or below it: no plan.json")
        return [load_run(directory) for directory in found]
    return [load_run(directory) for directory in directories]


def judged(run: RunDirectory, plan: Plan, turn: Turn) -> Verdict:
    """What `run` has measured of a turn, by the rules of `plan`, which may be another run's."""
    facts = replace(_facts(run), plan=plan)
    done = journal.succeeded(facts.attempts)
    return _turn_result(run, facts, turn, done, Reference(None)).verdict


def read_measurement(
    run: RunDirectory, plan: Plan, turn: Turn, attempt: journal.Attempt
) -> Measurement:
    """One successful attempt's raw files. Raises DamagedFileError."""
    try:
        return _measurement(run, plan, turn, attempt)
    except DamagedFileError:
        raise
    except Exception as error:
        what = f"the analysis cannot read what was answered ({type(error).__name__}: {error})"
        raise DamagedFileError(f"{attempt.directory}: {what}") from error


def _measurement(
    run: RunDirectory, plan: Plan, turn: Turn, attempt: journal.Attempt
) -> Measurement:
    iteration, answers = turn.iterations[attempt.iteration], _answers(run, attempt)
    measured = analysis_of(plan).read(answers, turn, iteration, attempt.overhead_s)
    measured = replace(measured, switch_not_measured=raw.switch_not_measured(answers))
    if not plan.timeline:
        return measured
    start_ns = _start_ns(run, attempt)
    warmup_s = plan.system.windows(turn.cell.parameters).warmup_s
    done = raw.events(answers, start_ns + round(warmup_s * 1e9))
    unheard = (
        Event(event.at_s - warmup_s, event.label, "no host told of it")
        for event in timeline.unheard(plan.timeline, raw.told_events(answers), start_ns)
    )
    return replace(measured, events=(*done, *unheard))


def disturbance(run: RunDirectory, plan: Plan, turn: Turn, measured: Measurement) -> str | None:
    """Why the measurement of a successful attempt may not be believed, if the machine is to blame;
    None: it is not.
    """
    analysis = analysis_of(plan)
    fidelity_class = read_manifest(run).get("fidelity_class", UNKNOWN)
    case = replace(_case(plan, fidelity_class, turn, [measured]), expected_iterations=1)
    rules = {name: rule for name, rule in analysis.rules.items() if name in analysis.machine_rules}
    return "; ".join(judge(rules, case).reasons) or None


def _start_ns(run: RunDirectory, attempt: journal.Attempt) -> int:
    """The hosts' common start, CLOCK_REALTIME."""
    name = "iteration.json"
    described = _read_checked(run, f"{attempt.directory}/{name}", attempt.files[name])
    return described["start_at_ns"]


def _turn_result(
    run: RunDirectory, facts: RunFacts, turn: Turn, done: Done, reference: Reference
) -> TurnResult:
    measurements, damage = [], []
    keys = [(turn.cell.id, turn.round, iteration.index) for iteration in turn.iterations]
    for attempt in (done[key] for key in keys if key in done):
        try:
            measurements.append(read_measurement(run, facts.plan, turn, attempt))
        except DamagedFileError as error:
            damage.append(str(error))
    failed = sum(
        attempt.key in keys and attempt.status == journal.FAILED for attempt in facts.attempts
    )
    analysis = analysis_of(facts.plan)
    not_done = journal.refused(facts.attempts)
    refused = {key[2]: not_done[key].message for key in keys if key in not_done}
    case = replace(
        _case(facts.plan, facts.fidelity_class, turn, measurements),
        refused=refused,
        cell_measured=any(cell == turn.cell.id for cell, _, _ in done),
    )
    verdict = _with_damage(judge(analysis.rules, case), facts, damage)
    histograms = tuple(analysis.histograms(measurements)) if case.complete else ()
    repeated = len(journal.repeated(facts.attempts).intersection(keys))
    row = row_of(facts, turn, case, verdict, (failed, repeated), histograms, reference)
    row["taken_from"] = _origins(done[key] for key in keys if key in done)
    return TurnResult(turn, tuple(measurements), failed, histograms, verdict, row, len(refused))


def _origins(attempts: Iterable[journal.Attempt]) -> str | None:
    """<experiment>/<run> of those that another run has measured."""
    origins = (attempt.taken_from for attempt in attempts if attempt.taken_from)
    return ", ".join(dict.fromkeys("/".join(each.split("/")[:2]) for each in origins)) or None


def _case(plan: Plan, fidelity_class: str, turn: Turn, measurements: list[Measurement]) -> Case:
    return Case(
        measurements,
        len(turn.iterations),
        plan.validity,
        turn.cell.parameters,
        fidelity_class,
        turn.prediction,
    )


def _with_damage(verdict: Verdict, facts: RunFacts, damage: Iterable[str]) -> Verdict:
    """damage: of iterations that succeeded and cannot be read any more."""
    reasons = [*verdict.reasons]
    if facts.fidelity_class == UNKNOWN:
        reasons.append(
            "manifest.json cannot be read: nothing says whether the testbed was emulated"
        )
    return replace(verdict, reasons=(*reasons, *damage))


def _cell(facts: RunFacts, turns: tuple[TurnResult, ...], reference: Reference) -> CellResult:
    analysis, cell = analysis_of(facts.plan), turns[0].turn.cell
    peculiarities = tuple(labels.peculiarities(facts.plan, cell.parameters))
    metrics = (*analysis.paper.values(), *analysis.published)
    return CellResult(
        run=facts,
        id=cell.id,
        label=" · ".join([*analysis.label(facts.plan, cell.parameters), *peculiarities]),
        peculiarities=peculiarities,
        parameters=cell.parameters,
        turns=turns,
        paper={metric: reference.value(metric, cell.parameters) for metric in metrics},
    )


def _answers(run: RunDirectory, attempt: journal.Attempt) -> list[RawAnswer]:
    """Of all hosts, from files that are what the journal recorded."""
    contents = [
        _read_checked(run, f"{attempt.directory}/{name}", digest)
        for name, digest in attempt.files.items()
        if name != "iteration.json"
    ]
    return [
        # Files without a phase are of before `begin` was kept.
        RawAnswer(content["host"], content.get("phase", COLLECT), **answer)
        for content in contents
        for answer in content["answers"]
    ]


def _read_checked(run: RunDirectory, name: str, digest: str) -> Mapping[str, Any]:
    """name: relative to the run's directory."""
    try:
        data = (run.path / name).read_bytes()
    except OSError as error:
        raise DamagedFileError(f"{name}: {error.strerror}") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise DamagedFileError(f"{name}: not what the journal recorded (SHA-256 {digest[:12]}…)")
    return json.loads(data)


def _facts(run: RunDirectory) -> RunFacts:
    plan, attempts = _plan(run), run.attempts()
    return RunFacts(
        directory=run.path,
        plan=plan,
        manifest=read_manifest(run),
        attempts=tuple(attempts),
        torn_journal=bool(attempts) and not run.journal_file.read_bytes().endswith(b"\n"),
    )


def _plan(run: RunDirectory) -> Plan:
    try:
        return run.plan()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise TurntableError(
            f"{run.plan_file}: cannot be read ({type(error).__name__}: {error}). It says what the "
            "raw files are about: restore it from a copy"
        ) from None
