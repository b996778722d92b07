"""Two runs beside each other: what differs between them, then what became of each cell.

turntable.compare("results/…/first", "results/…/second")   # a text for a terminal
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turntable import grid
from turntable.grid import Column
from turntable.load import load_run
from turntable.results import CellResult, Run
from turntable.stats import Estimate, difference
from turntable.system import analysis_of
from turntable_core.errors import TurntableError
from turntable_core.labels import shown

_DIFFERENCES = (
    Column("", "what", "what", ""),
    Column("", "first", "first", ""),
    Column("", "second", "second", ""),
)
_CHANGES = (
    Column("", "cell", "cell", ""),
    Column("", "of", "column", ""),
    Column("", "first", "first", ">"),
    Column("", "second", "second", ">"),
    Column("", "change", "change", ">"),
)
_LONGEST = 32  # characters of a value; of more, the first ones

Row = dict[str, Any]


def compare(first: Path | str, second: Path | str) -> str:
    """Raises TurntableError for runs of different systems, and for what is no run."""
    runs = load_run(first), load_run(second)
    systems = [run.plan.system_name for run in runs]
    if len(set(systems)) > 1:
        raise TurntableError(f"{first}, {second}: of systems {' and '.join(systems)}; expected one")
    differing = list(differences(*runs))
    cells = list(changes(*runs))
    return "\n".join(
        [
            *(f"{name:6}  {run.directory}" for name, run in zip(_NAMES, runs, strict=True)),
            "",
            "What differs" if differing else "Nothing differs: parameters, versions, hosts agree",
            *(grid.lines(_DIFFERENCES, differing) if differing else ()),
            "",
            "Means of the valid rounds, and what the second changes with its 95 % interval",
            *(grid.lines(_CHANGES, cells) if cells else ["(no cell is in both runs)"]),
            *_alone(*runs),
        ]
    )


_NAMES = ("first", "second")


def differences(first: Run, second: Run) -> Iterator[Row]:
    """Parameters, rules, versions and facts of hosts that are not the same."""
    ones, others = _facts(first), _facts(second)
    for what in dict.fromkeys([*ones, *others]):
        one, other = ones.get(what), others.get(what)
        if one != other:
            yield {"what": what, "first": _short(one), "second": _short(other)}


def changes(first: Run, second: Run) -> Iterator[Row]:
    """Of every cell that both runs have, by the parameters in which the runs do not differ."""
    common = _by_place(second, first)
    for place, cell in _by_place(first, second).items():
        if place in common:
            yield from _of_cell(cell, common[place])


def _of_cell(one: CellResult, other: CellResult) -> Iterator[Row]:
    for column in analysis_of(one.run.plan).means:
        before, after = one.measured(column), other.measured(column)
        if before is None and after is None:
            continue
        change = difference(*([turn.row[column] for turn in cell.counted] for cell in (one, other)))
        yield {
            "cell": one.label,
            "column": column,
            "first": _estimate(before),
            "second": _estimate(after),
            "change": _change(change, before),
        }


def _facts(run: Run) -> dict[str, Any]:
    """Whatever may explain a result, by a name for people."""
    manifest, plan = run.manifest, run.plan
    facts = {name: _levels(run, name) for cell in plan.cells for name in cell.parameters}
    facts |= {"experiment": plan.experiment, "profile": plan.profile, "rounds": plan.rounds}
    facts |= {f"validity {name}": value for name, value in plan.validity.items()}
    facts |= {f"deadline {name}": value for name, value in plan.deadlines.items()}
    facts["timeline"] = ", ".join(f"{event.at_s:g} s {event.label}" for event in plan.timeline)
    facts["fidelity class"] = run.fidelity_class
    facts |= {name: manifest.get(name) for name in ("testbed", "inventory_digest", "connections")}
    git = manifest.get("git") or {}
    facts |= {"git commit": git.get("commit"), "changed files": git.get("changed")}
    for part in ("machine", "packages", "binaries", "p4_programs", "p4_sources"):
        facts |= {f"{part} {name}": value for name, value in (manifest.get(part) or {}).items()}
    return facts


def _levels(run: Run, name: str) -> str:
    """All values of a parameter in a run."""
    values = [cell.parameters[name] for cell in run.plan.cells if name in cell.parameters]
    return ", ".join(dict.fromkeys(map(shown, values)))


def _by_place(run: Run, other: Run) -> Mapping[tuple[str, ...], CellResult]:
    """Cells by the parameters whose levels the runs have in common. One that is not alone in its
    place cannot be told from its neighbours, and is left out.
    """
    names = [
        name
        for name in dict.fromkeys(name for cell in run.plan.cells for name in cell.parameters)
        if set(_levels(run, name).split(", ")) & set(_levels(other, name).split(", "))
    ]
    places: dict[tuple[str, ...], list[CellResult]] = {}
    for cell in run.cells:
        place = tuple(f"{name}={cell.parameters.get(name)}" for name in sorted(names))
        places.setdefault(place, []).append(cell)
    return {place: cells[0] for place, cells in places.items() if len(cells) == 1}


def _alone(first: Run, second: Run) -> list[str]:
    """Cells that only one of the runs has."""
    ones, others = _by_place(first, second), _by_place(second, first)
    lines = []
    for name, run, partners in ((_NAMES[0], ones, others), (_NAMES[1], others, ones)):
        labels = [cell.label for place, cell in run.items() if place not in partners]
        if labels:
            lines.append(f"Only in the {name}: {'; '.join(labels)}")
    return lines


def _estimate(result: Estimate | None) -> str | None:
    if result is None:
        return None
    interval = "" if result.half_width is None else f" ±{result.half_width:,.4g}"
    return f"{result.mean:,.5g}{interval}"


def _change(change: Estimate | None, before: Estimate | None) -> str | None:
    if change is None or before is None or not before.mean:
        return None
    percent = 100 / before.mean
    interval = "" if change.half_width is None else f" ±{abs(change.half_width * percent):.1f}"
    return f"{change.mean * percent:+.1f}{interval} %"


def _short(value: Any) -> str | None:
    if value in (None, ""):
        return None
    text = shown(value)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
