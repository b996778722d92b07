"""The seven statements about the paper's shape, each broken alone."""

from __future__ import annotations

from typing import Any

import pytest

from turntable.systems.netclone import shape

from .measured import rows

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


def test_invalid_rows_say_nothing() -> None:
    made = broken("netclone", 0.2, p99_us=110, verdict="invalid: x")
    assert verdicts(made)[0] is True
