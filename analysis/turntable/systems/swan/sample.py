"""The sample profile that Swan ships, of hardware that nobody names (docs/swan-store.md)."""

from __future__ import annotations

import csv
from functools import cache

from turntable.results import EXPERIMENTS
from turntable.systems.swan.rendering import FAIL, Look, final_rule
from turntable.systems.swan.tables import Coloured

FILE = EXPERIMENTS / "reference" / "swan_sample_profile.csv"
PEAK_PER_S, SLO_US = 500_000, 500
TITLE = (
    f"Swan's shipped sample, other hardware: p99 in % of an SLO of {SLO_US} µs, peak "
    f"{PEAK_PER_S:,} requests/s"
)
_BEYOND = ">300"  # no number was published

Row = dict[int, str]  # load (requests/s) -> percent of the SLO, >300 or FAIL


@cache
def sample() -> dict[str, Row]:
    """Aggressor -> its row."""
    found: dict[str, Row] = {}
    with FILE.open(newline="", encoding="utf-8") as lines:
        for row in csv.DictReader(lines):
            by_load = found.setdefault(row["aggressor"], {})
            by_load[int(row["load_per_s"])] = row["percent_of_slo"]
    return found


def percent(text: str) -> float | None:
    """None where the table has no number."""
    return None if text in (_BEYOND, FAIL) else float(text)


def sample_table() -> Coloured:
    rows = [
        (name, [(_look(text), "published") for text in row.values()])
        for name, row in sample().items()
    ]
    heads = [f"{load // 1000}k" for load in next(iter(sample().values()))]
    return Coloured(TITLE, heads, rows)


def _look(text: str) -> Look:
    if text == FAIL:
        return final_rule(1.0, SLO_US, 0.0)
    share = percent(text)
    return final_rule(4 * SLO_US if share is None else share / 100 * SLO_US, SLO_US, 1.0)
