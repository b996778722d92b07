"""Control-plane bandwidth and the cost of snapshots, from numbers that are made up."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable.raw import BEGIN, RawAnswer
from turntable.systems.farreach import bandwidth, control_plane
from turntable.systems.farreach.measurement import ControlPlane
from turntable.verdict import Case
from turntable_systems.farreach.methods import answers_everything

from .test_verdict import BOUNDS, HALF_AS_MUCH, client, judged, measurement

MIB = 2**20
# Two snapshots of 3 MiB in messages, and 1 MiB of CASE1 for both together.
SENT = ControlPlane(
    elapsed_s=8.0,
    snapshots=(3 * MIB, 3 * MIB),
    until_s=5.6,
    case1_bytes=MIB,
    admission_bytes=3 * MIB,
    eviction_bytes=MIB,
)


def test_bytes_by_the_period_as_the_paper_counts_them() -> None:
    # 3.5 MiB in 2.5 s, and 4 MiB of admissions and evictions in 8 s.
    assert bandwidth.by_period(SENT, 2.5) == pytest.approx(3.5 / 2.5 + 4 / 8)


def test_bytes_by_the_time_that_they_really_took() -> None:
    assert bandwidth.by_elapsed(SENT, 2.5) == pytest.approx(7 / 5.6 + 4 / 8)


def test_without_snapshots_there_are_admissions_and_evictions_alone() -> None:
    none = replace(SENT, snapshots=(), until_s=None, case1_bytes=0)
    assert bandwidth.by_period(none, 0) == bandwidth.by_elapsed(none, 0) == 4 / 8


def test_a_period_without_a_complete_snapshot_has_no_bandwidth() -> None:
    none = replace(SENT, snapshots=(), until_s=None)
    assert bandwidth.by_period(none, 2.5) is None
    assert bandwidth.by_elapsed(none, 2.5) is None


def answer(node: str, command: str, phase: str, **result: object) -> RawAnswer:
    return RawAnswer("server0", phase, node, command, result)


def controller(at_s: float, admission: int, eviction: int, *complete: dict) -> dict:
    return {
        "at_ns": round(at_s * 1e9),
        "admission_bytes": admission,
        "eviction_bytes": eviction,
        "snapshots": {"complete": list(complete)},
    }


def snapshot(ended_s: float, sent: int, received: int) -> dict:
    return {"ended_at_ns": round(ended_s * 1e9), "sent_bytes": sent, "received_bytes": received}


def test_what_grew_between_begin_and_end_is_of_the_iteration() -> None:
    of_before, first, second = snapshot(1, 9, 9), snapshot(13, 10, 90), snapshot(15.5, 20, 80)
    answers = [
        answer("cache-controller", "settings", BEGIN, snapshot_from_ns=10_500_000_000),
        answer("cache-controller", "stats", BEGIN, **controller(10, 100, 30, of_before)),
        answer("switch-agent", "stats", BEGIN, snapshots={"case1_reports": 7}),
        answer("cache-controller", "stats", "collect", **controller(18, 150, 70, first, second)),
        answer("switch-agent", "stats", "collect", snapshots={"case1_reports": 9}),
    ]
    assert control_plane.read(answers) == ControlPlane(
        elapsed_s=8.0,
        snapshots=(100, 100),
        until_s=5.0,
        case1_bytes=2 * 184,
        admission_bytes=50,
        eviction_bytes=40,
    )
    assert control_plane.read(answers[3:]) is None  # runs of before asked at the end only


def case(**parameters: object) -> Case:
    made = {"method": "farreach", "capacity_ops_per_s": 1000, "snapshot_period_s": 2.5}
    measured = measurement(control_plane=SENT, switch_ns_per_op=3000.0, client_ns_per_op=2000.0)
    return Case([measured], 1, BOUNDS, made | parameters, "emulated", HALF_AS_MUCH)


def test_columns_are_those_of_the_cell() -> None:
    row = bandwidth.columns(case())
    assert row["bandwidth_mib_per_s"] == pytest.approx(3.5 / 2.5 + 4 / 8)
    assert row["snapshot_mib"] == 3.5
    assert row["hits_per_s"] is row["switch_ns_per_op"] is None  # the servers limit it
    free = bandwidth.columns(case(capacity_ops_per_s=0))
    assert (free["hits_per_s"], free["switch_ns_per_op"], free["client_ns_per_op"]) == (
        0, 3000, 2000,
    )  # fmt: skip
    assert bandwidth.columns(case(method="nocache"))["bandwidth_mib_per_s"] is None


def test_time_of_a_switch_that_tells_none_is_no_number() -> None:
    measured = measurement(switch_ns_per_op=None, client_ns_per_op=2000.0)
    row = bandwidth.columns(replace(case(capacity_ops_per_s=0), measurements=[measured]))
    assert row["switch_ns_per_op"] is None
    assert row["client_ns_per_op"] == 2000


ALL_CACHED = {"method": "farreach", "capacity_ops_per_s": 0, "cache_size": 100, "records": 100}


@pytest.mark.parametrize(
    "other", [{"method": "netcache"}, {"capacity_ops_per_s": 1}, {"records": 101}]
)
def test_a_switch_that_answers_everything_needs_no_busy_server(other: dict) -> None:
    assert answers_everything(ALL_CACHED)
    assert not answers_everything(ALL_CACHED | other)


def test_servers_that_had_to_answer_all_the_same_are_seen_by_the_hit_share() -> None:
    def verdict(by_server: int) -> str:
        hits = replace(client(by_server), switch_ops=1000)
        prediction = replace(
            HALF_AS_MUCH, trace=replace(HALF_AS_MUCH.trace, shares=(0.0, 0.0, 0.0, 0.0))
        )
        made = measurement(clients={3: hits, 0: hits}, switch_hits=2200, cached_set=("a", "a"))
        return str(judged(made, capacity=0, prediction=prediction, **(ALL_CACHED | {
            "client_copies": False, "snapshot_period_s": 0})))  # fmt: skip

    assert "not the bottleneck" not in verdict(0)
    assert "answered" not in verdict(0)
    assert "the switch answered" in verdict(20)
