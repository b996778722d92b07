"""Two runs beside each other."""

from __future__ import annotations

import html
import math
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from scipy import stats as scipy_stats

from turntable.__main__ import main
from turntable.analyze import compare_and_draw
from turntable.compare import changes, compare
from turntable.comparison import Change, comparison, differences
from turntable.load import load_run
from turntable.stats import Estimate, difference
from turntable.system import analysis_of
from turntable_core.errors import TurntableError

from . import recordings


@pytest.fixture
def first(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path / "first", recordings.ROUNDS)


@pytest.fixture
def second(tmp_path: Path) -> Path:
    return recordings.copy_run(tmp_path / "second", recordings.ROUNDS)


def test_a_run_is_like_itself(first: Path, second: Path) -> None:
    assert list(differences(load_run(first), load_run(second))) == []
    text = compare(first, second)
    assert "Nothing differs" in text
    assert "+0.0 ±" in text


def test_what_differs_is_named_and_cells_are_found_again(first: Path, second: Path) -> None:
    def change(plan: dict) -> None:
        for parameters in plan["cells"].values():
            parameters["drain_s"] = 3

    recordings.edit_json(second / "plan.json", change)
    recordings.edit_json(
        second / "manifest.json", lambda manifest: manifest["machine"].update(cpus=64)
    )
    runs = load_run(first), load_run(second)
    rows = {row["what"]: (row["first"], row["second"]) for row in differences(*runs)}
    assert rows == {"drain_s": ("1", "3"), "machine cpus": ("2", "64")}
    assert f"{second}, 6 of 6 rounds (of all cells) valid" in compare(first, second)
    cells = {row["cell"] for row in changes(comparison(first, second)) if row["cell"]}
    assert len(cells) == 2  # workloads A and C


def test_a_cell_that_only_one_run_has_is_named(first: Path, tmp_path: Path) -> None:
    other = recordings.copy_run(tmp_path / "other")  # workload A only, another capacity
    text = compare(first, other)
    assert "Only in the first: workloadc · nocache · 4 servers" in text
    assert "capacity_ops_per_s" in text


def edit_cells(run: Path, edit: Callable[[dict[str, Any]], object]) -> None:
    recordings.edit_json(
        run / "plan.json", lambda plan: [edit(cell) for cell in plan["cells"].values()]
    )


def test_a_constant_that_depends_on_a_factor_in_one_run_separates_no_cells(
    first: Path, second: Path
) -> None:
    """drain_s is 1 in the first run; in the second it is 1 for workload A, and 3 for C."""
    edit_cells(second, lambda cell: cell.update(drain_s=1 if cell["workload"][-1] == "a" else 3))
    runs = load_run(first), load_run(second)
    assert [row["what"] for row in differences(*runs)] == ["drain_s"]
    assert [row["cell"] for row in changes(comparison(first, second)) if row["cell"]] == [
        "workloada · nocache · 4 servers", "workloadc · nocache · 4 servers",
    ]  # fmt: skip
    assert "Only in" not in compare(first, second)


def test_a_cell_whose_parameter_became_a_factor_is_found_again(first: Path, second: Path) -> None:
    """theta is 0.99 in the first run; the second has it and another, of one workload each."""
    edit_cells(second, lambda cell: cell.update(theta=0.99 if cell["workload"][-1] == "a" else 0.5))
    edit_cells(second, lambda cell: cell.update(workload="workloada"))
    text = compare(first, second)
    assert "Only in the first: workloadc · nocache · 4 servers" in text
    assert "Only in the second: workloada · nocache · 4 servers · theta 0.5" in text
    assert {row["cell"] for row in changes(comparison(first, second)) if row["cell"]} == {
        "workloada · nocache · 4 servers", "→ workloada · nocache · 4 servers · theta 0.99",
    }  # fmt: skip


def test_every_cell_without_a_partner_is_named(first: Path, second: Path) -> None:
    """4 and 8 servers, then 16 and 32: nothing is in both."""
    for run, factor in ((first, 1), (second, 4)):
        counts = {"a": 4 * factor, "c": 8 * factor}
        edit_cells(
            run, lambda cell, counts=counts: cell.update(servers=counts[cell["workload"][-1]])
        )
        edit_cells(run, lambda cell: cell.update(workload="workloada"))
    text = " ".join(compare(first, second).split())
    only = "Only in the {}: workloada · nocache · {} servers; workloada · nocache · {} servers"
    assert only.format("first", 4, 8) in text
    assert only.format("second", 16, 32) in text


def test_a_cell_without_a_valid_round_is_named(first: Path, second: Path) -> None:
    recordings.edit_json(
        second / "plan.json", lambda plan: plan["validity"].update(busiest_utilization=[1, 1])
    )
    text = " ".join(compare(first, second).split())
    assert (
        "No valid round in the second: workloada · nocache · 4 servers; "
        "workloadc · nocache · 4 servers"
    ) in text


def test_absolute_numbers_are_not_compared_across_fidelity_classes(
    first: Path, second: Path
) -> None:
    recordings.edit_json(
        second / "manifest.json", lambda manifest: manifest.update(fidelity_class="hardware")
    )
    rows = list(changes(comparison(first, second)))
    assert {row["column"] for row in rows} == {"normalized_throughput", "imbalance_ratio"}
    text = " ".join(compare(first, second).split())
    assert (
        "Not compared across fidelity classes (emulated, hardware), for it is absolute: "
        "aggregate_ops_per_s, absolute_ops_per_s, latency_mean_us"
    ) in text


def test_a_run_without_a_manifest_is_of_no_class(first: Path, second: Path) -> None:
    for run in (first, second):
        (run / "manifest.json").unlink()
    assert "aggregate_ops_per_s" in compare(first, second).partition("Not compared")[2]


def test_runs_of_two_systems_are_not_compared(first: Path, second: Path) -> None:
    recordings.edit_json(second / "plan.json", lambda plan: plan.update(system="nosuch"))
    with pytest.raises(TurntableError, match="nosuch"):
        compare(first, second)


def test_the_interval_is_welchs() -> None:
    first, second = [10.0, 11.0, 12.5, 10.7], [13.0, 15.0, 14.2]
    expected = scipy_stats.ttest_ind(second, first, equal_var=False).confidence_interval(0.95)
    found = difference(first, second)
    assert math.isclose(found.mean - found.half_width, expected.low)
    assert math.isclose(found.mean + found.half_width, expected.high)


def test_one_round_has_no_interval() -> None:
    assert difference([2.0], [3.0]).half_width is None
    assert difference([], [3.0]) is None
    assert difference([None], [3.0]) is None


def test_the_page_has_what_the_terminal_has(first: Path, second: Path) -> None:
    edit_cells(second, lambda cell: cell.update(theta=0.5))
    said = compare_and_draw(first, second)
    file = page_of(first, second)
    assert said == f"{compare(first, second)}\n\nPage: {file}"
    page = file.read_text()
    assert '<th scope="row">theta</th><td>0.99</td><td>0.5</td>' in page
    for row in changes(comparison(first, second)):
        assert f"<td>{row['change']}</td>" in page
    assert 'aria-label="Change of every result' in page
    assert "src=" not in page
    assert "<link" not in page


def test_the_page_of_runs_without_a_common_cell_says_so(first: Path, second: Path) -> None:
    edit_cells(second, lambda cell: cell.update(workload=f"{cell['workload']}2"))
    compare_and_draw(first, second)
    page = page_of(first, second).read_text()
    assert "No cell that both runs have has a valid round." in page
    assert "Only in the second: workloada2 · nocache · 4 servers" in page


def page_of(first: Path, second: Path) -> Path:
    return first / f"compare-farreach_exp01_throughput-{second.name}.html"


def test_a_page_that_cannot_be_written_costs_no_text(first: Path, second: Path) -> None:
    page_of(first, second).mkdir()
    said = compare_and_draw(first, second)
    assert said.startswith(f"{compare(first, second)}\n\nNo page: ")
    assert str(page_of(first, second)) in said
    assert said.endswith(f"Make it later with: python -m turntable compare {first} {second}")


def test_a_page_that_cannot_be_drawn_costs_no_text(
    first: Path, second: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise ValueError("no such glyph")

    monkeypatch.setattr("turntable.plot.drawing.draw", fail)
    monkeypatch.setattr("sys.argv", ["turntable", "compare", str(first), str(second)])
    assert main() == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{compare(first, second)}\n\nNo page: no such glyph\n")


def test_runs_that_may_not_be_compared_are_not_said_to_lack_valid_rounds(
    first: Path, second: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a system without `normalized`, in two fidelity classes: all rounds are valid."""
    monkeypatch.setattr(type(analysis_of(load_run(first).plan)), "normalized", ())
    recordings.edit_json(
        second / "manifest.json", lambda manifest: manifest.update(fidelity_class="hardware")
    )
    text = compare_and_draw(first, second)
    page = page_of(first, second).read_text()
    for said in (text, page):
        assert "Not compared across fidelity classes (emulated, hardware)" in said
        assert "has a valid round" not in said
    assert "(these runs have no result that may be compared)" in text
    assert "These runs have no result that may be compared." in page


def test_what_has_no_valid_round_in_both_says_so_once(first: Path, second: Path) -> None:
    edit_cells(second, lambda cell: cell.update(workload=f"{cell['workload']}2"))
    assert compare(first, second).count("(no cell that both runs have has a valid round)") == 1


@pytest.mark.parametrize(
    ("ones", "others", "shown"),
    [
        ("x" * 60 + "1" + "y" * 60, "x" * 60 + "2" + "y" * 60, ("x1y", "x2y")),
        ("x" * 60, "x" * 60 + "z", ("xx", "xxz")),
        ("a" + "x" * 60, "b" + "x" * 60, ("axxx", "bxxx")),
    ],
    ids=["in the middle", "at the end", "at the beginning"],
)
def test_long_values_are_shown_where_they_differ(
    first: Path, second: Path, ones: str, others: str, shown: tuple[str, str]
) -> None:
    for run, value in ((first, ones), (second, others)):
        recordings.edit_json(
            run / "manifest.json",
            lambda manifest, value=value: manifest["machine"].update(os=value),
        )
    said = compare_and_draw(first, second)
    (line,) = (line for line in said.splitlines() if line.startswith("machine os"))
    *_, one, other = line.split()
    assert one != other
    assert len(one) <= 32
    assert len(other) <= 32
    assert shown[0] in one
    assert shown[1] in other
    assert f"<td>{ones}</td><td>{others}</td>" in page_of(first, second).read_text()


def test_pages_of_runs_of_one_name_do_not_replace_each_other(first: Path, second: Path) -> None:
    pages = []
    for experiment in ("farreach_exp01_throughput", "farreach_exp02"):
        recordings.edit_json(
            second / "plan.json", lambda plan, name=experiment: plan.update(experiment=name)
        )
        pages.append(Path(compare_and_draw(first, second).rpartition("Page: ")[2]))
    assert [page.name for page in pages] == [
        f"compare-farreach_exp01_throughput-{second.name}.html",
        f"compare-farreach_exp02-{second.name}.html",
    ]
    assert all(page.parent == first and page.exists() for page in pages)


def test_the_page_names_the_directories_that_it_was_made_from(
    first: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    second = recordings.copy_run(tmp_path / "my results", recordings.ROUNDS)
    monkeypatch.chdir(tmp_path)
    compare_and_draw(first.relative_to(tmp_path), second.relative_to(tmp_path))
    (footer,) = re.findall("<code>(.*)</code></footer>", page_of(first, second).read_text())
    command = shlex.split(html.unescape(footer))
    assert command == ["python", "-m", "turntable", "compare", str(first), str(second)]


@pytest.mark.parametrize(
    ("half_width", "clear"), [(0.049, True), (0.051, False), (None, False)], ids=str
)
def test_a_change_is_clear_where_its_interval_leaves_out_zero(
    half_width: float | None, clear: bool
) -> None:
    for mean in (0.05, -0.05):
        assert Change("rate", None, None, Estimate(mean, half_width, 3)).is_clear is clear
