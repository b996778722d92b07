"""Histograms written by src/stats are read by the PyPI implementation of HdrHistogram."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

HIGHEST = 60_000_000_000
DIGITS = 3

rng = random.Random(20230710)
CASES: dict[str, list[int]] = {
    "empty": [],
    "one value": [1],
    "zero": [0, 0, 7],
    "exact range": list(range(2048)),
    "first value of every bucket": [2048 << shift for shift in range(24)],
    "ends of the range": [0, HIGHEST],
    "large counts": [50_000] * 70_000,
    "lognormal": [int(rng.lognormvariate(11, 1.5)) for _ in range(20_000)],
    "uniform": [rng.randrange(HIGHEST) for _ in range(5_000)],
}


def encode(build_dir: Path, values: Sequence[int]) -> str:
    """The text form that our recorder writes for `values`."""
    program = build_dir / "tests" / "histogram-encode"
    done = subprocess.run(
        [program, str(HIGHEST)],
        input="\n".join(map(str, values)),
        capture_output=True,
        text=True,
        check=True,
        timeout=30,
    )
    return done.stdout.strip()


@pytest.mark.parametrize("name", CASES)
def test_other_library_reads_the_same_distribution(build_dir: Path, name: str) -> None:
    expected = HdrHistogram(1, HIGHEST, DIGITS)
    for value in CASES[name]:
        expected.record_value(value)

    decoded = HdrHistogram.decode(encode(build_dir, CASES[name]))

    assert decoded.get_total_count() == len(CASES[name])
    assert decoded.significant_figures == DIGITS
    assert decoded.highest_trackable_value == HIGHEST
    for percentile in (0, 1, 25, 50, 90, 95, 99, 99.9, 100):
        assert decoded.get_value_at_percentile(percentile) == expected.get_value_at_percentile(
            percentile
        )
    # Also count by count: the two must agree on every bucket.
    assert [decoded.get_count_at_index(i) for i in range(decoded.counts_len)] == [
        expected.get_count_at_index(i) for i in range(expected.counts_len)
    ]


def test_decoded_histograms_merge(build_dir: Path) -> None:
    left, right = CASES["lognormal"], CASES["uniform"]
    merged = HdrHistogram.decode(encode(build_dir, left))
    merged.add(HdrHistogram.decode(encode(build_dir, right)))
    whole = HdrHistogram.decode(encode(build_dir, [*left, *right]))
    assert merged.get_total_count() == whole.get_total_count()
    for percentile in (50, 99, 99.9):
        assert merged.get_value_at_percentile(percentile) == whole.get_value_at_percentile(
            percentile
        )
