"""Turntable's analysis: from the raw files of runs to tables and figures. It needs no testbed.

    import turntable
    from turntable import plot, stats, tidy

    run = turntable.load_run("results/farreach_exp01_throughput/20261120-213005-embedded")
    tidy.rounds(run)            # a row per cell and round: the columns of summary.csv
    plot.throughput(run.cells)  # the figures of the report

load -> rotation (aggregate), verdict (may it be believed), summary (a row per round) -> cells
(rounds together) -> tidy (data frames), stats, plot -> report, notebooks
"""

from turntable.find_run import find_run
from turntable.load import Run, load_run, load_runs

__all__ = ["Run", "find_run", "load_run", "load_runs"]
