"""The seven statements about the paper's shape, each broken alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from turntable.load import load_run
from turntable.results import CellResult
from turntable.systems.netclone import shape
from turntable.verdict import Verdict

from .made_run import make_run
from .measured import histogram, rows

# p99 in us of a queueing model of 4 x 8, and shares of cloned requests (netclone reference, §12).
LOADS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)
P99 = {
    "noclone": (149, 150, 149, 151, 158, 161, 365, 591),
    "cclone": (64, 67, 93, 1717, None, None, None, None),
    "netclone": (65, 77, 100, 120, 136, 157, 240, 533),
    "netclone-racksched": (65, 75, 93, 110, 127, 139, 147, 200),
}
CLONED = (1.0, 0.97, 0.85, 0.7, 0.53, 0.35, 0.2, 0.08)


def model() -> list[dict[str, Any]]:
    made = [
        {
            "method": method,
            "load": load,
            "p99_us": p99 or 20_000,
            "state": "steady" if p99 else "saturated",
            "clone_rate": cloned if method.startswith("netclone") else None,
            "filter": True if method.startswith("netclone") else None,
            "clones_dropped_share": 0.1,
        }
        for method, values in P99.items()
        for load, p99, cloned in zip(LOADS, values, CLONED, strict=True)
    ]
    leaky = {"method": "netclone", "load": 0.3, "p99_us": 80, "clone_rate": 0.97, "filter": False}
    made.append(leaky | {"redundant_share": 0.88, "clones_dropped_share": 0.1})
    for load in (0.02, 0.06, 0.1, 0.14):
        least = min(load, 0.094)
        made.append(
            {
                "method": "laedge",
                "laedge_mode": "binary",
                "load": load,
                "p99_us": 100,
                "state": "steady" if load < 0.094 else "saturated",
                "offered_rps": load * 1e6,
                "delivered_rps": least * 1e6,
            }
        )
    return rows(made)


def broken(method: str, load: float, **changes: Any) -> list[dict[str, Any]]:
    made = model()
    (row,) = (
        r for r in made if (r["method"], r["load"], r["filter"] is False) == (method, load, False)
    )
    row.update(changes)
    return made


def verdicts(made: list[dict[str, Any]]) -> list[bool | None]:
    return [finding.holds for finding in shape.findings(made)]


def test_a_queueing_model_has_the_shape() -> None:
    wrong = [finding for finding in shape.findings(model()) if finding.holds is not True]
    assert wrong == []


@pytest.mark.parametrize(
    ("statement", "made"),
    [
        (1, broken("netclone", 0.2, p99_us=110)),
        (2, broken("cclone", 0.7, p99_us=170, state="steady")),
        (2, broken("cclone", 0.4, state="saturated")),
        (3, broken("netclone", 0.6, p99_us=167)),
        (3, broken("netclone", 0.6, mean_us=32.0)),
        (4, broken("netclone-racksched", 0.9, p99_us=570)),
        (5, broken("laedge", 0.14, delivered_rps=0.14e6)),
        (6, broken("netclone", 0.9, clone_rate=0.25)),
        (7, broken("netclone", 0.5, redundant_share=0.01)),
    ],
)
def test_a_row_that_does_not_fit_breaks_its_statement(
    statement: int, made: list[dict[str, Any]]
) -> None:
    holds = verdicts(made)
    assert holds[statement - 1] is False
    assert shape.findings(made)[statement - 1].details


@pytest.mark.parametrize(
    ("name", "others"), [("scan_share", 0.1), ("service_mean_us", 50.0), ("clients", 8)]
)
def test_cells_that_differ_in_more_than_the_method_are_not_compared(
    name: str, others: float
) -> None:
    """NetClone is slower than NoClone, of one of the two."""
    apart = [
        *broken("netclone", 0.6, p99_us=167),
        *({**row, name: others} for row in model()),
    ]
    assert verdicts(apart)[2] is False


def test_without_the_filter_every_pair_must_be_answered_twice() -> None:
    made = model()
    (leaky,) = (row for row in made if row["filter"] is False)
    leaky["redundant_share"] = 0.1
    assert verdicts(made)[6] is False


def test_a_run_that_has_nothing_to_say_says_nothing() -> None:
    assert verdicts([]) == [None] * 7
    assert verdicts(rows([{"method": "noclone", "load": 0.5, "p99_us": 1}])) == [
        *[None] * 6,
        None,
    ]


def rounds_of(cell: CellResult, changes: Sequence[Mapping[str, Any]]) -> CellResult:
    """Rounds like the cell's only one, but for so much; p99_us: what all latencies are."""
    (turn,) = cell.turns
    turns = []
    for index, changed in enumerate(changes):
        row = turn.row | {"round": index} | dict(changed)
        made = replace(turn, row=row, verdict=Verdict(tuple(row.pop("broken", ()))))
        us = row["p99_us"] * cell.parameters["dilation"]
        turns.append(replace(made, histograms=((histogram({us: 1000}), 1.0),)))
    return replace(cell, turns=tuple(turns))


@pytest.fixture(scope="module")
def low_load(tmp_path_factory: pytest.TempPathFactory) -> dict[str, CellResult]:
    levels = {"distribution": ["exp25"], "load": [0.3], "method": ["noclone", "cclone", "netclone"]}
    run = load_run(make_run(tmp_path_factory.mktemp("results"), **levels))
    return {cell.parameters["method"]: cell for cell in run.cells}


@pytest.mark.parametrize("order", [(100, 300), (300, 100)])
def test_all_valid_rounds_count_whichever_is_the_last(
    low_load: dict[str, CellResult], order: tuple[int, int]
) -> None:
    rounds = [{"p99_us": us, "clone_rate": us / 1000} for us in order]
    (row,) = shape.rows_of([rounds_of(low_load["netclone"], rounds)])
    # Half of the latencies of one histogram of both rounds are 300 us.
    assert row["p99_us"] == pytest.approx(300, rel=0.01)
    assert row["mean_us"] == pytest.approx(200, rel=0.01)
    assert row["clone_rate"] == pytest.approx(0.2)
    cells = [
        rounds_of(low_load["noclone"], [{"p99_us": 200}, {"p99_us": 200}]),
        rounds_of(low_load["cclone"], [{"p99_us": 100}, {"p99_us": 100}]),
        rounds_of(low_load["netclone"], rounds),
    ]
    assert verdicts(shape.rows_of(cells))[0] is False


def test_a_cell_with_a_saturated_round_is_saturated(low_load: dict[str, CellResult]) -> None:
    rounds = [{"p99_us": 100, "state": state} for state in ("saturated", "steady")]
    (row,) = shape.rows_of([rounds_of(low_load["cclone"], rounds)])
    assert row["state"] == "saturated"


def test_invalid_rounds_say_nothing(low_load: dict[str, CellResult]) -> None:
    invalid = {"p99_us": 300, "broken": ("x",)}
    (row,) = shape.rows_of([rounds_of(low_load["netclone"], [{"p99_us": 100}, invalid])])
    assert row["p99_us"] == pytest.approx(100, rel=0.01)
    assert shape.rows_of([rounds_of(low_load["netclone"], [invalid])]) == []
