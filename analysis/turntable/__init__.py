"""Turntable's analysis: from the raw files of runs to tables and figures. It needs no testbed.

    import turntable
    from turntable import plot, stats, tidy

    run = turntable.load_run("results/<experiment>/<run>")
    tidy.rounds(run)            # a row per cell and round: the columns of summary.csv
    plot.latency(run.cells)     # a figure of the report

load (raw files) -> verdict (may it be believed), summary (a row per round) -> results (a turn, and
the turns of a cell together) -> tidy (data frames), stats, plot -> report, notebooks

It knows no system: what a measurement is, its rules, columns and figures come from the system's own
package (turntable.system, turntable.systems).
"""

from turntable.compare import compare
from turntable.find_run import find_run
from turntable.load import load_run, load_runs
from turntable.results import Run

__all__ = ["Run", "compare", "find_run", "load_run", "load_runs"]
