"""Recorded traces: cells, what nodes are told, and what is predicted of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turntable.systems.farreach.expected import NoPromiseError, expected_rates
from turntable_core import plan
from turntable_core.errors import TurntableError
from turntable_core.overrides import ExtraVars, apply_overrides
from turntable_core.spec import Scale
from turntable_systems.farreach import checks
from turntable_systems.farreach.analyzer import WorkloadAnalyzer
from turntable_systems.farreach.prediction import Prediction
from turntable_systems.farreach.workload import workload_of

from .plans import EVEN, make_plan

FACTS = {
    "file": "/traces/a.csv", "digest": "0123456789abcdef", "is_cut": False, "requests": 1000,
    "reads": 600, "writes": 390, "deletes": 10, "keys": 77, "longest_value_bytes": 300,
    "not_cacheable": {"keys": 7, "requests": 50},
}  # fmt: skip


def with_trace(scale: Scale, file: str) -> Scale:
    return apply_overrides(scale, ExtraVars({"trace": file}))


def test_a_trace_takes_the_place_of_all_workloads(scale: Scale, tmp_path: Path) -> None:
    cells = plan.cells_of(with_trace(scale, str(tmp_path / "a.csv")))
    assert [cell.parameters["workload"] for cell in cells] == ["trace:a.csv"]
    assert cells[0].parameters["trace"] == str(tmp_path / "a.csv")
    sizes = {**scale.factors, "value_bytes": [16, 128, 256]}
    constants = {k: v for k, v in scale.constants.items() if k != "value_bytes"}
    several = replace(scale, factors=sizes, constants=constants)
    assert len(plan.cells_of(several)) == 6
    assert plan.cells_of(with_trace(several, str(tmp_path / "a.csv"))) == cells


def test_cells_without_a_trace_are_what_they_were(scale: Scale) -> None:
    assert plan.cells_of(with_trace(scale, "")) == plan.cells_of(scale)


def test_a_relative_name_is_of_where_the_playbook_is_run(
    scale: Scale, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (cell,) = plan.cells_of(with_trace(scale, "a.csv"))
    assert cell.parameters["trace"] == str(tmp_path / "a.csv")


def check_of(parameters: dict[str, Any]) -> str | None:
    (check,) = [check for check in checks.CHECKS if check.parameter == "trace"]
    return check.expected(parameters, None)


def test_a_file_that_is_nowhere_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a,get,8\n")
    assert check_of({}) is None
    assert check_of({"trace": str(tmp_path / "a.csv")}) is None
    assert "same path" in check_of({"trace": str(tmp_path / "b.csv")})
    assert "kvclient" in check_of({"trace": str(tmp_path / "a.csv"), "client": "ycsb"})


def test_the_home_of_nobody_is_nowhere(scale: Scale) -> None:
    (cell,) = plan.cells_of(with_trace(scale, "~nobody-of-this-name/a.csv"))
    assert "same path" in check_of(dict(cell.parameters))


def test_nodes_are_told_the_file_and_its_digest(scale: Scale, tmp_path: Path) -> None:
    prediction = Prediction(2, EVEN, EVEN, recorded=FACTS)
    made = make_plan(with_trace(scale, str(tmp_path / "a.csv")), prediction)
    told = workload_of(made.turns[0])
    assert told == workload_of(replace(made.turns[0], round=5))  # the same requests
    assert told["trace"] == {"file": FACTS["file"], "digest": FACTS["digest"]}
    assert (told["name"], told["operations"], told["records"]) == ("trace", 1000, 77)
    assert told["value_bytes"] == 300  # what buffers have to hold
    assert plan.from_json(plan.to_json(made)).turns[0].prediction.recorded == FACTS


# Two servers, 100 requests: 70 and 30; of these for cached keys 50, of them 10 gets, and 20, all.
PART = {
    "bottleneck": 0,
    "shares": [0.7, 0.3],
    "uncached": {"normalized": 1 / 0.7, "imbalance": 0.7 / 0.3},
    "cached": {"shares": [0.2, 0.1], "normalized": 5.0, "imbalance": 2.0},
}
PARTITIONS = [
    {"total": 70, "cached_requests": 50, "cached_reads": 10, "distinct_keys": 40},
    {"total": 30, "cached_requests": 20, "cached_reads": 20, "distinct_keys": 37},
]
DOCUMENT = {
    "recorded": FACTS,
    "proportions": {"read": 0, "update": 0, "insert": 0, "scan": 0, "read_modify_write": 0},
    "scales": [PART | {"trace": PART | {"partitions": PARTITIONS}}],
}
PARAMETERS = {
    "workload": "trace:a.csv", "trace": "/traces/a.csv", "servers": 2, "records": 1, "theta": 0.9,
    "value_bytes": 128, "cache_size": 1, "clients": 1, "operations": 1000, "seed": 0,
    "capacity_ops_per_s": 1000, "warmup_s": 0.5, "measure_s": 2,
}  # fmt: skip


def program(directory: Path, script: str) -> Path:
    file = directory / "workload-analyze"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)
    return file


@pytest.mark.parametrize(
    ("method", "shares"),
    [("nocache", (0.7, 0.3)), ("farreach", (0.2, 0.1)), ("netcache", (0.6, 0.1))],
)
def test_a_switch_absorbs_what_the_lines_say(
    tmp_path: Path, method: str, shares: tuple[float, ...]
) -> None:
    (tmp_path / "answer.json").write_text(json.dumps(DOCUMENT))
    answers = program(tmp_path, f"cat {tmp_path}/answer.json")
    made = WorkloadAnalyzer(answers, 10.0).predict(PARAMETERS | {"method": method}, 0)
    assert made.trace.shares == pytest.approx(shares)
    assert made.infinite == made.trace
    assert made.trace.normalized == pytest.approx(1 / max(shares))
    assert made.recorded == FACTS


def test_a_bad_line_is_said_without_the_words_around_it(tmp_path: Path) -> None:
    said = "trace /traces/a.csv:7: operation"
    fails = program(tmp_path, f'echo "workload-analyze: {said}" >&2; exit 2')
    with pytest.raises(TurntableError) as caught:
        WorkloadAnalyzer(fails, 10.0).predict(PARAMETERS | {"method": "nocache"}, 0)
    assert str(caught.value) == said


def test_a_name_of_a_file_may_have_any_bytes(tmp_path: Path) -> None:
    fails = program(tmp_path, r"printf 'trace /traces/caf\351.csv:7: operation' >&2; exit 2")
    with pytest.raises(TurntableError, match=r"caf.xe9\.csv:7: operation"):
        WorkloadAnalyzer(fails, 10.0).predict(PARAMETERS | {"method": "nocache"}, 0)


@pytest.mark.parametrize(
    ("changed", "is_promised"),
    [
        ({}, True),  # 5 x 1,000 requests, a quarter of them at the busiest server: 1,250 of 1,250
        ({"measure_s": 1.2}, False),
        ({"capacity_ops_per_s": 0}, False),
        ({"target_ops_per_s": 4000, "measure_s": 1.25}, True),
        ({"target_ops_per_s": 3900, "measure_s": 1.25}, False),
    ],
)
def test_a_window_has_the_trace_often_or_promises_nothing(
    changed: dict[str, Any], is_promised: bool
) -> None:
    prediction = Prediction(2, EVEN, EVEN, requests=EVEN.shares, recorded=FACTS)
    parameters = PARAMETERS | {"method": "nocache", "measure_s": 1.25} | changed
    if is_promised:
        assert expected_rates([], prediction, parameters) == {}
        return
    with pytest.raises(NoPromiseError, match="less than 5 times"):
        expected_rates([], prediction, parameters)
