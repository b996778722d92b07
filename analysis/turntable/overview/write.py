"""Runs of one name -> overview.html, and the same in short for a terminal."""

from __future__ import annotations

import os
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from turntable.overview.gallery import figures_of
from turntable.overview.parts import FAILED, NOT_BEGUN, VALID, Part, parts_of
from turntable.results import UNKNOWN
from turntable.table import WIDTH
from turntable_core import files, plays
from turntable_core.errors import TurntableError
from turntable_core.series import Series, Step
from turntable_core.text_table import columns, duration

FILE_NAME = "overview.html"
_TEMPLATES = [Path(__file__).parent, Path(__file__).parents[1] / "report"]


@dataclass(frozen=True)
class Written:
    page: Path
    text: str
    failed: list[str]  # a line each
    invalid: list[str]


@dataclass(frozen=True)
class Overview:
    series: Series
    title: str
    parts: list[Part]

    @property
    def wall_s(self) -> float:
        """Of all plays; where experiments were begun one by one, of theirs together."""
        instants = [at_ns for part in self.parts for at_ns in part.own_ns]
        found = plays.spans(self.series.directory, instants) if self.series.exists else []
        return plays.seconds(found) or sum(part.wall_s for part in self.parts)

    @property
    def measured_s(self) -> float:
        return sum(part.measured_s for part in self.parts)

    @property
    def profiles(self) -> str:
        names = (part.run.plan.profile for part in self.parts if part.run)
        return ", ".join(dict.fromkeys(names))

    @property
    def classes(self) -> str:
        names = (part.run.fidelity_class for part in self.parts if part.run)
        return ", ".join(dict.fromkeys(names)) or UNKNOWN

    @property
    def wrong(self) -> list[Part]:
        return [part for part in self.parts if part.state != VALID]


def overview_of(series: Series) -> Overview:
    if series.exists:
        return Overview(series, series.read()["title"], parts_of(series, series.steps))
    steps = _steps_of(series)
    return Overview(series, f"Experiments of run {series.run}", parts_of(series, steps))


def series_named(results: Path, name: str) -> list[Series]:
    """Of a run's name: those that a playbook began, or one per system that has runs of it."""
    begun = sorted(path.parent for path in results.glob(f"*/{name}/series.json"))
    if begun:
        return [Series(path) for path in begun]
    systems = dict.fromkeys(
        path.parent.parent.name.partition("_")[0]
        for path in sorted(results.glob(f"*/{name}/plan.json"))
    )
    if not systems:
        raise TurntableError(
            f"{results}: no run {name!r} of any experiment; expected the name that runs of several "
            "experiments have, results/<experiment>/<name>"
        )
    return [Series(results / f"{system}_all" / name) for system in systems]


def newest_series(results: Path) -> Series:
    found = list(results.glob("*/*/series.json"))
    if not found:
        raise TurntableError(
            f"{results}: no series of experiments; expected the name that runs of several "
            "experiments have: python -m turntable overview NAME"
        )
    return Series(max(found, key=lambda path: path.stat().st_mtime).parent)


def write_overview(series: Series) -> Written:
    overview = overview_of(series)
    page = series.directory / FILE_NAME
    files.replace(page, render(overview).encode())
    lines = {
        part.step.experiment: f"{part.step.experiment}: {part.state}"
        + (f" ({part.text})" if part.text else "")
        for part in overview.wrong
    }
    failed = [lines[p.step.experiment] for p in overview.wrong if p.state in (FAILED, NOT_BEGUN)]
    invalid = [line for line in lines.values() if line not in failed]
    return Written(page, f"{_text(overview)}\nOverview: {page}", failed, invalid)


def render(overview: Overview) -> str:
    directory = overview.series.directory
    environment = Environment(
        loader=FileSystemLoader(_TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"duration": duration}
    galleries = {
        part.step.id: figures_of(part.page, part.step.id) if part.page else []
        for part in overview.parts
    }
    links = {
        part.step.id: os.path.relpath(part.page, directory) if part.page else None
        for part in overview.parts
    }
    return environment.get_template("overview.html.j2").render(
        overview=overview, galleries=galleries, links=links, useful=useful
    )


def useful(measured_s: float, wall_s: float) -> str:
    return f"{measured_s / wall_s:.2f}" if wall_s and measured_s else "\N{EN DASH}"


def _steps_of(series: Series) -> list[Step]:
    system = series.directory.parent.name.removesuffix("_all")
    found = sorted(series.results.glob(f"{system}_*/{series.run}/plan.json"))
    ids = [path.parents[1].name for path in found]
    steps = (Step(id_.replace("_", "/", 1), "") for id_ in ids)
    return [replace(step, directory=id_) for step, id_ in zip(steps, ids, strict=True)]


def _text(overview: Overview) -> str:
    head = ("experiment", "state", "measured", "taken over", "windows", "wall", "useful")
    rows = [_row(part) for part in overview.parts]
    whole = (
        *("together", "", "", ""),
        *(duration(overview.measured_s), duration(overview.wall_s)),
        useful(overview.measured_s, overview.wall_s),
    )
    lines = [overview.title, "", *columns([head, *rows, whole], right=range(2, len(head))), ""]
    for part in overview.parts:
        for said in part.statements:
            text = f"{part.step.id}, {said.title}: {said.state}: {said.text}"
            lines += textwrap.wrap(text, WIDTH, subsequent_indent="  ")
    return "\n".join(lines)


def _row(part: Part) -> Sequence[object]:
    own = (f"{part.measured} of {part.planned}", part.taken) if part.run else ("", "")
    times = (duration(part.measured_s), duration(part.wall_s)) if part.run else ("", "")
    return (part.step.id, part.state, *own, *times, useful(part.measured_s, part.wall_s))
