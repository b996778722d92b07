"""A run's report, its figures and its notebook."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from turntable import summary
from turntable.load import load_run
from turntable.notebook import write_notebook
from turntable.report import page
from turntable.results import Run
from turntable.systems.swan import api, omission, plot
from turntable.systems.swan.platform import jobs_of
from turntable.systems.swan.profile import profile_of
from turntable.systems.swan.store import Store, export
from turntable.systems.swan.store.profiles import profiles_of
from turntable_core.errors import TurntableError
from turntable_systems.swan.identity import experiment_uuid

from .made_run import Scripted, make_run
from .measured import histogram

SHARES = {"Baseline": (30, 60), "placebo": (30, 60), "busy": (90, 320)}


def scripted(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
    share = SHARES[data["aggressor"]][data["load_index"]]
    achieved = 0.7 if share == 320 and parameters["isolation"] == "none" else 1.0
    factor = (0.99, 1.0, 1.01)[(round_ + data["repeat"]) % 3]
    return Scripted(50 * share * factor, achieved, 100.0 / parameters.get("be_shares", 1))


@pytest.fixture(scope="module")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    cells = [{"isolation": "none"}, {"isolation": "shares"}]
    parent = tmp_path_factory.mktemp("results")
    return make_run(parent, scripted, loads=(0.5, 1.0), cells=cells)


@pytest.fixture(scope="module")
def run(directory: Path) -> Run:
    return load_run(directory)


FOUND = {"peak_confirmed": True, "peak_found_at_ns": 1_795_685_445 * 10**9}


@pytest.mark.parametrize(
    ("client", "says"),
    [
        # date -u -d @1795685445: 2026-11-26 09:30:45
        (FOUND, "Peak: 10,000 requests/s, searched 2026-11-26 09:30 UTC."),
        (FOUND | {"peak_confirmed": False}, "not confirmed: the search had no time"),
        ({"peak_per_s": None}, "Peak: 10,000 requests/s, as it was given."),
    ],
)
def test_a_report_says_what_the_peak_is(
    tmp_path: Path, client: Mapping[str, Any], says: str
) -> None:
    cells = [{"peak_load": 10_000}] if "peak_per_s" in client else [{}]
    made = make_run(
        tmp_path, lambda *_: Scripted(1000, client=client), loads=(0.5,), rounds=1, cells=cells
    )
    assert says in page.render(load_run(made))


def test_a_round_in_a_few_numbers(run: Run) -> None:
    rows = list(csv.DictReader(io.StringIO(summary.summary_csv(run).decode())))
    first = next(row for row in rows if row["isolation"] == "none")
    assert (first["peak_per_s"], first["baseline_capacity"]) == ("10000.0", "1.0")
    assert (first["worst_capacity"], first["fields"]) == ("0.5", "6")
    assert (first["violations"], first["failed_loads"], first["left_out"]) == ("0", "1", "0")
    # Baseline at the lowest load: 30 % of 5,000 µs.
    assert float(first["baseline_sli_us"]) == pytest.approx(1_500, rel=3e-3)
    second = next(row for row in rows if row["isolation"] == "shares")
    assert (second["violations"], second["failed_loads"]) == ("1", "0")
    assert "worst_capacity_half_width" in summary.cells_csv(run).decode()


@pytest.mark.parametrize(("absent", "worst"), [(1, "0.2"), (0, "")])
def test_a_load_of_which_nothing_counts_is_not_known_to_hold(
    tmp_path: Path, absent: int, worst: str
) -> None:
    def late(parameters: Mapping, data: Mapping, round_: int) -> Scripted:
        is_late = data["aggressor"] == "busy" and data["load_index"] == absent
        client = {"send_late_ns": histogram({900: 10})} if is_late else None
        return Scripted(1_000, client=client)

    made = make_run(tmp_path, late, rounds=1)
    (row,) = csv.DictReader(io.StringIO(summary.summary_csv(load_run(made)).decode()))
    assert (row["worst_capacity"], row["left_out"]) == (worst, "1")


def test_the_page_has_tables_chart_sample_and_machine(run: Run) -> None:
    html = page.render(run)
    assert html.count('class="profile"') == 2 * 4 + 1
    assert "background: #b0c0b0; color: #000000" in html  # FAIL
    assert "background: #a9341f; color: #ffffff" in html  # more than 300 %
    assert "≈30%" in html
    assert "Capacity: p99 within 5,000 µs" in html and "Isolation: memcached" in html
    assert "Swan&#39;s shipped sample, other hardware" in html
    assert "chase of 1,024 KiB on CPU 0 beside stream on CPU 1" in html
    assert "busy --count 1" in html and "versions.memcached" in html
    assert html.count("<svg") == 2 + len(run.cells) + 1  # rates of each cell, and the overhead


def test_the_chart_ends_at_twice_the_slo(run: Run) -> None:
    for fill in ("worst", "each", None):
        drawn = plot.sensitivity_chart(run.cells, fill)
        assert drawn is not None
        first, second = drawn.figure.axes
        assert first.get_ylim() == second.get_ylim() == (0, 10_000)
        (slo,) = [line for line in first.lines if line.get_label() == "SLO"]
        assert set(slo.get_ydata()) == {5_000}
        (busy,) = [line for line in first.lines if line.get_label() == "busy"]
        assert list(busy.get_xdata()) == [5_000, 10_000]
        assert list(busy.get_ydata()) == pytest.approx([4_500, 16_000], rel=3e-3)
        assert len(first.collections) > 0


def test_without_a_result_there_is_no_chart(tmp_path: Path) -> None:
    run = load_run(make_run(tmp_path, scripted, leave_out=lambda data: True))
    assert plot.sensitivity_chart(run.cells) is plot.beside_the_sample(run.cells) is None


def test_the_store_alone_gives_the_same_profiles(directory: Path, run: Run) -> None:
    store = Store(directory.parents[1])
    stored = profiles_of(store, store.put(directory))
    store.close()
    for one, other in zip(map(profile_of, run.cells), stored, strict=True):
        assert (one.label, one.aggressors, one.loads) == (
            other.label,
            other.aggressors,
            other.loads,
        )
        assert one.peak_per_s == other.peak_per_s
        for key, field in one.fields.items():
            beside = other.fields[key]
            assert field.sli_us == beside.sli_us and field.progress_per_s == beside.progress_per_s
            assert field.achieved_share == beside.achieved_share
            assert one.is_resolved(field) == other.is_resolved(beside)


def test_swans_notebook_interface(directory: Path) -> None:
    results = directory.parents[1]
    store = Store(results)
    uuid = store.put(directory)
    store.close()
    assert len(api.Experiment(uuid, results).df) == 2 * 3 * 10
    profile = api.SensitivityProfile(uuid, slo=2_500, results=results, cell="none")
    latency = profile.latency()
    assert list(latency.data.columns) == [5_000, 10_000]
    assert latency.data.loc["Baseline"].tolist() == ["60%", "120%"]
    assert latency.data.loc["busy"].tolist() == ["180%", "FAIL"]
    assert "background-color: #b0c0b0" in latency.to_html()
    some = profile.latency(normalized=False, aggressors=["busy"], qpses=[5_000])
    assert some.data.shape == (1, 1)
    assert float(some.data.iloc[0, 0]) == pytest.approx(4_500, rel=3e-3)
    assert profile.qps().data.loc["busy"].tolist() == ["100%", "70%"]
    rates = profile.qps(False, aggressors=["busy"], qpses=[10_000])
    assert rates.data.to_numpy().tolist() == [["7000"]]
    assert "background-color: #a9341f" in rates.to_html()
    assert profile.progress().loc["busy"].tolist() == [100, 100]
    with pytest.raises(TurntableError, match="2 of its cells have ''"):
        api.SensitivityProfile(uuid, results=results)


def test_rows_are_in_one_order_everywhere(tmp_path: Path) -> None:
    """Of cells as they were planned; the baseline, the placebo, then as they were asked for."""
    cells = [{"isolation": "shares"}, {"isolation": "none"}]  # not the alphabet's
    names = ("zeta", "placebo", "alpha")
    run = make_run(tmp_path, lambda *_: Scripted(3_000), names, (0.5, 1.0), rounds=2, cells=cells)
    order = ["Baseline", "placebo", "zeta", "alpha"]
    loaded = load_run(run)
    assert [job.name for job in jobs_of(loaded.cells)] == order[1:]
    with closing(Store(tmp_path)) as store:
        uuid = store.put(run)
        export.write_csv(export.frame(store, uuid), tmp_path / "out.csv")
    with (tmp_path / "out.csv").open() as file:
        rows = [
            (row["cell_label"].split()[-1], row["aggressor"], row["load"], row["repetition"])
            for row in csv.DictReader(file)
        ]
    assert rows == [
        (cell, name, load, str(repetition))
        for cell in ("shares", "none")
        for name in order
        for load in ("0.5", "1.0")
        for repetition in range(6 if name == "Baseline" else 2)
    ]
    heads = re.findall(r'<th scope="row">(\w+)</th>', page.render(loaded))
    assert heads[: 2 * len(order)] == 2 * order
    assert (
        list(api.SensitivityProfile(uuid, results=tmp_path, cell="none").progress().index) == order
    )


def test_core_allocation_has_a_row_per_number_of_threads(tmp_path: Path) -> None:
    def script(parameters: Mapping[str, Any], data: Mapping[str, Any], round_: int) -> Scripted:
        return Scripted(3_000 / parameters["threads"])

    cells = [{"threads": 2}, {"threads": 1}]
    run = make_run(tmp_path, script, (), (0.5, 1.0), rounds=1, cells=cells)
    store = Store(tmp_path)
    uuid = store.put(run)
    store.close()
    found = api.OptimalCoreAllocation(uuid, results=tmp_path).latency().data
    rates = api.OptimalCoreAllocation(uuid, results=tmp_path).qps(normalized=False).data
    assert rates.loc[1].tolist() == ["5000", "10000"]
    assert found.loc[1].tolist() == ["60%", "60%"] and found.loc[2].tolist() == ["30%", "30%"]


def test_core_allocation_needs_cells_that_differ_in_threads(directory: Path) -> None:
    uuid = experiment_uuid("swan_sensitivity", directory.name)
    with pytest.raises(TurntableError, match=r"cells with \[1, 1\] threads"):
        api.OptimalCoreAllocation(uuid, results=directory.parents[1])


def test_the_notebook_runs(directory: Path) -> None:
    html = write_notebook(directory).read_text()
    assert "same-core, isolation shares" in html
    assert html.count("<svg") == 2


HEAD = "rate_per_s,way,achieved_per_s,p50_us,p99_us,p999_us,mean_us"
OMISSION = f"""{HEAD}
750,from the send,750,700,700,100000,900
750,open loop,750,40000,190000,250000,50000
100,open loop,100,700,60000,100000,900
100,from the send,100,700,700,100000,900
"""


def test_coordinated_omission_is_drawn(tmp_path: Path) -> None:
    (tmp_path / "in.csv").write_text(OMISSION)
    drawn = omission.figure(omission.read(tmp_path / "in.csv"), "stamp")
    lines = {line.get_label(): line for line in drawn.figure.axes[0].lines}
    assert len(lines) == 6
    assert list(lines["p99, open loop"].get_xdata()) == [100, 750]
    assert list(lines["p99, open loop"].get_ydata()) == [60_000, 190_000]
    assert list(lines["p99, from the send"].get_ydata()) == [700, 700]
    assert omission.main([str(tmp_path / "in.csv"), str(tmp_path / "out.svg")]) == 0
    assert "p99.9, open loop" in (tmp_path / "out.svg").read_text()


@pytest.mark.parametrize("content", ["", HEAD, "rate_per_s,way\n1,x", f"{HEAD}\n1,x,1,a,1,1,1"])
def test_what_is_no_such_file(
    tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "in.csv").write_text(content)
    assert omission.main([str(tmp_path / "in.csv"), str(tmp_path / "out.svg")]) == 2
    assert "expected a CSV with the columns rate_per_s, way, p50_us" in capsys.readouterr().err
    assert not (tmp_path / "out.svg").exists()
