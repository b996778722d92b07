"""Everything that is derived from a run's files: summary.csv, cells.csv, the table, report.html;
and from two runs' files: their comparison.

turntable.report and turntable.notebook are imported where they are used: matplotlib and Jupyter
take half a second each, which the phases of a run and `summarize` should not pay.
"""

from __future__ import annotations

from pathlib import Path

from turntable.compare import text_of
from turntable.comparison import Comparison, comparison
from turntable.load import load_run
from turntable.results import Run
from turntable.summarize import summarize_run
from turntable_core import journal
from turntable_core.errors import TurntableError
from turntable_core.ownership import run_claim


def rebuild(directory: Path, notebook: bool = False) -> str:
    """Writes what is derived from the run's files; returns the table and where the pages are.

    notebook: executes the experiment's notebook too, which takes some seconds.

    Raises TurntableError when nothing was measured, before anything is written, or when a cell of
    the notebook fails, after everything else is.
    """
    run = load_run(directory)
    page = _render(run)
    summary = summarize_run(run)
    lines = [*_under_way(run), summary.table, f"Report: {_write(run, page)}"]
    if notebook:
        from turntable.notebook import write_notebook  # noqa: PLC0415

        lines.append(f"Notebook: {write_notebook(run.directory)}")
    return "\n".join(lines)


def compare_and_draw(first: Path, second: Path) -> str:
    """The comparison as a text, and where the page is that says the same, or why there is none."""
    compared = comparison(first, second)
    return f"{text_of(compared)}\n\n{_comparison_line(compared)}"


def report_line(directory: Path) -> str:
    """The last line of a run: where its page is, or why there is none.

    Whatever goes wrong in drawing must not fail a night of measuring: the page can be made later.
    """
    try:
        run = load_run(directory)
        return f"Report: {_write(run, _render(run))}"
    except Exception as error:
        return (
            f"No report.html: {error}\nMake it later with: python -m turntable report {directory}"
        )


def _comparison_line(compared: Comparison) -> str:
    """Whatever goes wrong in drawing must not cost the text, which is complete without the page."""
    try:
        from turntable.report.comparison import write_comparison  # noqa: PLC0415

        return f"Page: {write_comparison(compared)}"
    except Exception as error:
        return f"No page: {error}\nMake it later with: {compared.command}"


def _under_way(run: Run) -> list[str]:
    """A line if a playbook still measures what is missing."""
    owner = run_claim.worker_of(run.directory)
    if owner is None:
        return []
    done = len(journal.succeeded(run.attempts))
    return [
        f"{run.directory} is still being measured by pid {owner['pid']} on {owner['controller']}: "
        f"{done} of {run.plan.iteration_count} iterations so far"
    ]


def _render(run: Run) -> str:
    if not run.attempts:
        raise TurntableError(
            f"{run.directory}: nothing has been measured: its journal has no attempt. "
            + ". ".join(
                _under_way(run) or [f"Continue the run with -e run={run.name}, or choose another"]
            )
        )
    from turntable.report import render  # noqa: PLC0415

    return render(run)


def _write(run: Run, page: str) -> Path:
    from turntable.report import write_page  # noqa: PLC0415

    return write_page(run, page)
