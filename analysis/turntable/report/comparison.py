"""Two runs beside each other -> one HTML page, in the first run's directory."""

from __future__ import annotations

from pathlib import Path

from markupsafe import Markup

from turntable.compare import measured, percent
from turntable.comparison import NAMES, Comparison, differences
from turntable.plot.beside import beside
from turntable.plot.changes import changes
from turntable.report.page import environment
from turntable.system import analysis_of
from turntable_core import files


def write_comparison(compared: Comparison) -> Path:
    """Returns the page's path. Names of runs are unique within their experiment only."""
    second = compared.second
    path = compared.first.directory / f"compare-{second.plan.experiment}-{second.name}.html"
    files.replace(path, render(compared).encode())
    return path


def render(compared: Comparison) -> str:
    both, figure = beside(compared), changes(compared)
    differing = list(differences(*compared.runs))
    page = environment(analysis_of(compared.first.plan))
    page.filters |= {"measured": measured, "percent": percent}
    return page.get_template("comparison.html.j2").render(
        compared=compared,
        names=NAMES,
        titles=list(dict.fromkeys(run.plan.title for run in compared.runs)),
        notes=compared.notes,
        both=Markup(both.svg()) if both else None,
        figure=Markup(figure.svg()) if figure else None,
        pairs=[(" → ".join(names), found) for names, found in compared.by_cell if found],
        chosen=[row for row in differing if row["chosen"]],
        made_with=[row for row in differing if not row["chosen"]],
    )
