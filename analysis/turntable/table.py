"""The table a run ends with, for a terminal of 100 columns."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable import recovery
from turntable.cells import Cell
from turntable_core import labels

WIDTH = 100
MISSING = "-"


@dataclass(frozen=True)
class Column:
    group: str  # neighbours of one group share a heading
    head: str
    key: str
    form: str  # of a number; ">" for a text at the right, empty for one at the left
    measured: bool = False  # a gap where the verdict is not valid

    def text(self, row: Mapping[str, Any]) -> str:
        value = None if self.measured and row["verdict"] != "valid" else row[self.key]
        if value is None:
            return MISSING
        return format(value, self.form) if self.form else str(value).partition(":")[0]


ROUND = Column("", "rnd", "round", "d")  # where there are several
# Where cells of the same workload, method and servers differ.
PECULIARITIES = Column("", "with", "peculiarities", "")

NAME_COLUMNS = (
    Column("", "workload", "workload", ""),
    Column("", "method", "method", ""),
    Column("", "servers", "servers", "d"),
)

RESULT_COLUMNS = (
    Column("normalized throughput", "pred.", "predicted_normalized", ".2f"),
    Column("normalized throughput", "trace", "trace_normalized", ".2f"),
    Column("normalized throughput", "paper", "paper_normalized", ".2f"),
    Column("normalized throughput", "measured", "normalized_throughput", ".2f", measured=True),
    Column("imbalance", "pred.", "predicted_imbalance", ".3f"),
    Column("imbalance", "trace", "trace_imbalance", ".3f"),
    Column("imbalance", "paper", "paper_imbalance", ".3f"),
    Column("imbalance", "measured", "imbalance_ratio", ".3f", measured=True),
    Column("aggregate", "ops/s", "aggregate_ops_per_s", ",.0f", measured=True),
    Column("", "verdict", "verdict", ""),
)

MEAN_COLUMNS = (
    Column("normalized throughput", "trace", "trace_normalized", ".2f"),
    Column("normalized throughput", "paper", "paper_normalized", ".2f"),
    Column("normalized throughput", "measured", "normalized", ">"),
    Column("imbalance", "trace", "trace_imbalance", ".3f"),
    Column("imbalance", "paper", "paper_imbalance", ".3f"),
    Column("imbalance", "measured", "imbalance", ">"),
    Column("aggregate", "ops/s", "aggregate", ">"),
    Column("", "valid", "valid", ">"),
)

RECOVERY_COLUMNS = (
    Column("", "cell", "label", ""),
    Column("", "times", "recoveries", "d"),
    *(Column("phases (ms)", name, name, ".1f") for name in recovery.PHASES),
    Column("phases (ms)", "all", "all", ".1f"),
    Column("records/s", "servers", "server_rate", ",.0f"),
    Column("records/s", "switch", "switch_rate", ",.0f"),
    Column("", "paper", "paper_rate", ",.0f"),
)


def render(cells: Sequence[Cell], overhead_s: float | None, directory: str) -> str:
    """The whole table with its notes. overhead_s: median per iteration; directory: of the run."""
    rows = [round_.row for cell in cells for round_ in cell.rounds]
    first = rows[0]
    facts = (first["experiment"], f"profile {first['profile']}")
    title = ", ".join([*facts, f"fidelity class {first['fidelity_class']}"])
    lines = [title, *_common_facts(cells), "", *_rounds(cells), ""]
    lines += [*_across_rounds(cells), *_recoveries(cells)]
    lines += [*_reasons(cells), *_not_checked(rows), *_notes(first, overhead_s)]
    return "\n".join([*lines, f"Results: {directory}"])


def _rounds(cells: Sequence[Cell]) -> list[str]:
    several_rounds = max(len(cell.rounds) for cell in cells) > 1
    columns = [*_naming(cells), *([ROUND] if several_rounds else []), *RESULT_COLUMNS]
    rows = [
        round_.row | _named(cell) | {"paper_imbalance": cell.paper["imbalance_ratio"]}
        for cell in cells
        for round_ in cell.rounds
    ]
    return _grid(columns, rows)


def _naming(cells: Sequence[Cell]) -> list[Column]:
    """The columns that tell cells apart."""
    common = _in_common(cells)
    columns = [column for column in NAME_COLUMNS if column.key not in common]
    return [*columns, PECULIARITIES] if _are_peculiar(cells) else columns


def _in_common(cells: Sequence[Cell]) -> list[str]:
    """Where it takes more than workload, method and servers to tell cells apart, those of them that
    all cells have in common: they make room.
    """
    if not _are_peculiar(cells):
        return []
    return [key for key in labels.ALWAYS if len({cell.parameters[key] for cell in cells}) == 1]


def _are_peculiar(cells: Sequence[Cell]) -> bool:
    return any(cell.peculiarities for cell in cells)


def _common_facts(cells: Sequence[Cell]) -> list[str]:
    """A line with what _naming() leaves out."""
    facts = [f"{key} {cells[0].parameters[key]}" for key in _in_common(cells)]
    return [f"All cells: {', '.join(facts)}"] if facts else []


def _named(cell: Cell) -> dict[str, Any]:
    parameters = {name: cell.parameters[name] for name in labels.ALWAYS}
    return parameters | {"peculiarities": ", ".join(cell.peculiarities) or MISSING}


def _across_rounds(cells: Sequence[Cell]) -> list[str]:
    """Mean and interval of every cell's valid rounds; nothing where there is one round."""
    if max(len(cell.rounds) for cell in cells) == 1:
        return []
    title = "Mean of the valid rounds with its 95 % interval (t-distribution)"
    columns = [*_naming(cells), *MEAN_COLUMNS]
    return [title, "", *_grid(columns, [_across(cell) for cell in cells]), ""]


def _across(cell: Cell) -> dict[str, Any]:
    return {
        **_named(cell),
        "trace_normalized": cell.predicted("trace_normalized"),
        "paper_normalized": cell.paper["normalized_throughput"],
        "normalized": _interval(cell, "normalized_throughput", ".2f"),
        "trace_imbalance": cell.predicted("trace_imbalance"),
        "paper_imbalance": cell.paper["imbalance_ratio"],
        "imbalance": _interval(cell, "imbalance_ratio", ".3f"),
        "aggregate": _interval(cell, "aggregate_ops_per_s", ",.0f"),
        "valid": f"{len(cell.counted)}/{len(cell.rounds)}",
    }


def _recoveries(cells: Sequence[Cell]) -> list[str]:
    """Nothing where nothing was killed."""
    rows = [_recovered(row) for row in recovery.recovered(cells)]
    if not rows:
        return []
    title = "Recoveries: mean phases; records replayed to servers and switch; paper: to the switch"
    return [title, "", *_grid(RECOVERY_COLUMNS, rows), ""]


def _recovered(row: recovery.Recovered) -> dict[str, Any]:
    def milliseconds(seconds: float | None) -> float | None:
        return None if seconds is None else seconds * 1e3

    phases = dict(zip(recovery.PHASES, map(milliseconds, row.phases_s), strict=True))
    return {
        "label": f"{row.cache_size:,} keys",
        "recoveries": row.recoveries,
        **phases,
        "all": milliseconds(row.total_s),
        "server_rate": row.server_rate,
        "switch_rate": row.switch_rate,
        "paper_rate": row.paper_switch_rate,
    }


def _interval(cell: Cell, column: str, form: str) -> str | None:
    result = cell.measured(column)
    if result is None:
        return None
    mean = format(result.mean, form)
    return mean if result.half_width is None else f"{mean} ±{format(result.half_width, form)}"


def _grid(columns: Sequence[Column], rows: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = [
        [column.head for column in columns],
        *([column.text(row) for column in columns] for row in rows),
    ]
    widths = [max(map(len, texts)) for texts in zip(*lines, strict=True)]
    return [_groups(columns, widths), *(_line(columns, line, widths) for line in lines)]


def _line(columns: Sequence[Column], texts: Sequence[str], widths: Sequence[int]) -> str:
    parts = [
        text.rjust(width) if column.form else text.ljust(width)
        for column, text, width in zip(columns, texts, widths, strict=True)
    ]
    return " ".join(parts).rstrip()


def _groups(columns: Sequence[Column], widths: Sequence[int]) -> str:
    """The headings above neighbouring columns, centred between dashes."""
    parts, index = [], 0
    while index < len(columns):
        group, end = columns[index].group, index + 1
        while group and end < len(columns) and columns[end].group == group:
            end += 1
        width = sum(widths[index:end]) + end - index - 1
        parts.append(f" {group} ".center(width, "-") if end - index > 1 else group.rjust(width))
        index = end
    return " ".join(parts).rstrip()


def _reasons(cells: Sequence[Cell]) -> list[str]:
    lines = []
    for cell in cells:
        name = cell.label.replace(" · ", ", ")
        for round_ in cell.rounds:
            if not round_.valid:
                text = f"{name}, round {round_.number}: {round_.row['verdict']}"
                lines += textwrap.wrap(text, WIDTH, subsequent_indent="  ")
    return [*lines, ""] if lines else []


def _not_checked(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Once each, whatever the cell."""
    rules = dict.fromkeys(row["not_checked"] for row in rows if row["not_checked"])
    return [
        line
        for names in rules
        for line in textwrap.wrap(
            f"Not checked: {names}",
            WIDTH,
            subsequent_indent="  ",
        )
    ]


def _notes(first: Mapping[str, Any], overhead_s: float | None) -> list[str]:
    notes = []
    if first["fidelity_class"] == "emulated":
        notes.append("Emulated testbed: compare ratios with the paper's, never the absolute ops/s.")
    notes.append(
        "Latencies in summary.csv are those of a saturated closed loop: queueing, not service."
    )
    if overhead_s is not None:
        notes.append(
            f"Overhead per iteration (wall - warm-up - measuring), median: {overhead_s:.2f} s"
        )
    return notes
