"""What servers of a capacity do before and after keys move, by hand."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from turntable.raw import COLLECT, RawAnswer
from turntable.systems.shadowfax import capacity, summary
from turntable.systems.shadowfax.measurement import Measurement
from turntable.systems.shadowfax.raw import read_answers
from turntable.systems.shadowfax.rules import RULES
from turntable.verdict import Case, judge

from .measured import (
    PARAMETERS,
    VALIDITY,
    WINDOW_FROM_NS,
    answers,
    client_stats,
    sample,
    server_stats,
)

QUARTER = 2**62
# 20 samples of 100 ms. A server does 1,000 operations/s: 100 in a sample. With a quarter of the
# keys at the second one, all do 1,000 / 0.75 = 1,333 operations/s.
BEFORE, AFTER = sample(100, 0), sample(100, 33)
CLUSTER: dict[str, Any] = {
    "cluster": True,
    "owners": 1,
    "capacity_per_s": 1000,
    "move_share": 0.25,
    "sample_s": 0.1,
    "indirection": True,
    "distribution": "uniform",
}


def found(
    after: dict[str, Any] = AFTER,
    last_step: str = "complete",
    earlier: Sequence[dict[str, Any]] = (),
    **steps_ns: int,
) -> Measurement:
    """Keys begin to move after 0.9 s, and are there 0.2 s later. earlier: migrations from the same
    server.
    """
    told = {"prepare": 900_000_000, "owned": 950_000_000, "complete": 1_100_000_000} | steps_ns
    steps = {f"{step}_ns": WINDOW_FROM_NS + at for step, at in told.items()}
    if last_step != "complete":
        del steps["complete_ns"]
    departure = {"id": 1, "step": last_step, "records": 250, "sampled": 40, **steps}
    departure["indirections"] = 30
    samples = [BEFORE] * 9 + [sample(10, 10)] + [AFTER] * 3 + [after] * 7
    client = client_stats(
        sample_ns=100_000_000,
        samples=samples,
        operations=sum(one["operations"] for one in samples),
    )
    cluster = {"number": 0, "view": 2, "fetched": 0, "departures": [*earlier, departure]}
    server = server_stats(cluster=cluster)
    made = answers(
        client, server_stats(cluster={"number": 1, "view": 2, "fetched": 70, "departures": []})
    )
    for index, one in enumerate(made):
        if (one.host, one.command) == ("server0", "stats"):
            made[index] = RawAnswer("server0", COLLECT, "hlserver-node", "stats", server)
    state = {
        "view": {"number": 2, "parts": [[0, 1], [QUARTER, 0]]},
        "members": [{"server": 0}, {"server": 1}],
    }
    made.append(RawAnswer("server0", COLLECT, "hlmeta-node", "stats", state))
    return read_answers(made, 0, 1.0)


def reasons(measurement: Measurement, **parameters: Any) -> tuple[str, ...]:
    given = PARAMETERS | CLUSTER | parameters
    return judge(RULES, Case([measurement], 1, VALIDITY, given, "emulated")).reasons


def test_the_busier_server_decides() -> None:
    measurement = found()
    assert measurement.shares == [0.75, 0.25]
    phases = capacity.phases(measurement, CLUSTER | {"servers": 2})
    rates = {
        name: capacity.predicted_ops_per_s(phase, PARAMETERS | CLUSTER)
        for name, phase in phases.items()
    }
    assert rates == {"before": pytest.approx(1000), "after": pytest.approx(1000 / 0.75)}
    assert capacity.ops_per_s(measurement, phases["before"]) == pytest.approx(1000)
    assert capacity.ops_per_s(measurement, phases["after"]) == pytest.approx(1330)
    assert capacity.ops_per_s(measurement, phases["after"], 1) == pytest.approx(330)
    assert reasons(measurement) == ()


def test_a_row_says_how_keys_moved() -> None:
    row = summary.values(Case([found()], 1, VALIDITY, PARAMETERS | CLUSTER, "emulated"))
    assert (row["cut_ms"], row["complete_ms"]) == (pytest.approx(50), pytest.approx(200))
    # 20 operations in the worst sample, 100 in those before.
    assert row["dip_share"] == pytest.approx(0.2)
    assert row["sampled_records"] == 40
    assert (row["indirections"], row["fetched_records"]) == (30, 70)
    assert (row["moved_records"], row["silent_ms"]) == (250, pytest.approx(0.5))


def test_a_server_that_is_not_busy_says_nothing_of_its_capacity() -> None:
    # Of the samples after 1.3 s all have 96 operations of the busier server: 4 % less.
    (reason,) = reasons(found(after=sample(96, 32)))
    assert "the busier server was not at its capacity" in reason
    # Which server is the busier one of Zipfian keys their number does not say.
    assert reasons(found(after=sample(96, 32)), distribution="zipfian") == ()


def test_keys_that_did_not_all_move() -> None:
    (reason,) = reasons(found(last_step="moving"))
    assert "keys did not all move" in reason


def test_all_migrations_of_a_server_are_judged() -> None:
    earlier = {"id": 1, "step": "cancelled", "why": "no space", "prepare_ns": WINDOW_FROM_NS}
    earlier["cancelled_ns"] = WINDOW_FROM_NS + 1
    measurement = found(earlier=[earlier])
    assert [one.complete for one in measurement.migrations] == [False, True]
    (reason,) = reasons(measurement)
    assert "keys did not all move; the last step was 'cancelled': no space" in reason


def test_a_server_of_an_earlier_version_tells_its_last_migration() -> None:
    client = client_stats()
    departure = {"id": 1, "step": "complete", "complete_ns": WINDOW_FROM_NS}
    for told, complete in ((departure, [True]), (None, [])):
        server = server_stats(cluster={"number": 0, "view": 2, "departure": told})
        measurement = read_answers(answers(client, server)[:2], 0, 1.0)
        assert [one.complete for one in measurement.migrations] == complete
