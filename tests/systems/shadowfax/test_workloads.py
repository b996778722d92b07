"""Mixes of operations, and what follows from them."""

from __future__ import annotations

from fractions import Fraction

import pytest

from turntable_systems.shadowfax import workloads

from .conftest import parameters


@pytest.mark.parametrize(
    ("workload", "percents"),
    # Reads, upserts, additions. The original's own for rmw, a, b, c and d; YCSB's for f.
    [
        ("rmw", (0, 0, 100)),
        ("a", (50, 50, 0)),
        ("b", (95, 5, 0)),
        ("c", (100, 0, 0)),
        ("d", (95, 5, 0)),
        ("f", (50, 0, 50)),
    ],
)
def test_shares_of_the_operations(workload: str, percents: tuple[int, int, int]) -> None:
    mix = workloads.mix(parameters(workload=workload))
    shares = [Fraction(str(mix[operation])) for operation in ("read", "upsert", "add")]
    assert shares == [Fraction(percent, 100) for percent in percents]
    assert sum(shares) == 1


def test_values_add_up_where_nothing_is_replaced() -> None:
    kept = {name for name in workloads.MIXES if workloads.keeps_sums({"workload": name})}
    assert kept == {"rmw", "c", "f"}
    assert [name for name in workloads.MIXES if not workloads.writes({"workload": name})] == ["c"]


def test_theta_is_of_zipfian_keys_alone() -> None:
    alone = parameters(distribution="uniform", cluster=True)
    assert workloads.meaningless(alone) == {"theta", "splits"}
    assert workloads.meaningless(parameters(distribution="zipfian", cluster=True)) == {"splits"}


def test_ranges_are_of_a_check_that_looks_at_them() -> None:
    checked = parameters(distribution="zipfian", cluster=True, range_check="splits")
    assert workloads.meaningless(checked) == set()


def test_servers_that_own_their_keys_for_good_have_no_checkpoints() -> None:
    found = workloads.meaningless(parameters(distribution="zipfian"))
    assert found == {*("owners", "checkpoint_s", "move_share", "sample_s", "indirection", "splits")}
