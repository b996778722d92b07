"""Several million draws of YCSB 0.17.0, unseeded, against our predictions and traces.

Every comparison is a chi-square statistic against the bound of Laurent and Massart (Annals of
Statistics 2000, lemma 1): P(chi2_k > k + 2 sqrt(k x) + 2 x) <= exp(-x). With x = 16 a comparison
raises a false alarm once in 10^7 runs.
"""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

DRAWS = 4_000_000
PARTITIONS = 128
X = 16

Analyze = Callable[..., subprocess.CompletedProcess[str]]


def bound(degrees: int) -> float:
    return degrees + 2 * math.sqrt(degrees * X) + 2 * X


def excess(counts: Sequence[int], shares: Sequence[float]) -> float:
    """Chi-square of the counts against the expected shares, relative to its bound."""
    total = sum(counts)
    used = [(n, total * share) for n, share in zip(counts, shares, strict=True)]
    common = [(n, expected) for n, expected in used if expected >= 20]
    rest = (total - sum(n for n, _ in common), total - sum(expected for _, expected in common))
    if rest[1] >= 20:
        common.append(rest)
    chi_square = sum((n - expected) ** 2 / expected for n, expected in common)
    return chi_square / bound(len(common) - 1)


def excess_of_two(a: Sequence[int], b: Sequence[int]) -> float:
    """The same for two samples of one distribution."""
    ratio = math.sqrt(sum(b) / sum(a))
    chi_square = sum((m * ratio - n / ratio) ** 2 / (m + n) for m, n in zip(a, b, strict=True))
    return chi_square / bound(len(a) - 1)


@pytest.fixture(scope="module")
def samples(crosscheck: Callable[..., list[str]]) -> dict[str, list[int]]:
    names = ("zipfian", "uniform", "ranks", "ages")
    lines = crosscheck("samples", str(DRAWS))
    return {name: [int(n) for n in line.split()] for name, line in zip(names, lines, strict=True)}


@pytest.fixture(scope="module")
def analysis(workload_analyze: Analyze) -> Callable[..., dict]:
    def run(*arguments: str) -> dict:
        scales = ("--scales", str(PARTITIONS), "--format", "json")
        done = workload_analyze(*arguments, *scales)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)["scales"][0]

    return run


def test_zipfian_partitions(samples: dict, analysis: Callable[..., dict]) -> None:
    ours = analysis("--workload", "workloada", "--trace", "--operations", str(DRAWS))
    traced = [partition["total"] for partition in ours["trace"]["partitions"]]
    assert excess(samples["zipfian"], ours["shares"]) < 1
    assert excess(traced, ours["shares"]) < 1
    assert excess_of_two(samples["zipfian"], traced) < 1


def test_zipfian_partitions_of_another_skew_are_refused(
    samples: dict, analysis: Callable[..., dict]
) -> None:
    other = analysis("--workload", "workloada", "--theta", "0.985")
    assert excess(samples["zipfian"], other["shares"]) > 1


def test_uniform_partitions(samples: dict, analysis: Callable[..., dict]) -> None:
    ours = analysis("--workload", "uniform", "--trace", "--operations", str(DRAWS))
    traced = [partition["total"] for partition in ours["trace"]["partitions"]]
    assert excess(samples["uniform"], ours["shares"]) < 1
    assert excess_of_two(samples["uniform"], traced) < 1


def rank_shares(
    evaluate: Callable[[list[str]], list[str]], items: int, theta: float
) -> list[float]:
    """Probabilities of the bins of Samples.java; 0 items: the scrambled zipfian's."""
    edges = list(range(64)) + [64 * 2**i for i in range(65)]
    edges = [min(edge, 2**63) for edge in edges]
    below = [float(p) for p in evaluate([f"cumulative {items} {theta} {edge}" for edge in edges])]
    return [high - low for low, high in pairwise(below)]


def test_zipfian_ranks(samples: dict, evaluate: Callable[[list[str]], list[str]]) -> None:
    assert excess(samples["ranks"], rank_shares(evaluate, 0, 0.99)) < 1
    assert excess(samples["ranks"], rank_shares(evaluate, 0, 0.98)) > 1


def test_ages_of_latest(samples: dict, evaluate: Callable[[list[str]], list[str]]) -> None:
    # YCSB counts one item fewer than there are records: the newest key number.
    assert excess(samples["ages"], rank_shares(evaluate, 99_999, 0.99)) < 1
    assert excess(samples["ages"], rank_shares(evaluate, 99_999, 0.98)) > 1
