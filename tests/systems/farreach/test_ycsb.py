"""Cells whose requests the released YCSB sends: what it is told, and how what it says is read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turntable.raw import RawAnswer
from turntable.systems.farreach import ycsb as said_by_ycsb
from turntable_core import components
from turntable_core import testbed as inventory
from turntable_core.context import Context
from turntable_core.errors import InputError
from turntable_core.overrides import ExtraVars, apply_overrides
from turntable_core.spec import Scale, choose_profile, load_experiment
from turntable_systems.farreach import ycsb

from .conftest import REPOSITORY
from .plans import make_plan
from .testbeds import GROUPS, hostvars

# Of YCSB 0.17.0, with workload A and a binding that gave up one insert and one read.
OUTPUT = """\
[OVERALL], RunTime(ms), 2003
[OVERALL], Throughput(ops/sec), 4993.5
[TOTAL_GC_TIME_%_Copy], Time(%), 0.4
[READ], Operations, 2501
[READ], AverageLatency(us), 3182.25
[READ], MinLatency(us), 26
[READ], MaxLatency(us), 42031
[READ], 95thPercentileLatency(us), 7467
[READ], 99thPercentileLatency(us), 8007
[READ], Return=OK, 2501
[READ], Return=SERVICE_UNAVAILABLE, 1
[CLEANUP], Operations, 8
[RETRY], Operations, 16
[RETRY], Return=TIMEOUT, 16
[INSERT-FAILED], Operations, 1
"""
LOADED = "[INSERT], Operations, 99\n[INSERT], Return=OK, 99\n[INSERT], Return=ERROR, 1\n"


@pytest.fixture
def ycsb_scale() -> Scale:
    experiment = load_experiment(REPOSITORY / "experiments" / "farreach" / "ycsb.yml")
    return choose_profile(experiment, "smoke")


def test_workloads_and_threads_have_ycsbs_names(ycsb_scale: Scale) -> None:
    extra = ExtraVars({"workload": "a,f", "ycsb_threads": "32"})
    changed = apply_overrides(ycsb_scale, extra)
    assert changed.factors["workload"] == ["workloada", "workloadf"]
    assert changed.constants["clients"] == 32


def test_a_parameter_is_given_by_one_of_its_names(ycsb_scale: Scale) -> None:
    extra = ExtraVars({"clients": "8", "ycsb_threads": "32"})
    with pytest.raises(InputError, match="not beside clients: it is the same"):
        apply_overrides(ycsb_scale, extra)


def test_values_of_the_experiment_are_those_of_its_records(ycsb_scale: Scale) -> None:
    """A field as it is; of several each with its name, one byte and four before it."""
    by_record = ycsb_scale.constants["value_bytes"]["values"]
    assert by_record == {"1x128": 128, "10x100": 10 * (1 + len("field0") + 4 + 100)}
    assert {record: ycsb.value_bytes(record) for record in by_record} == by_record


@pytest.fixture
def context(scale: Scale) -> Context:
    testbed = inventory.read_testbed(hostvars(), GROUPS)
    plan = make_plan(scale)
    turn = plan.turns[0]
    changed = {
        "client": "ycsb",
        "record": "1x128",
        "method": "farreach",
        "rotation": False,
        "client_copies": True,
    }
    cell = replace(turn.cell, parameters={**turn.cell.parameters, **changed})
    turn = replace(turn, cell=cell)
    plan = replace(plan, turns=(turn,))
    iteration = turn.iterations[3]
    return Context(testbed, plan, turn, iteration, start_at_ns=10_000_000_000, secret="x" * 32)


def _options(context: Context, verb: str) -> dict[str, str]:
    """Of YCSB's command line, properties by name."""
    (request,) = components.batches(["ycsb"], verb, context)["client0"]
    words = request.args["arguments"]
    pairs = zip(words[::2], words[1::2], strict=True)
    return dict(pair[1].split("=", 1) if pair[0] == "-p" else pair for pair in pairs)


def test_ycsb_is_told_what_kvclient_would_be(context: Context) -> None:
    options = _options(context, "load")
    assert (options["recordcount"], options["operationcount"]) == ("1000", "2000")
    assert (options["readproportion"], options["updateproportion"]) == ("0.5", "0.5")
    assert (options["fieldcount"], options["fieldlength"]) == ("1", "128")
    assert options["-threads"] == "8"
    assert options["kv.server"] == "198.18.0.3:1152"
    assert options["kv.copies"] == "10"
    begun = _options(context, "begin")
    assert begun.items() >= options.items()
    assert begun["kv.start_at_ns"] == "10000000000"
    assert int(begun["maxexecutiontime"]) >= context.windows.loaded_s


def test_one_client_sends_at_a_time(context: Context) -> None:
    for verb in ("begin", "wait", "collect"):
        assert components.batches(["kvclient"], verb, context) == {}
    of_kvclient = replace(context.turn.cell, parameters=dict(context.parameters, client="kvclient"))
    other = replace(context, turn=replace(context.turn, cell=of_kvclient))
    assert components.batches(["ycsb"], "begin", other) == {}


def test_of_workloads_that_are_not_ycsbs_it_is_asked_nothing(context: Context) -> None:
    """Other experiments' cells have no `record` either."""
    parameters = dict(context.parameters, client="kvclient", workload="synthetic")
    del parameters["record"]
    cell = replace(context.turn.cell, parameters=parameters)
    other = replace(context, turn=replace(context.turn, cell=cell))
    for verb in ("load", "begin", "wait", "collect"):
        assert components.batches(["ycsb"], verb, other) == {}


def test_ycsb_finds_empty_stores_and_a_snapshot_follows_its_load(context: Context) -> None:
    (request,) = components.batches(["kvserver"], "prepare", context)["server0"]
    assert request.args["workload"]["name"] == "workload-load"
    (snapshot,) = components.batches(["cache_controller"], "snapshot", context)["server0"]
    assert snapshot.command == "snapshot"


def test_a_property_file_is_passed_on_as_it_is(context: Context) -> None:
    parameters = dict(context.parameters, ycsb_properties="/y/workloada", record="10x100")
    arguments = ycsb.phase_arguments(parameters)
    assert arguments[:2] == ["-P", "/y/workloada"]
    # Sizes alone come beside it: ten fields of 100 bytes are YCSB's own.
    assert [word.split("=")[0] for word in arguments[3::2]] == ["recordcount", "operationcount"]


def _answer(load: dict[str, Any], run: dict[str, Any]) -> RawAnswer:
    phases = {
        "load": {"said": LOADED, "statistics": load},
        "run": {"said": OUTPUT, "statistics": run},
    }
    return RawAnswer("client0", "collect", "ycsbclient", "stats", phases)


def test_what_ycsb_says_is_read() -> None:
    said = said_by_ycsb.said([_answer({}, {})])
    assert said is not None
    assert said.ops_per_s == 4993.5
    assert said.operations == {"READ": said_by_ycsb.Operation(2501, 3182.25, 7467.0, 8007.0)}
    assert said.errors == {"YCSB run: READ SERVICE_UNAVAILABLE": 1, "YCSB load: INSERT ERROR": 1}


def test_the_switch_counts_both_phases() -> None:
    counts = dict.fromkeys(said_by_ycsb._OF_BOTH_PHASES, 1)
    load = counts | {"partitions": [{"partition": 0, "requests_total": 5, "answers_total": 4}]}
    run = counts | {
        "partitions": [
            {"partition": 0, "requests_total": 50, "answers_total": 40, "server_ops": 30}
        ]
    }
    (client,) = said_by_ycsb.clients([_answer(load, run)])
    assert client["retries"] == 2
    assert client["partitions"] == [
        {"partition": 0, "requests_total": 55, "answers_total": 44, "server_ops": 30}
    ]


def test_a_property_file_says_nothing_to_kvclient(scale: Scale, tmp_path: Path) -> None:
    assert "ycsb_properties" in ycsb.meaningless({"client": "kvclient"})
    assert ycsb.meaningless({"client": "ycsb"}) == frozenset()
