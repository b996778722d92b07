"""Everything that is derived from a run's files: summary.csv, the table, report.html.

turntable.report is imported where it is used: matplotlib takes half a second, which the phases of
a run and `summarize` should not pay.
"""

from __future__ import annotations

from pathlib import Path

from turntable.summarize import summarize_directory


def rebuild(directory: Path) -> str:
    """Writes summary.csv and report.html; returns the table and where the page is.

    Raises TurntableError when nothing was measured, before anything is written.
    """
    from turntable.report import read_contents, write_report  # noqa: PLC0415

    contents = read_contents(directory)
    summary = summarize_directory(directory)
    return f"{summary.table}\nReport: {write_report(contents)}"


def report_line(directory: Path) -> str:
    """The last line of a run: where its page is, or why there is none.

    Whatever goes wrong in drawing must not fail a night of measuring: the page can be made later.
    """
    try:
        from turntable.report import read_contents, write_report  # noqa: PLC0415

        return f"Report: {write_report(read_contents(directory))}"
    except Exception as error:
        return (
            f"No report.html: {error}\nMake it later with: python -m turntable report {directory}"
        )
