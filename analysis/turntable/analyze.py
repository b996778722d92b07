"""Everything that is derived from a run's files: summary.csv, cells.csv, the table, report.html.

turntable.report is imported where it is used: matplotlib takes half a second, which the phases of
a run and `summarize` should not pay.
"""

from __future__ import annotations

from pathlib import Path

from turntable.load import Run, load_run
from turntable.summarize import summarize_run
from turntable_core.errors import TurntableError


def rebuild(directory: Path) -> str:
    """Writes what is derived from the run's files; returns the table and where the page is.

    Raises TurntableError when nothing was measured, before anything is written.
    """
    run = load_run(directory)
    page = _render(run)
    summary = summarize_run(run)
    return f"{summary.table}\nReport: {_write(run, page)}"


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


def _render(run: Run) -> str:
    if not run.attempts:
        raise TurntableError(
            f"{run.directory}: nothing has been measured: its journal has no attempt. "
            f"Continue the run with -e run={run.name}, or choose another"
        )
    from turntable.report import render  # noqa: PLC0415

    return render(run)


def _write(run: Run, page: str) -> Path:
    from turntable.report import write_page  # noqa: PLC0415

    return write_page(run, page)
