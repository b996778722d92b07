"""What `--check` says of a plan."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from hdrh.histogram import HdrHistogram

from turntable_core import estimate, plan, preview, selection
from turntable_core.plan import Iteration, Plan
from turntable_core.spec import Scale, choose_profile, load_experiment
from turntable_core.system import Planned
from turntable_core.testbed import read_testbed
from turntable_systems.homa.prediction import Prediction
from turntable_systems.homa.system import Homa

from .conftest import PREDICTION, REPOSITORY, parameters
from .testbeds import GROUPS, hostvars

WITHOUT_SLOWDOWNS = replace(PREDICTION, slowdown_1000=())


def planned(scale: Scale, prediction: Prediction) -> Plan:
    def planner(_: Mapping[str, object], round_: int) -> Planned:
        return Planned((Iteration(0, "all"),), prediction)

    return plan.make_plan(scale, plan.cells_of(scale), planner)


def rendered(made: Plan, results: Path) -> str:
    work = selection.work(made, [], None)
    testbed = read_testbed(hostvars(), GROUPS)
    expected = estimate.estimate(made, work, testbed, estimate.Overhead(0.4, 0))
    return preview.render(made, work, "r1", expected, results)


def of_mixed(profile: str, results: Path) -> str:
    experiment = load_experiment(REPOSITORY / "experiments/homa/mixed.yml")
    return rendered(planned(choose_profile(experiment, profile), WITHOUT_SLOWDOWNS), results)


def test_what_is_beside_is_said_even_where_all_cells_have_it(tmp_path: Path) -> None:
    assert "beside tcp" in of_mixed("smoke", tmp_path)
    of_several = of_mixed("embedded", tmp_path)
    assert [name for name in ("none", "basic", "tcp") if f"beside {name}" not in of_several] == []


def test_what_is_usual_is_not_said(scale: Scale, tmp_path: Path) -> None:
    assert "beside" not in rendered(planned(scale, WITHOUT_SLOWDOWNS), tmp_path)


def test_each_column_has_its_own_heading_and_no_number_an_exponent(scale: Scale) -> None:
    histogram = HdrHistogram(1, 100_000_000, 3)
    histogram.record_value(2_132_000)
    text = histogram.encode().decode()
    prediction = replace(PREDICTION, payload_bps=7.07e9, slowdown_1000=(text,) * 10)
    shown = Homa().preview(planned(scale, prediction).turns[0])
    assert shown["payload"] == "7,070 Mb/s"
    assert re.fullmatch(r"2,13\d", shown["p99, smallest"])  # a histogram has three digits
    assert shown["p99, largest"] == shown["p99, smallest"]


def test_loads_beyond_the_links_are_noted() -> None:
    cells = [parameters(load=load) for load in (0.8, 1, 1.5)]
    (note,) = Homa().notes(cells)
    assert note.startswith("load 1, 1.5: at least all that links carry")
    assert "no slowdowns" in note
    assert list(Homa().notes(cells[:1])) == []
