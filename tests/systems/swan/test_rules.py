"""Each rule, broken alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from turntable.measurement import HostLoad
from turntable.systems.swan.measurement import Measurement
from turntable.systems.swan.rules import MACHINE_RULES, RULES, drift, reasons_of
from turntable.verdict import Case, Verdict, judge

from .measured import (
    PARAMETERS,
    VALIDITY,
    aggressor_stats,
    client_stats,
    colocator_stats,
    histogram,
    measurement,
    probe,
)


def case_of(*measurements: Measurement, **bounds: Any) -> Case:
    return Case(
        measurements, len(measurements), VALIDITY | bounds, PARAMETERS, fidelity_class="emulated"
    )


def judged(found: Measurement) -> Verdict:
    return judge(RULES, case_of(found))


def of_client(**changes: Any) -> Measurement:
    return measurement(client_stats(**changes))


def of_thread(**changes: Any) -> Measurement:
    return of_client(threads=[client_stats()["threads"][0] | changes])


def of_colocator(aggressor: Mapping[str, Any] | None = None, **changes: Any) -> Measurement:
    return measurement(colocator=colocator_stats(aggressor, **changes))


HEALTHY = measurement()


def test_a_healthy_measurement_is_valid_and_all_rules_are_checked() -> None:
    assert (judged(HEALTHY).reasons, judged(HEALTHY).not_checked) == ((), {})


def test_a_load_that_was_not_reached_is_a_result() -> None:
    assert judged(of_client(achieved=0.3, lost=100, unsent=1000, withheld=3000)).valid


ERRORS = client_stats()["errors"]
BROKEN = {
    "errors": (
        of_client(errors=ERRORS | {"out_of_memory": 3}),
        "errors were counted: generator out_of_memory 3",
    ),
    "memcached": (
        of_colocator(memcached=colocator_stats()["memcached"] | {"restarted": True}),
        "memcached restarted in 1 of 1 iterations",
    ),
    "aggressor": (
        of_colocator(aggressor_stats("busy", ended_early="exited with status 1")),
        "an aggressor, or a part of it, ended early in 1 of 1 iterations: busy exited",
    ),
    "aggressor idle": (
        of_colocator(aggressor_stats("busy") | {"user_ns": 0, "system_ns": 0}),
        "an aggressor used no processor time in 1 of 1 iterations: busy",
    ),
    "misses": (of_client(misses=5), "GETs missed (share of them): up to 0.001"),
    # 5,000 are due; four standard deviations are 5.7 %, and 2 % is allowed beyond.
    "offered": (of_client(offered=4_600), "up to 0.0234 in 1 of 1 iterations (at most 0.02)"),
    # 10 % of the SLO are 500 µs; 2 % of the requests were later.
    "sent late": (
        of_client(send_late_ns=histogram({20: 980, 600: 20})),
        "requests were sent late (99th percentile, share of the SLO): up to 0.12",
    ),
    "NIC drops": (
        replace(HEALTHY, hosts=(HostLoad("server0", 0.0, 6),)),
        "network interfaces dropped packets (share of requests): up to 0.001",
    ),
    # Half of the warm-up.
    "late start": (of_thread(start_lateness_ns=600_000_000), "clients started late (µs)"),
    # 5 % of the window are 250 ms.
    "late end": (of_thread(window_lateness_ns=260_000_000), "clients closed the window late"),
    "clients starved": (
        of_thread(scheduling={"ran_ns": 0, "waited_ns": 3 * 10**9}),
        "a generator's thread waited for a processor (share of the time): up to 0.6",
    ),
    "others": (of_colocator(others_share=0.3), "others used the processors (share of their time)"),
    # 130 after 100.
    "probe": (of_colocator(probe=probe(130.0)), "up to 0.3 in 1 of 1 iterations (at most 0.25)"),
    "steal": (
        replace(HEALTHY, hosts=(HostLoad("server0", 0.06, 0),)),
        "processors of a host were stolen (share of their time): up to 0.06",
    ),
}


def test_every_rule_has_its_case() -> None:
    assert list(BROKEN) == list(RULES)
    assert MACHINE_RULES & RULES.keys() == {
        *("sent late", "late start", "late end", "clients starved", "others", "steal")
    }


@pytest.mark.parametrize("name", BROKEN)
def test_broken_alone(name: str) -> None:
    found, expected = BROKEN[name]
    (reason,) = judged(found).reasons
    assert expected in reason
    others = {rule: RULES[rule] for rule in RULES if rule != name}
    assert judge(others, case_of(found)).valid


def test_a_job_that_tells_no_progress_may_sleep() -> None:
    asleep = aggressor_stats("placebo", None) | {"user_ns": 0, "system_ns": 0}
    assert judged(of_colocator(asleep)).valid


def test_chance_is_no_fault() -> None:
    """5.7 % are four standard deviations of 5,000 arrivals, and 2 % is allowed beyond."""
    assert judged(of_client(offered=4_625)).valid


def test_a_window_that_was_stopped_is_an_error() -> None:
    assert judged(of_client(complete=False)).reasons == (
        "errors were counted: generator window incomplete 1",
    )


def test_without_bounds_nothing_is_checked_that_has_one() -> None:
    verdict = judge(RULES, Case([HEALTHY], 1, {}, PARAMETERS, "emulated"))
    assert verdict.reasons == ()
    assert sorted(verdict.not_checked) == sorted(
        RULES.keys() - {"errors", "memcached", "aggressor", "aggressor idle", "NIC drops"}
    )


def test_nodes_that_do_not_remember_the_first_probe() -> None:
    verdict = judged(of_colocator(first_probe=None, probe=probe(500.0)))
    assert verdict.reasons == ()
    assert verdict.not_checked == {
        "probe": "the raw files do not have the probe of the run's first turn"
    }


def test_drift_compares_what_both_probes_have() -> None:
    before, after = of_colocator(probe=probe(100.0)).probe, of_colocator(probe=probe(80.0)).probe
    assert drift(before, after) == pytest.approx(0.25)
    assert drift(before[:1], after[1:]) is None


def test_what_others_have_a_part_of_is_no_drift() -> None:
    """A chase beside another processor's work, and a stream through the memory of all."""
    noisy = probe(90.0)
    (beside,) = [row for row in noisy["rows"] if row["beside"]]
    beside["ns_per_step"] *= 4
    (shared,) = [row for row in noisy["rows"] if row.get("shared")]
    shared["gb_per_s"] /= 2
    assert judged(of_colocator(first_probe=probe(100.0), probe=noisy)).reasons == ()


def test_each_iteration_is_judged_by_itself() -> None:
    late = of_client(send_late_ns=histogram({600: 100}))
    case = case_of(HEALTHY, late)
    assert reasons_of(HEALTHY, case) == ()
    assert len(reasons_of(late, case)) == 1
    assert "in 1 of 2 iterations" in judge(RULES, case).reasons[0]
