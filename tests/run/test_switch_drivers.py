"""Switches that are several nodes: their order, what starts them, and what they are not asked."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import components, programs, systems
from turntable_core.context import Context
from turntable_core.requests import Request
from turntable_core.spec import Scale
from turntable_core.switch import CRASH, driver, driver_of
from turntable_core.switch.bfrt import BfrtSwitch
from turntable_core.testbed import read_testbed
from turntable_core.timeline import Event

from .plans import make_plan
from .testbeds import GROUPS, hostvars, over_bfrt

NODES = ["softswitch", "bfrt-server", "bfrt-driver"]


@pytest.fixture
def context(scale: Scale) -> Context:
    plan = make_plan(scale)
    return Context(over_bfrt(), plan, plan.turns[0], plan.turns[0].iterations[3])


@pytest.fixture
def realtime(monkeypatch: pytest.MonkeyPatch) -> None:
    settings = {"realtime": True, "slow": 0}
    monkeypatch.setattr(type(systems.find("fake")), "switch_settings", lambda *_: settings)


def of_switch(context: Context, verb: str) -> list[Request]:
    return components.batches(["switch"], verb, context).get("switch0", [])


def argv(context: Context, node: str) -> list[str]:
    [words] = [r.args["argv"] for r in of_switch(context, "start") if r.args["name"] == node]
    return words


def option(words: list[str], name: str) -> str:
    [value] = [after for word, after in itertools.pairwise(words) if word == name]
    return value


def test_nodes_start_in_order(context: Context) -> None:
    started = of_switch(context, "start")
    assert [request.args["name"] for request in started] == NODES
    assert [request.args["argv"][0] for request in started] == [f"/bin/{name}" for name in NODES]
    assert {(request.node, request.command) for request in started} == {("supervisor", "spawn")}


def test_driver_and_server_meet_on_the_loopback(context: Context) -> None:
    server, driver_ = argv(context, "bfrt-server"), argv(context, "bfrt-driver")
    address = f"{option(server, '--address')}:{option(server, '--port')}"
    assert address == option(driver_, "--switch") == "127.0.0.1:50052"


def test_driver_is_told_program_and_schema(context: Context) -> None:
    words = argv(context, "bfrt-driver")
    assert option(argv(context, "softswitch"), "--program") == "/p4/plain.so"
    assert option(words, "--program") == "plain"
    assert option(words, "--schema") == "/p4/plain.bfrt.json"
    # The supervisor would end it after 10 s, and nothing would be said of what it waited for.
    assert 0 < float(option(words, "--start-deadline")) < context.plan.deadlines["start_nodes"]


@pytest.mark.parametrize(
    ("first", "pipe", "pipes"), [(0, "0", "2"), (132, "1", "2"), (256, "2", "4")]
)
def test_registers_are_read_in_the_hosts_pipe(
    context: Context, first: int, pipe: str, pipes: str
) -> None:
    variables = hostvars()
    variables["switch0"]["turntable_switch_target"] = "bfrt"
    for index, name in enumerate(GROUPS["endpoints"]):
        variables[name]["turntable_switch_port"] = first + index
    moved = replace(context, testbed=read_testbed(variables, GROUPS))
    assert option(argv(moved, "bfrt-driver"), "--pipe") == pipe
    assert option(argv(moved, "bfrt-server"), "--pipes") == pipes


def test_pipes_of_hosts_that_the_system_does_not_have_are_no_matter(context: Context) -> None:
    """Where they are, its registers are empty."""
    variables = hostvars()
    variables["switch0"]["turntable_switch_target"] = "bfrt"
    variables["receiver1"]["turntable_switch_port"] = 200  # of pipe 1
    groups = GROUPS | {"receivers": ["receiver0"], "watchers": ["receiver1"]}
    moved = replace(context, testbed=read_testbed(variables, groups))
    assert option(argv(moved, "bfrt-driver"), "--pipe") == "0"


def test_another_program_ends_the_nodes_in_reverse_order(context: Context) -> None:
    done = [(r.command, r.args["name"]) for r in of_switch(context, "change_program")]
    ends, starts = [("stop", name) for name in reversed(NODES)], [("spawn", n) for n in NODES]
    assert done == ends + starts


def test_a_crash_kills_the_node_that_has_the_state_first(context: Context) -> None:
    killed = of_switch(context, "crash")
    assert [request.args for request in killed] == [{"name": n, "kill": True} for n in NODES]


def test_the_driver_is_asked_and_nothing_else(context: Context, realtime: None) -> None:
    for verb in ("configure", "prepare", "collect"):
        assert {request.node for request in of_switch(context, verb)} == {"bfrt-driver"}
    # It would refuse to begin the counts of a thread that it cannot ask.
    assert components.batches(["switch"], "begin", context) == {}


def test_settings_that_the_switch_starts_with_are_not_asked_for(
    context: Context, realtime: None
) -> None:
    assert "--realtime" in argv(context, "softswitch")
    *_, settings = of_switch(context, "configure")
    assert (settings.command, settings.args) == ("settings", {"slow": 0})


def test_settings_that_are_off_are_no_options(context: Context) -> None:
    assert "--realtime" not in argv(context, "softswitch")


def test_a_switch_that_is_no_node_has_its_driver_alone(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "_DRIVERS", {"bfrt": BfrtSwitch})
    assert [request.args["name"] for request in of_switch(context, "start")] == ["bfrt-driver"]
    ended = [(r.command, r.args["name"]) for r in of_switch(context, "change_program")]
    assert ended == [("stop", "bfrt-driver"), ("spawn", "bfrt-driver")]
    assert CRASH in driver_of(context.testbed.switch).cannot


def test_host_has_the_programs_of_all_nodes() -> None:
    made = over_bfrt()
    names = [Path(p).name for p in programs.programs_of(made.switch, made, [systems.find("fake")])]
    assert names == ["supervisor", "nodectl", *NODES, "agent"]


def test_files_of_the_driver_are_compared_too(tmp_path: Path) -> None:
    for name in ("bin/" + n for n in ("supervisor", "nodectl", *NODES, "agent")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    (tmp_path / "lib/p4").mkdir(parents=True)
    for name in ("plain.so", "plain.bfrt.json"):
        (tmp_path / "lib/p4" / name).write_text(name)
    made = over_bfrt()
    wanted = programs._wanted(made.switch, made, systems.find("fake"), tmp_path)
    assert {"/p4/plain.so", "/p4/plain.bfrt.json"} <= wanted.keys()


def test_a_timeline_names_every_node_of_the_switch(context: Context) -> None:
    event = Event(1, "kill", "switch0")
    dying = replace(context, plan=replace(context.plan, timeline=(event,)), start_at_ns=0)
    [told] = components.batches(["timeline"], "begin", dying)["switch0"]
    [part] = told.args["events"]
    assert [request["args"]["name"] for request in part["requests"]] == NODES
