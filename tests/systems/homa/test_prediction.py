"""What planning asks homa-sim, and what it makes of the answer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turntable_core.asked_program import AskedProgram
from turntable_core.errors import TurntableError
from turntable_systems.homa import prediction, simulation
from turntable_systems.homa.system import Homa

from .conftest import REPOSITORY, parameters

BUILD = REPOSITORY / "build"
needs_program = pytest.mark.skipif(
    not (BUILD / "bin/homa-sim").exists(), reason="build/bin lacks homa-sim: run `make build` first"
)


def test_all_transports_are_asked_for_the_same_calls() -> None:
    asked = [simulation.question(parameters(method=m), 2) for m in ("basic", "homa-p8", "tcp")]
    for name in ("sizes", "load", "seed", "hosts", "gbps", "measure_s", "arrivals"):
        assert asked[0][name] == asked[1][name] == asked[2][name]
    assert asked[0]["seed"] == 9


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({}, {"levels": 8, "paper": "W3"}),
        ({"method": "basic"}, {"levels": 1}),
        ({"priorities": "rule"}, {"levels": 8, "paper_degree": "W3"}),
        ({"degree": 2, "cutoffs": "469+5521"}, {"degree": 2, "cutoffs": [469, 5521]}),
    ],
)
def test_priorities_are_the_papers_or_those_of_its_rule(changes: dict, expected: dict) -> None:
    asked = simulation.question(parameters(**changes), 0)
    assert {name: asked[name] for name in expected} == expected
    known = {"paper", "paper_degree", "degree", "cutoffs"}
    if "cutoffs" not in changes:
        assert known & set(asked) == known & set(expected)


def planned(**changes: object) -> prediction.Prediction:
    plan = Homa().planner(BUILD, 60.0, lambda: None)
    return plan(parameters(measure_s=2, drain_s=2, **changes), 0).prediction


@needs_program
def test_the_papers_settings_come_back() -> None:
    """Its table for W3 with 8 priorities, homa reference §4."""
    made = planned()
    assert made.cutoffs == (469, 5521, 15267)
    assert (made.unscheduled_levels, made.degree) == (4, 4)


@needs_program
def test_a_prediction_survives_the_plan() -> None:
    from dataclasses import asdict  # noqa: PLC0415

    made = planned(method="homa-p2")
    assert prediction.from_json(json.loads(json.dumps(asdict(made)))) == made
    assert len(made.slowdown_1000) == 10
    assert (made.idle_ns[0][0], made.idle_ns[-1][0]) == (3, 1_000_000)
    # 3 bytes: 20 + 3 + 42 + 24 over four links, 1 ms twice.
    assert made.idle_ns[0][1] == pytest.approx(2e6 + 4 * 89 * 8 / 20 * 1e3, rel=1e-3)


@needs_program
def test_of_tcp_the_calls_are_known_and_no_slowdowns() -> None:
    of_tcp, of_homa = planned(method="tcp"), planned(method="homa-p8")
    assert (of_tcp.calls, of_tcp.payload_bps) == (of_homa.calls, of_homa.payload_bps)
    assert of_tcp.idle_ns == of_homa.idle_ns
    assert (of_tcp.rtt_ns, of_tcp.slowdown_1000) == ((), ())


@needs_program
def test_a_file_that_is_no_table_is_named(tmp_path: Path) -> None:
    file = tmp_path / "sizes.txt"
    file.write_text("15\n10 0.5\n20 0.9\n")
    with pytest.raises(TurntableError, match=r"line 3: the last probability is 0\.9; expected 1"):
        planned(sizes=str(file), priorities="rule")


def test_a_question_that_is_refused_is_shown_without_its_table(tmp_path: Path) -> None:
    program = tmp_path / "homa-sim"
    program.write_text("#!/bin/sh\ncat > /dev/null; echo no such load >&2; exit 2\n")
    program.chmod(0o755)
    with pytest.raises(TurntableError) as caught:
        AskedProgram(program, "homa", 10.0, lambda: None).ask(
            {"sizes": {"table": "7 0.001\n" * 300}, "load": 11}
        )
    text = str(caught.value)
    assert "ended with status 2: no such load. Asked was: " in text
    assert '{"table": "7 0.001 … (2400 characters)"}' in text  # 300 lines of 8
    assert '"load": 11' in text
    assert len(text) < len(str(program)) + 250


def test_a_program_that_is_not_built_is_named(tmp_path: Path) -> None:
    program = AskedProgram(tmp_path / "homa-sim", "homa", 1.0, lambda: None)
    with pytest.raises(TurntableError, match="build it with `make programs SYSTEM=homa`"):
        program.ask({})
