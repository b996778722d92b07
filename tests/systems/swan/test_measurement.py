"""Raw answers, by the nodes' contract, to a measurement."""

from __future__ import annotations

import pytest

from turntable.percentiles import percentile_us
from turntable.systems.swan.profile import sli_us
from turntable.systems.swan.raw import read_answers

from .measured import (
    PARAMETERS,
    aggressor_stats,
    answers_of,
    client_stats,
    colocator_stats,
    histogram,
    host_stats,
    measurement,
    probe,
)


def test_rates_and_shares_of_one_client() -> None:
    found = measurement(client_stats(rate_per_s=1_000, achieved=0.85))
    assert found.seconds == 5
    assert found.generator.offered == 5_000
    assert found.achieved_per_s == 850
    assert found.achieved_share == 0.85
    assert found.generator.wait_share == 0.02
    assert (found.start_lateness_us, found.end_lateness_us) == (50, 50)


def test_what_chance_did_not_draw_is_no_load_that_was_missed() -> None:
    """44 of 50 arrivals were drawn, 42 answered: 95 % of what was offered, 84 % of the target."""
    found = measurement(client_stats(rate_per_s=10) | {"offered": 44, "delivered": 42})
    assert found.achieved_per_s == 42 / 5
    assert found.achieved_share == pytest.approx(42 / 44)


def test_two_clients_are_added_up() -> None:
    answers = answers_of(client_stats(rate_per_s=400), colocator_stats())
    other = answers_of(client_stats(rate_per_s=600, achieved=0.5), colocator_stats())[1]
    data = {"aggressor": "placebo", "load": 0.1, "load_index": 3}
    found = read_answers([*answers, other], 7, data, None)
    assert found.generator.target_per_s == 1_000
    assert found.achieved_per_s == 400 + 300
    assert len(found.generator.latency_ns) == 2
    assert (found.iteration, found.place.index, found.place.repeat) == (7, 3, 0)


def test_the_percentile_is_that_of_the_histograms_merged() -> None:
    """990 of 1,000 take 100 µs at one client, 980 at the other: p99 of all is the 1,980th."""
    texts = (histogram({100: 990, 300: 10}), histogram({100: 980, 300: 20}))
    assert percentile_us(texts, 98.5) == pytest.approx(100, rel=1e-3)
    assert percentile_us(texts, 99) == pytest.approx(300, rel=1e-3)


def test_requests_without_an_answer_are_the_slowest() -> None:
    """p99 of 1,000 answers is 100 µs; with 10 more requests lost it is the 1,000th of 1,010."""
    latency = histogram({100: 995, 700: 5})
    answered = client_stats(latency_ns=latency)
    lost = client_stats(latency_ns=latency, lost=6, unsent=4)
    assert sli_us(measurement(answered), PARAMETERS) == pytest.approx(100, rel=1e-3)
    assert sli_us(measurement(lost), PARAMETERS) == pytest.approx(700, rel=1e-3)


def test_a_percentile_among_the_unanswered_is_at_least_what_they_were_waited_for() -> None:
    """Two of a hundred have no answer a second after the window; the others were quick."""
    quick = measurement(client_stats(latency_ns=histogram({100: 980}), lost=20))
    assert sli_us(quick, PARAMETERS | {"drain_s": 1}) == 1e6
    slow = measurement(client_stats(latency_ns=histogram({100: 979, 1_500_000: 1}), lost=20))
    assert sli_us(slow, PARAMETERS | {"drain_s": 1}) == pytest.approx(1.5e6, rel=1e-3)
    nothing = measurement(client_stats(latency_ns=histogram({}), lost=1000))
    assert sli_us(nothing, PARAMETERS | {"drain_s": 1}) == 1e6
    # The percentile is an answer's.
    assert sli_us(quick, PARAMETERS | {"percentile": 97}) == pytest.approx(100, rel=1e-3)


def test_the_aggressor_and_its_progress() -> None:
    found = measurement(colocator=colocator_stats(aggressor_stats("busy", 120.0)))
    assert found.best_effort is not None and found.best_effort.progress is not None
    assert found.best_effort.command == "busy --count 1"
    assert found.best_effort.progress.per_s == 120.0
    assert found.best_effort.progress.unit == "bogo ops"
    several = aggressor_stats("busy") | {"command": [["a", "1"], ["b"]], "progress": None}
    job = measurement(colocator=colocator_stats(several)).best_effort
    assert job is not None and (job.command, job.progress) == ("a 1; b", None)
    assert job.cache is None
    part = {"level": 3, "ways": 1, "kib": 13312, "all_ways": 20, "all_kib": 266240}
    held = measurement(colocator=colocator_stats(aggressor_stats("busy") | {"cache": part}))
    assert held.best_effort.cache == "13,312 of 266,240 KiB of level 3 (1 of 20 ways)"


def test_nothing_is_said_of_what_nodes_do_not_know() -> None:
    unknown = {"others_share": None, "aggressor": None, "probe": None, "platform": None}
    found = measurement(colocator=colocator_stats() | unknown)
    assert (found.best_effort, found.others_share, found.probe) == (None, None, ())
    thread = client_stats()["threads"][0] | {"scheduling": None}
    assert measurement(client_stats(threads=[thread])).generator.wait_share is None


def test_the_probe_says_what_was_beside() -> None:
    found = measurement(colocator=colocator_stats(probe=probe(145.0)))
    assert [(row.what, row.value, row.unit) for row in found.probe] == [
        ("chase of 1,024 KiB on CPU 0", 145.0, "ns per step"),
        ("chase of 1,024 KiB on CPU 0 beside stream on CPU 1", pytest.approx(159.5), "ns per step"),
        ("stream on CPU 1", 12.0, "GB/s"),
        ("integer on CPU 0", 900.0, "per µs"),
    ]


def test_the_share_that_was_stolen() -> None:
    end = host_stats(steal_ns=2 * 10**9, elapsed_ns=10**10)
    answers = answers_of(client_stats(), colocator_stats(), end=end)
    data = {"aggressor": "Baseline", "load": 0.1, "load_index": 0}
    (host,) = read_answers(answers, 0, data, None).hosts or ()
    assert host.steal_share == 0.2
