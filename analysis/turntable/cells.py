"""The rounds of a run by cell: what may be counted, and what is a gap.

Results (throughput, latency) count valid rounds only: an invalid or incomplete round is a gap.
Diagnostics (what each iteration did) show every iteration that was measured.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from turntable.histograms import Merged, merge
from turntable.load import Run, TurnData
from turntable.reference import Reference
from turntable.stats import Estimate, estimate
from turntable.summary import Row, summarize, verdict_of, weighted_partitions
from turntable_core import labels

# Column of summary.csv -> what the columns of its predictions end with.
RATIOS = {"normalized_throughput": "normalized", "imbalance_ratio": "imbalance"}
NOT_MEASURED = "not measured"  # a gap of its own: nobody tried yet, or nothing came of it
PUBLISHED = (*RATIOS, "aggregate_ops_per_s", "server_replay_s", "switch_replay_s")


@dataclass(frozen=True)
class Round:
    turn: TurnData
    row: Row  # of summary.csv
    reasons: tuple[str, ...]  # why it is invalid

    @property
    def number(self) -> int:
        return self.turn.round

    @property
    def valid(self) -> bool:
        return not self.reasons

    @property
    def missing(self) -> list[int]:
        """Iterations without a successful attempt that can be read."""
        present = {measurement.iteration for measurement in self.turn.measurements}
        return [it.index for it in self.turn.turn.iterations if it.index not in present]


@dataclass(frozen=True, eq=False)
class Cell:
    run: Run
    id: str
    peculiarities: tuple[str, ...]  # what tells it from others of its workload, method, servers
    parameters: Mapping[str, Any]
    rounds: tuple[Round, ...]
    paper: Mapping[str, float | None]  # by column of summary.csv

    @property
    def label(self) -> str:
        """workloada · nocache · 16 servers, and what else tells this cell from the others."""
        workload, method, servers = (self.parameters[name] for name in labels.ALWAYS)
        return " · ".join([workload, method, f"{servers} servers", *self.peculiarities])

    @property
    def counted(self) -> tuple[Round, ...]:
        """The rounds that results are made of."""
        return tuple(round_ for round_ in self.rounds if round_.valid)

    @property
    def shown(self) -> tuple[Round, ...]:
        """The rounds of diagnostics: those counted, or else whatever was measured."""
        return self.counted or self.rounds

    @property
    def gap(self) -> str | None:
        """Why the cell has no result, in a word."""
        if self.counted:
            return None
        if not any(round_.turn.measurements for round_ in self.rounds):
            return NOT_MEASURED
        return "incomplete" if all(round_.missing for round_ in self.rounds) else "invalid"

    def measured(self, column: str) -> Estimate | None:
        """A column of summary.csv over the valid rounds."""
        return estimate([round_.row[column] for round_ in self.counted])

    def predicted(self, column: str) -> float | None:
        """Mean over the rounds in question: every round replays traces of its own."""
        result = estimate([round_.row[column] for round_ in self.shown])
        return result.mean if result else None

    @cached_property
    def latency(self) -> Merged:
        """Queueing latency: histograms of all iterations and valid rounds, merged."""
        return merge(
            (text, weight)
            for round_ in self.counted
            for client, weight in weighted_partitions(round_.turn.measurements)
            for text in client.histograms
        )


def cells_of(run: Run) -> tuple[Cell, ...]:
    """In the plan's order. Reached as run.cells, which keeps them."""
    rounds: dict[str, list[Round]] = {}
    for turn, row in zip(run.turns, summarize(run), strict=True):
        round_ = Round(turn, row, verdict_of(run, turn).reasons)
        rounds.setdefault(turn.turn.cell.id, []).append(round_)
    reference = Reference(run.reference_file)
    return tuple(_cell(run, group, reference) for group in rounds.values())


def _cell(run: Run, rounds: Sequence[Round], reference: Reference) -> Cell:
    parameters = rounds[0].turn.parameters
    return Cell(
        run=run,
        id=rounds[0].turn.turn.cell.id,
        peculiarities=tuple(labels.peculiarities(run.plan, parameters)),
        parameters=parameters,
        rounds=tuple(rounds),
        paper={column: reference.value(column, parameters) for column in PUBLISHED},
    )
