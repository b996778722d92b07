"""Legends never cover what is drawn."""

from __future__ import annotations

from pathlib import Path

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.transforms import Bbox

from turntable.imported import import_directory
from turntable.load import load_run
from turntable.plot import latency
from turntable.plot.drawing import Drawing
from turntable.results import Run
from turntable.system import analysis_of
from turntable.systems.farreach.plot.methods import COLOURS, line_styles

from . import artifact_files, recordings


def places(drawing: Drawing) -> tuple[list[Bbox], list[Bbox]]:
    """Of legends, and of axes."""
    renderer = FigureCanvasAgg(drawing.figure).get_renderer()
    drawing.figure.draw(renderer)
    every = drawing.figure.axes
    legends = [*drawing.figure.legends, *(axes.get_legend() for axes in every)]
    return (
        [legend.get_window_extent(renderer) for legend in legends if legend is not None],
        [axes.get_window_extent(renderer) for axes in every],
    )


@pytest.mark.parametrize("count", [1, 2, 7, 20])
def test_legend_of_the_latencies_is_beside_the_curves(tmp_path: Path, count: int) -> None:
    cells = load_run(recordings.copy_run(tmp_path, recordings.ROUNDS)).cells
    drawing = latency((list(cells) * count)[:count])
    assert drawing is not None
    (legend,), axes = places(drawing)
    assert not any(legend.overlaps(place) for place in axes)
    whole = drawing.figure.bbox
    assert whole.x0 <= legend.x0
    assert legend.x1 <= whole.x1
    assert whole.y0 <= legend.y0
    assert len(drawing.figure.axes[0].get_lines()) == count


_FRAME_PX = 6  # around the words


def figures_of(run: Run) -> list[Drawing]:
    analysis = analysis_of(run.plan)
    every = [
        *analysis.figures(run.cells).values(),
        *(figure for cell in run.cells for figure in analysis.cell_figures(cell)),
    ]
    return [figure for figure in every if figure is not None]


def periods(tmp_path: Path) -> Run:
    """FarReach alone, with five periods of snapshots: what a method's curves are told apart by."""
    names = (0, 2.5, 5, 7.5, 10)
    for name in names:
        for client in (0, 1):
            file = f"{name}/synthetic-statistics/farreach-hotin-client{client}.out"
            artifact_files.write(tmp_path / "old" / file, artifact_files.seconds(15, {10: 0.1}))
    said = (f"  '{name}/*': {{snapshot_period_s: {name}}}\n" for name in names)
    (tmp_path / "old" / "import.yml").write_text("files:\n" + "".join(said))
    (directory,) = import_directory(tmp_path / "results", tmp_path / "old")
    return load_run(directory)


RECORDED = [
    *(recordings.RUN, recordings.ROUNDS, recordings.UPDATES, recordings.RECOVERY),
    *(recordings.LATENCY, "periods"),
]


@pytest.mark.parametrize("name", RECORDED)
def test_no_legend_of_a_report_covers_what_is_drawn(tmp_path: Path, name: str) -> None:
    recorded = name in recordings.ALL
    run = load_run(recordings.copy_run(tmp_path, name)) if recorded else periods(tmp_path)
    for figure in figures_of(run):
        legends, axes = places(figure)
        whole = figure.figure.bbox
        for legend in legends:
            assert not any(legend.padded(-_FRAME_PX).overlaps(place) for place in axes), figure.name
            assert whole.x0 <= legend.x0 < legend.x1 <= whole.x1, figure.name
            assert whole.y0 <= legend.y0 < legend.y1 <= whole.y1, figure.name


@pytest.mark.parametrize("name", [recordings.ROUNDS, recordings.UPDATES, "periods"])
def test_a_methods_curves_have_its_colour_and_differ_in_dashes(tmp_path: Path, name: str) -> None:
    recorded = name in recordings.ALL
    run = load_run(recordings.copy_run(tmp_path, name)) if recorded else periods(tmp_path)
    style_of = line_styles(run.cells)
    styles = [(style_of(cell)["color"], style_of(cell)["ls"]) for cell in run.cells]
    assert [colour for colour, _ in styles] == [
        COLOURS[cell.parameters["method"]] for cell in run.cells
    ]
    assert len(set(styles)) == len(styles)
