"""Two runs beside each other: what differs between them, and what became of each cell."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable.load import load_run
from turntable.pairs import Pairs, pairs_of
from turntable.results import UNKNOWN, CellResult, Row, Run
from turntable.stats import Estimate, difference
from turntable.system import analysis_of
from turntable_core.errors import TurntableError
from turntable_core.labels import DIGEST_SHOWN, shown

NAMES = ("first", "second")  # of the runs, for people

# Kinds of what differs that are no facts of programs, versions or hosts.
_CHOSEN = ("", "experiment", "precision", "timeline", "validity", "deadline")
# Of a manifest, with names for people.
_DIGESTS = {"program": "binaries", "P4 program": "p4_programs", "P4 source": "p4_sources"}


@dataclass(frozen=True)
class Change:
    """Of a result of one cell, from the first run to the second."""

    column: str  # of summary.csv
    first: Estimate | None
    second: Estimate | None
    share: Estimate | None  # of the first's mean; None where one of them has no value

    @property
    def is_clear(self) -> bool:
        """The interval leaves out zero."""
        share = self.share
        return (
            share is not None
            and share.half_width is not None
            and (abs(share.mean) > share.half_width)
        )


@dataclass(frozen=True)
class Comparison:
    first: Run
    second: Run
    pairs: Pairs

    @property
    def runs(self) -> tuple[Run, Run]:
        return self.first, self.second

    @property
    def columns(self) -> Sequence[str]:
        """Of summary.csv, in which these runs may be compared."""
        analysis = analysis_of(self.first.plan)
        one, *others = self.classes
        return analysis.normalized if others or one == UNKNOWN else analysis.means

    @property
    def classes(self) -> Sequence[str]:
        return list(dict.fromkeys(run.fidelity_class for run in self.runs))

    @property
    def by_cell(self) -> list[tuple[list[str], list[Change]]]:
        """Names of the cells of a pair, one where they have the same, and their results; none of
        what neither has measured.
        """
        return [
            (
                list(dict.fromkeys((one.label, other.label))),
                [
                    change
                    for column in self.columns
                    if (change := _change(column, one, other)).first or change.second
                ],
            )
            for one, other in self.pairs.pairs
        ]

    @property
    def nothing(self) -> str:
        """What is said where there is no change to show; the notes say why results are left out."""
        if not self.columns:
            return "these runs have no result that may be compared"
        return "no cell that both runs have has a valid round"

    @property
    def command(self) -> str:
        """Makes the comparison again, wherever it is called."""
        runs = (str(run.directory.resolve()) for run in self.runs)
        return shlex.join(["python", "-m", "turntable", "compare", *runs])

    @property
    def notes(self) -> list[str]:
        """What is not compared, and why."""
        notes = []
        means = analysis_of(self.first.plan).means
        if left_out := [column for column in means if column not in self.columns]:
            classes, columns = ", ".join(self.classes), ", ".join(left_out)
            notes.append(
                f"Not compared across fidelity classes ({classes}), for it is absolute: {columns}"
            )
        for run, name in zip(self.runs, NAMES, strict=True):
            if run.imported:
                notes.append(f"Little is known of what the {name} was made with: it was imported")
        alone = (self.pairs.only_first, self.pairs.only_second)
        for side, name in enumerate(NAMES):
            cells = [pair[side] for pair in self.pairs.pairs if not pair[side].counted]
            notes += _named(f"No valid round in the {name}", cells)
            notes += _named(f"Only in the {name}", alone[side])
        return notes


def comparison(first: Path | str, second: Path | str) -> Comparison:
    """Raises TurntableError for runs of different systems, and for what is no run."""
    runs = load_run(first), load_run(second)
    systems = [run.plan.system_name for run in runs]
    if len(set(systems)) > 1:
        raise TurntableError(f"{first}, {second}: of systems {' and '.join(systems)}; expected one")
    return Comparison(*runs, pairs_of(*runs))


def differences(first: Run, second: Run) -> Iterator[Row]:
    """Parameters, rules, versions and facts of hosts that are not the same. `chosen`: what a person
    has chosen for the run, as against what it was made with.
    """
    ones, others = _facts(first), _facts(second)
    for kind in ones:
        for name in dict.fromkeys([*ones[kind], *others[kind]]):
            one, other = ones[kind].get(name), others[kind].get(name)
            if one != other and not _is_unknown((first, one), (second, other)):
                what = f"{kind} {name}".strip()
                values = {"first": _text(one), "second": _text(other)}
                yield {"what": what, **values, "chosen": kind in _CHOSEN}


def _is_unknown(*both: tuple[Run, Any]) -> bool:
    """Imported results say little of what they were made with."""
    return any(run.imported and value is None for run, value in both)


def _change(column: str, one: CellResult, other: CellResult) -> Change:
    before, after = one.measured(column), other.measured(column)
    change = difference(*([turn.row[column] for turn in cell.counted] for cell in (one, other)))
    if change is None or before is None or not before.mean:
        return Change(column, before, after, None)
    width = None if change.half_width is None else change.half_width / abs(before.mean)
    return Change(column, before, after, Estimate(change.mean / abs(before.mean), width, change.n))


def _named(what: str, cells: Sequence[CellResult]) -> list[str]:
    return [f"{what}: {'; '.join(cell.label for cell in cells)}"] if cells else []


def _facts(run: Run) -> dict[str, Mapping[str, Any]]:
    """Whatever may explain a result: kind -> name -> value, both for people."""
    manifest, plan = run.manifest, run.plan
    timeline = ", ".join(f"{event.at_s:g} s {event.label}" for event in plan.timeline)
    git = manifest.get("git") or {}
    return {
        "": {name: _levels(run, name) for cell in plan.cells for name in cell.parameters},
        "experiment": {"": plan.experiment, "profile": plan.profile, "rounds": plan.rounds},
        "precision": plan.precision,
        "timeline": {"": timeline},
        "validity": plan.validity,
        "deadline": plan.deadlines,
        "fidelity class": {"": run.fidelity_class},
        "testbed": {"": manifest.get("testbed"), "hosts": manifest.get("connections")},
        "inventory": {"digest": _digest(manifest.get("inventory_digest"))},
        "git": {"commit": _digest(git.get("commit")), "changed files": git.get("changed")},
        **{part: manifest.get(part) or {} for part in ("machine", "packages")},
        **{
            part: {name: _digest(value) for name, value in (manifest.get(key) or {}).items()}
            for part, key in _DIGESTS.items()
        },
    }


def _levels(run: Run, name: str) -> str:
    """All values of a parameter in a run."""
    values = [cell.parameters[name] for cell in run.plan.cells if name in cell.parameters]
    return ", ".join(dict.fromkeys(map(shown, values)))


def _digest(value: str | None) -> str | None:
    return value and value[:DIGEST_SHOWN]


def _text(value: Any) -> str | None:
    if value in (None, ""):
        return None
    return (", ".join(map(str, value)) or "none") if isinstance(value, list) else shown(value)
