"""What a plan says before anything is measured."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core.context import Context
from turntable_core.plan import Plan
from turntable_core.testbed import Testbed
from turntable_systems.shadowfax import SYSTEM, batches

from .conftest import parameters, with_parameters


def test_a_turn_is_one_window(made: Plan) -> None:
    assert made.iteration_count == len(made.turns) == 2
    for turn in made.turns:
        assert turn.prediction is None
        assert turn.iterations[0].label == "1,926 operations a batch, pipeline 2"


def test_a_batch_of_one_operation(contexts: dict[str, Context]) -> None:
    planner = SYSTEM.planner(Path("/nowhere"), 1, lambda: None)
    planned = planner(parameters(batch_operations=1, pipeline=8), 0)
    assert planned.iterations[0].label == "1 operation a batch, pipeline 8"


def test_the_plan_shows_what_the_parameters_come_to(made: Plan) -> None:
    # 16 + 1926 · 17 bytes; 23 pages of 2^20; 2^17 buckets of 64.
    shown = {"batch": "32,758", "log": "24 MB", "index": "8 MB"}
    assert SYSTEM.preview(made.turns[0]) == shown


@pytest.mark.parametrize(("operations", "kib"), [(59, 1), (240, 4), (1926, 32), (61_680, 1024)])
def test_published_batches_are_as_many_requests_as_fit(
    made: Plan, operations: int, kib: int
) -> None:
    def batch_bytes(count: int) -> int:
        turn = made.turns[0]
        cell = replace(turn.cell, parameters=parameters(batch_operations=count))
        return int(SYSTEM.preview(replace(turn, cell=cell))["batch"].replace(",", ""))

    assert batch_bytes(operations) <= kib * 1024 < batch_bytes(operations + 1)


@pytest.mark.parametrize(("value_bytes", "operations"), [(64, 448), (256, 123), (1024, 31)])
def test_longer_values_leave_room_for_fewer_requests(
    made: Plan, value_bytes: int, operations: int
) -> None:
    """In 32 KiB, as the original's: (32,768 - 16) / (9 + value)."""

    def batch_bytes(count: int) -> int:
        return batches.batch_bytes(parameters(value_bytes=value_bytes, batch_operations=count))

    assert batch_bytes(operations) <= 32 * 1024 < batch_bytes(operations + 1)


def test_the_estimate_has_filling_memory_and_disk(contexts: dict[str, Context]) -> None:
    context = contexts["rmw"]
    found = SYSTEM.preparation(context.plan.turns, context.testbed)
    # Two turns of 1,000,000 keys, each by 4 threads of 430,441 keys/s.
    assert found.seconds == pytest.approx(2 * 1e6 / (4 * 430_441), rel=1e-5)
    # Of two servers at a time: 23 pages of 2^20, 2^17 buckets of 64.
    assert found.memory_bytes == 2 * (23 * 1_048_576 + 131_072 * 64)
    assert (found.disk_bytes, found.disk_of) == (0, "")


def test_what_memory_has_no_room_for_is_on_the_disk(contexts: dict[str, Context]) -> None:
    context = with_parameters(contexts["rmw"], memory_share=0.5)
    found = SYSTEM.preparation(context.plan.turns, context.testbed)
    # 12,000,000 bytes at each server, of which 6 pages of 2^20 are in memory.
    assert found.disk_bytes == 2 * (12_000_000 - 6 * 1_048_576)
    assert found.disk_of
    assert found.disk_on == Path("/state")


def test_the_estimate_has_the_sums_that_are_read_from_the_device(
    contexts: dict[str, Context],
) -> None:
    context = with_parameters(contexts["rmw"], memory_share=0.5)

    def seconds(context: Context, testbed: Testbed) -> float:
        return SYSTEM.preparation([context.turn], testbed).seconds

    # 2 · (12,000,000 - 6 · 2^20) bytes of 24 each, of which 40,000 are read in a second.
    filled_s, summed_s = 1e6 / (4 * 430_441), 475_712 / 40_000
    assert seconds(context, context.testbed) == pytest.approx(filled_s + summed_s, rel=1e-5)
    # Upserts replace values, so nobody adds these up.
    upserts = with_parameters(context, workload="a")
    assert seconds(upserts, context.testbed) == pytest.approx(filled_s, rel=1e-5)
    # Servers that are machines of their own read at once.
    rack = replace(context.testbed, fidelity_class="hardware")
    assert seconds(context, rack) == pytest.approx(filled_s + summed_s / 2, rel=1e-5)


def test_another_store_takes_memory_for_all_keys(contexts: dict[str, Context]) -> None:
    context = with_parameters(contexts["rmw"], store="memcached", memory_share=0.5)
    found = SYSTEM.preparation(context.plan.turns, context.testbed)
    # Of two servers: 500,000 keys of 120 bytes are 58 MiB, twice, and 64 MiB.
    assert found.memory_bytes == 2 * (64 + 2 * 58) * 1_048_576
    assert found.disk_bytes == 0
    assert SYSTEM.preview(context.turn)["log"] == "-"


def test_on_a_rack_the_memory_is_that_of_other_machines(contexts: dict[str, Context]) -> None:
    context = contexts["rmw"]
    rack = replace(context.testbed, fidelity_class="hardware")
    found = SYSTEM.preparation(context.plan.turns, rack)
    assert (found.memory_bytes, found.memory_of, found.disk_on) == (0, "", None)


@pytest.mark.parametrize(
    ("changes", "is_said"),
    [
        ({}, False),
        ({"memory_share": 0.5}, True),
        # All data fit, but not into the part that is changed in place: 0.9 · 12 pages.
        ({"memory_share": 1}, True),
        ({"memory_share": 0.5, "workload": "c"}, False),
        ({"memory_share": 0.5, "store": "redis"}, False),
    ],
)
def test_a_log_that_grows_on_the_device_is_said(changes: dict[str, object], is_said: bool) -> None:
    notes = SYSTEM.notes([parameters(**changes)])
    assert bool(notes) == is_said
    assert all("grows as long as a turn lasts" in note for note in notes)
