"""The page of experiment 10: no run of a testbed, so it has a template of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from markupsafe import Markup

from turntable.report.page import environment
from turntable.system import analysis_of_system
from turntable.systems.farreach import resources as taken
from turntable.systems.farreach.plot.resources import resources
from turntable_core import files
from turntable_systems.farreach import SYSTEM


def write_page(directory: Path, programs: Sequence[taken.Program], profile: str) -> Path:
    path = directory / taken.PAGE
    files.replace(path, render(directory.name, programs, profile).encode())
    return path


def render(run: str, programs: Sequence[taken.Program], profile: str) -> str:
    return (
        environment(analysis_of_system(SYSTEM))
        .get_template("resources.html.j2")
        .render(
            run=run,
            experiment=taken.EXPERIMENT,
            title=taken.TITLE,
            profile=profile,
            programs=programs,
            artifact=taken.artifact,
            is_known=taken.is_known,
            groups=[
                ("Declared, counted by p4soft", taken.DECLARED),
                ("Tofino compiler", taken.COMPILED),
            ],
            figure=Markup(resources(programs, run).svg()),
        )
    )
