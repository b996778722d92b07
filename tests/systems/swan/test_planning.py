"""Capacity, isolation and core allocation of scripted runs, and Swan's sample beside them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from turntable.load import load_run
from turntable.systems.swan import capacity, cores, isolation, probes, sample
from turntable.systems.swan.profile import Profile, profile_of

from .made_run import Scripted, make_run
from .measured import histogram, probe

# Mechanism -> percent of the SLO of 5,000 µs beside `busy` at loads 0.2, 0.5 and 1.0.
BUSY = {"none": (60, 150, 400), "shares": (30, 90, 200), "quota": (45, 101, 80)}
# ... and what busy gets done per second.
DONE = {"none": (100, 80, 40), "shares": (25, 20, 10), "quota": (10, 10, 10)}
JITTER = (0.99, 1.0, 1.01)


def scripted(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
    isolated, index = parameters["isolation"], data["load_index"]
    quiet = data["aggressor"] in ("Baseline", "placebo")
    share = (30, 40, 90)[index] if quiet else BUSY[isolated][index]
    done = None if quiet else DONE[isolated][index]
    return Scripted(50 * share * JITTER[(round_ + data["repeat"]) % 3], progress_per_s=done)


@pytest.fixture(scope="module")
def profiles(tmp_path_factory: pytest.TempPathFactory) -> list[Profile]:
    parent = tmp_path_factory.mktemp("results")
    mechanisms = [{"isolation": name} for name in BUSY]
    return of_run(make_run(parent, scripted, cells=mechanisms))


def of_run(directory: Path) -> list[Profile]:
    return [profile_of(cell) for cell in load_run(directory).cells]


def test_the_highest_load_such_that_all_below_hold(profiles: list[Profile]) -> None:
    """With the quota the load of 1.0 holds, and 0.5 does not."""
    held = {
        one.parameters["isolation"]: {
            name: found.load if (found := capacity.capacity(one, name)) else None
            for name in ("Baseline", "placebo", "busy")
        }
        for one in profiles
    }
    assert held == {
        "none": {"Baseline": 1.0, "placebo": 1.0, "busy": 0.2},
        "shares": {"Baseline": 1.0, "placebo": 1.0, "busy": 0.5},
        "quota": {"Baseline": 1.0, "placebo": 1.0, "busy": 0.2},
    }


def test_the_capacity_table_says_what_the_job_gets_done(profiles: list[Profile]) -> None:
    (table,) = capacity.capacity_tables(profiles)
    rows = {(row["aggressor"], row["mechanism"]): row for row in table.rows}
    assert len(rows) == 3 * 3
    busy = [rows["busy", name] for name in ("none", "shares 2", "quota 10%")]
    assert [row["rate"] for row in busy] == [2_000, 5_000, 2_000]
    assert [row["progress"] for row in busy] == [100, 20, 10]
    # Of the 100 per second that it gets done without isolation beside the lowest load.
    assert [row["share"] for row in busy] == [1.0, 0.2, 0.1]
    assert rows["Baseline", "none"]["progress"] is None


def test_a_lowest_load_that_does_not_hold_is_no_capacity(tmp_path: Path) -> None:
    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        return Scripted(1_000, achieved=0.8 if data["aggressor"] == "busy" else 1.0)

    (profile,) = of_run(make_run(tmp_path, script))
    found = capacity.capacity(profile, "busy")
    assert found is not None and (found.load, found.rate_per_s) == (0, 0)


def test_a_load_of_which_nothing_counts_is_no_limit(tmp_path: Path) -> None:
    """At half of the peak the generator was late in every round."""

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        is_lost = (data["aggressor"], data["load"]) == ("busy", 0.5)
        late = {"send_late_ns": histogram({600: 100})} if is_lost else None
        return Scripted(1_000, client=late)

    (table,) = capacity.capacity_tables(of_run(make_run(tmp_path, script)))
    assert {row["aggressor"]: row["load"] for row in table.rows} == {
        "Baseline": "1.00",
        "placebo": "1.00",
        "busy": "0.20+",
    }


def test_isolation_is_relative_to_none(profiles: list[Profile]) -> None:
    (table,) = isolation.isolation_tables(profiles)
    rows = {(row["aggressor"], row["load"]): row for row in table.rows}
    assert len(rows) == 2 * 3
    busy = rows["busy", 0.5]
    # 90 / 150, 101 / 150; 20 / 80, 10 / 80.
    assert (busy["shares 2 p99"], busy["quota 10% p99"]) == ("0.60", "0.67")
    assert (busy["shares 2 job"], busy["quota 10% job"]) == ("0.25", "0.12")
    assert rows["placebo", 0.2]["shares 2 p99"] == "≈1.00"
    assert rows["placebo", 0.2]["shares 2 job"] is None


def test_two_rounds_do_not_resolve_a_ratio(tmp_path: Path) -> None:
    mechanisms = [{"isolation": name} for name in ("none", "shares")]
    (table,) = isolation.isolation_tables(
        of_run(make_run(tmp_path, scripted, ("busy",), rounds=2, cells=mechanisms))
    )
    assert [row["shares 2 p99"] for row in table.rows] == ["≈0.50", "≈0.60", "≈0.50"]


def test_a_small_share_is_not_zero(tmp_path: Path) -> None:
    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        is_isolated = parameters["isolation"] == "shares"
        return Scripted(
            400 if is_isolated else 100_000,  # 0.004
            progress_per_s=0 if is_isolated and data["load_index"] == 0 else 100,
        )

    mechanisms = [{"isolation": "none"}, {"isolation": "shares"}]
    (table,) = isolation.isolation_tables(
        of_run(make_run(tmp_path, script, ("busy",), cells=mechanisms))
    )
    assert [row["shares 2 p99"] for row in table.rows] == ["<0.01"] * 3
    assert [row["shares 2 job"] for row in table.rows] == ["0.00", "1.00", "1.00"]


def test_loads_that_were_not_reached_have_no_ratio(tmp_path: Path) -> None:
    failing = {("none", 1), ("shares", 2)}

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        where = (parameters["isolation"], data["load_index"])
        return Scripted(1_000, achieved=0.5 if where in failing else 1.0)

    mechanisms = [{"isolation": "none"}, {"isolation": "shares", "be_shares": 100}]
    made = of_run(make_run(tmp_path, script, ("busy",), cells=mechanisms))
    (table,) = isolation.isolation_tables(made)
    assert [row["shares 100 p99"] for row in table.rows] == ["≈1.00", "no FAIL", "FAIL"]


def test_without_a_cell_of_none_there_is_nothing_to_compare_with(tmp_path: Path) -> None:
    mechanisms = [{"isolation": "shares"}, {"isolation": "quota"}]
    made = of_run(make_run(tmp_path, scripted, cells=mechanisms))
    assert isolation.isolation_tables(made) == []
    assert [len(table.rows) for table in capacity.capacity_tables(made)] == [3, 3]


def test_core_allocation_by_threads(tmp_path: Path) -> None:
    """p99 in percent of the SLO, less with more threads; the peak is more."""

    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        share = (32, 120, 392)[data["load_index"]] / parameters["threads"]
        return Scripted(50 * share, peak_per_s=10_000.0 * parameters["threads"])

    threads = [{"threads": count} for count in (2, 1, 4)]
    made = of_run(make_run(tmp_path, script, (), rounds=1, cells=threads))
    (table,) = cores.core_tables(made)
    rows = [[row[key] for key in ("threads", "peak", "0", "1", "2", "held")] for row in table.rows]
    assert [row[:2] for row in rows] == [[1, 10_000], [2, 20_000], [4, 40_000]]
    assert rows[0][2:] == ["32%", "120%", ">300%", 2_000]
    assert rows[1][2:] == ["16%", "60%", "196%", 10_000]
    assert rows[2][2:] == ["8%", "30%", "98%", 40_000]
    assert cores.core_tables(made[:1]) == []


def test_the_probe_says_how_far_the_machine_drifted(tmp_path: Path) -> None:
    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        return Scripted(1_000, colocator={"probe": probe((100.0, 120.0, 90.0)[round_])})

    run = load_run(make_run(tmp_path, script))
    (table,) = probes.probe_tables(run.cells)
    assert len(probes.drifted(run.cells)) == 1
    assert probes.drifted(run.cells[:0]) == []
    assert table.title.endswith("it drifted by up to 33%, more than 25%")
    chase = table.rows[0]
    assert [chase[key] for key in ("first", "least", "most")] == [100.0, 90.0, 120.0]
    assert chase["drift"] == pytest.approx(1 / 3)
    assert table.rows[-1]["drift"] == 0


def test_a_machine_that_stays_the_same_is_in_the_report_alone(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, scripted, ("busy",), rounds=1))
    assert probes.drifted(run.cells) == []
    assert [table.title for table in probes.probe_tables(run.cells)] == [
        "Probe of the machine before every turn"
    ]


# As published: a row of each kind of field.
def test_swans_sample_is_drawn_as_published() -> None:
    table = sample.sample_table()
    rows = {name: [(look.text, look.background) for look, _ in row] for name, row in table.rows}
    green, yellow, red, grey = "#98cc70", "#ffeda0", "#a9341f", "#b0c0b0"
    assert table.heads[0] == "50k" and table.heads[-1] == "500k"
    assert rows["Baseline"][0] == ("34%", green) and rows["Baseline"][-1] == ("134%", yellow)
    assert rows["memcpy"][2:7] == [
        ("111%", yellow), (">300%", red), (">300%", red), (">300%", red), ("FAIL", grey),
    ]  # fmt: skip
    assert [text for text, _ in rows["cache-l1"]][5:] == ["146%", "218%", "152%", "228%", ">300%"]
    assert len(rows) == 6 and all(len(row) == 10 for row in rows.values())
    assert "other hardware" in table.title
