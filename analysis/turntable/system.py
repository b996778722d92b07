"""What a system under test gives the analysis: everything that the core of it does not know.

The run side of a system (turntable_core.system.System) names a package below turntable.systems as
its `analysis`. That package's `ANALYSIS` is an instance of a subclass of Analysis.
docs/add-a-system.md goes through one part by part.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from turntable import rules
from turntable.grid import Column, Table
from turntable.histograms import PERCENTILES
from turntable.measurement import Measurement
from turntable.raw import RawAnswer
from turntable.results import CellResult, Row, Run, Weighted
from turntable.rules import OF_MACHINE
from turntable.verdict import Case, Rule
from turntable_core import labels
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.reference import Reference
from turntable_core.system import System

if TYPE_CHECKING:  # matplotlib takes half a second, which the phases of a run should not pay
    from turntable.imported import Imported
    from turntable.plot.drawing import Drawing

Facts = Sequence[tuple[int, str]]  # rank and text, as turntable_core.terminal_lines.fitting

# Of summary.csv and cells.csv, whatever the system.
HEAD = ("experiment", "profile", "fidelity_class", "system")
LATENCIES = tuple(f"latency_{name}_us" for name in PERCENTILES)
TAIL = (
    *("iterations_ok", "iterations_failed", "retries", "verdict", "not_checked"),
    "iterations_repeated",
)

# The run that has measured the round, where it is another; the cell's id, as in plan.json and raw/.
LAST = ("taken_from", "cell")


class Analysis:
    """Subclasses are stateless. What has a default may be left out."""

    # --- What was measured, and may it be believed

    def read(
        self,
        answers: Sequence[RawAnswer],
        turn: Turn,
        iteration: Iteration,
        overhead_s: float | None,
    ) -> Measurement:
        """answers: of every host, in all phases of one successful attempt."""
        raise NotImplementedError

    def histograms(self, measurements: Sequence[Measurement]) -> Weighted:
        """Latency in ns of a complete turn, HdrHistogram V2 text, each with its weight."""
        return ()

    # Name -> rule, in the order in which reasons are given.
    rules: ClassVar[Mapping[str, Rule]] = rules.COMMON

    # Of these, the ones that blame the machine: an iteration that breaks one is measured again.
    machine_rules: ClassVar[frozenset[str]] = OF_MACHINE

    # --- summary.csv, a row per round, and cells.csv, a row per cell

    # Parameters that both files have.
    parameter_columns: ClassVar[tuple[str, ...]] = ()
    # What values() gives.
    result_columns: ClassVar[tuple[str, ...]] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Of summary.csv, in order. New ones come last: readers may go by position."""
        parameters, results = self.parameter_columns, self.result_columns
        return (*HEAD, *parameters, "round", *results, *LATENCIES, *TAIL)

    @property
    def all_columns(self) -> tuple[str, ...]:
        """With those that the core adds after a system's own."""
        return (*self.columns, *LAST)

    def values(self, case: Case, reference: Reference) -> Row:
        """Every column of summary.csv that the core does not know; None: there is no value."""
        return {}

    # Columns of summary.csv -> cells.csv: means of the valid rounds with their intervals, and ...
    means: ClassVar[tuple[str, ...]] = ()
    # ... what was expected of the rounds.
    expected: ClassVar[tuple[str, ...]] = ()
    # Of `means`, the ratios that say as much on a rack as on an emulated testbed: runs of different
    # fidelity classes are compared in these alone.
    normalized: ClassVar[tuple[str, ...]] = ()
    # Column of a published value -> its metric in the table of references.
    paper: ClassVar[Mapping[str, str]] = {}
    # Further metrics of that table, for figures.
    published: ClassVar[tuple[str, ...]] = ()

    # --- What people see of a cell, in the terminal

    def label(self, plan: Plan, parameters: Mapping[str, Any]) -> Sequence[str]:
        """Its identity, in words."""
        return labels.identity(plan, parameters)

    # Of the parameters in the system's identity; empty: of each by its name, at the left.
    name_columns: ClassVar[tuple[Column, ...]] = ()
    # By columns of summary.csv and `paper`.
    round_columns: ClassVar[tuple[Column, ...]] = ()
    # The same of several rounds; measured ones are shown with their interval.
    cell_columns: ClassVar[tuple[Column, ...]] = ()
    notes: ClassVar[tuple[str, ...]] = ()  # below the table

    def further_tables(self, cells: Sequence[CellResult]) -> Sequence[Table]:
        return ()

    def facts(self, measurement: Measurement, parameters: Mapping[str, Any]) -> Facts:
        """Of an iteration that was just measured, for the line that follows the run."""
        return ()

    def result_facts(self, row: Row) -> Facts:
        """Of a turn that is over; row: of summary.csv."""
        return ()

    # --- Figures, report, notebook

    def series(self, measurement: Measurement) -> Mapping[str, Sequence[float]]:
        """Name -> values of the window's seconds, from the first; NaN where there is none."""
        return {}

    series_label: ClassVar[str] = "rate (1/s)"  # of the axis

    def colour(self, parameters: Mapping[str, Any]) -> str | None:
        """Of a cell's marks where two runs are beside each other; None: the ink of words."""
        return None

    def figures(self, cells: Sequence[CellResult]) -> Mapping[str, Drawing | None]:
        """Of results, by a name for the report's partial; None: there is nothing to show."""
        from turntable.plot.latency import latency  # noqa: PLC0415

        return {"latency": latency(cells)}

    def cell_figures(self, cell: CellResult) -> Sequence[Drawing | None]:
        """How the measurement of a cell went."""
        from turntable.plot.seconds import seconds  # noqa: PLC0415

        return [seconds(cell, self.series, self.series_label)]

    # Jinja2 template of the report's results, included by report/report.html.j2; its variables are
    # those of the page and what report() gives.
    partial: ClassVar[Path] = Path(__file__).parent / "report" / "results.html.j2"

    # Whether the report has the percentiles of the latency as nodes measured them; a system whose
    # further tables say them otherwise (in another unit, say) leaves them out.
    latency_table: ClassVar[bool] = True

    def report(self, run: Run) -> Mapping[str, Any]:
        return {}

    # What an emulated testbed's numbers are not, below the table and in the report.
    emulated_note: ClassVar[str] = "Compare ratios with the paper's, never absolute rates."

    def switch_resources(
        self,
        build: Path,
        sources: Path,
        results: Path | None,
        profile: str,
        run: str,
        p4c: Path | None,
    ) -> str:
        """What the system's programs take of a switch: a text, and the files of a run in results.

        build: with lib/p4, and tofino for the compiler's output; results: None writes nothing, and
        compiles nothing; p4c: a Tofino compiler, if there is one.
        """
        raise NotImplementedError

    # What files of another program imports() reads, in words; empty: none.
    importable: ClassVar[str] = ""

    def imports(self, directory: Path) -> Sequence[Imported]:
        """Runs made of these files, where they are the system's; the same run for several
        experiments where these share cells. Raises TurntableError for malformed files.
        """
        return ()

    # Directory of notebooks, <experiment>.py each; None: there are none.
    notebooks: ClassVar[Path | None] = None
    # Experiments whose notebook has another name, for several may have one.
    notebook_names: ClassVar[Mapping[str, str]] = {}


def analysis_of(plan: Plan) -> Analysis:
    return analysis_of_system(plan.system)


def analysis_of_system(system: System) -> Analysis:
    return importlib.import_module(system.analysis).ANALYSIS
