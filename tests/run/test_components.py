"""Requests of each phase: components of any system, and those of a system's own."""

from __future__ import annotations

import itertools
from dataclasses import replace

import pytest

from turntable_core import components
from turntable_core import testbed as inventory
from turntable_core.components import supervisor
from turntable_core.context import Context
from turntable_core.errors import InputError, TurntableError
from turntable_core.spec import Scale

from .plans import make_plan
from .testbeds import GROUPS, OWNER, hostvars


@pytest.fixture
def testbed() -> inventory.Testbed:
    return inventory.read_testbed(hostvars(), GROUPS)


@pytest.fixture
def context(testbed: inventory.Testbed, scale: Scale) -> Context:
    """Station d, the last of four."""
    plan = make_plan(scale)
    turn = plan.turns[0]
    return Context(testbed, plan, turn, turn.iterations[3], start_at_ns=10_000_000_000)


def test_switch_traces_what_the_inventory_says(context: Context) -> None:
    def argv(context: Context) -> list[str]:
        [request] = components.batches(["switch"], "start", context)["switch0"]
        return request.args["argv"]

    assert "--trace" not in argv(context)
    variables = hostvars()
    variables["switch0"]["turntable_switch_trace"] = "udp=1152,count=20"
    traced = replace(context, testbed=inventory.read_testbed(variables, GROUPS))
    assert argv(traced)[-2:] == ["--trace", "udp=1152,count=20"]


def test_a_switch_has_the_links_that_the_system_asks_for(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def commands(verb: str) -> list[str]:
        return [r.command for r in components.batches(["switch"], verb, context)["switch0"]]

    verbs = {"configure": "tm_write", "prepare": "tm_clear", "collect": "tm_read"}
    for verb, command in verbs.items():
        assert command not in commands(verb)
    updates = [{"port": 0, "link_bps": 1_000_000}]
    monkeypatch.setattr(type(context.system), "switch_traffic", lambda *_: updates)
    for verb, command in verbs.items():
        assert command in commands(verb)
    [written] = [
        request
        for request in components.batches(["switch"], "configure", context)["switch0"]
        if request.command == "tm_write"
    ]
    assert written.args == {"updates": updates}


def test_switch_has_a_port_for_every_endpoint(context: Context) -> None:
    [request] = components.batches(["switch"], "start", context)["switch0"]
    argv = request.args["argv"]
    ports = [value for flag, value in itertools.pairwise(argv) if flag == "--port"]
    assert ports == ["0=p0", "1=p1", "2=p2", "3=p3"]


def test_switch_gets_tables_settings_and_counters_from_the_system(context: Context) -> None:
    written, settings = components.batches(["switch"], "configure", context)["switch0"]
    assert (written.command, written.args) == (
        "table_write",
        {"updates": [{"op": "clear", "table": "stations"}]},
    )
    assert (settings.command, settings.args) == ("settings", {"slow": False})
    prepared = components.batches(["switch"], "prepare", context)["switch0"]
    assert [request.command for request in prepared] == ["counter_clear", "port_stats_clear"]
    collected = components.batches(["switch"], "collect", context)["switch0"]
    assert [(request.command, request.args) for request in collected] == [
        ("port_stats", {}),
        ("counter_read", {"table": "asked"}),
        ("counter_read", {"table": "answered"}),
        ("info", {}),
    ]


def test_hosts_are_looked_at_before_and_after_a_measurement(context: Context) -> None:
    hosts = ["switch0", "sender0", "sender1", "receiver0", "receiver1"]
    for verb, of_switch in (("begin", "pipeline_thread_clear"), ("collect", "info")):
        own = ["sender"] if verb == "begin" else []
        batches = components.batches([*own, "switch", "supervisor"], verb, context)
        assert sorted(batches) == sorted(hosts)
        # Last: the senders' start must not wait for it.
        assert [batches[host][-1].command for host in hosts] == ["host_stats"] * 5
        assert batches["switch0"][-2].command == of_switch


def with_lead_ms(context: Context, lead_ms: int) -> Context:
    cell = context.turn.cell
    cell = replace(cell, parameters={**cell.parameters, "lead_ms": lead_ms})
    return replace(context, turn=replace(context.turn, cell=cell))


def test_attempt_after_the_first_has_more_time_until_its_start(context: Context) -> None:
    def leads(lead_ms: int) -> list[float]:
        return [with_lead_ms(context, lead_ms).lead_s(attempt) for attempt in (1, 2, 3)]

    assert leads(120) == [0.12, 1, 1]
    assert leads(3000) == [3, 3, 3]


def test_a_command_that_came_too_late_says_how_much_time_the_next_has(context: Context) -> None:
    late = "kvclient start: the command came 0.50 s …; the host is busy, or its clock differs (…)"
    here = with_lead_ms(context, 120)
    first, second = (here.with_lead(late, attempt).removeprefix(late) for attempt in (1, 2))
    assert first == (
        "\nThere were 0.12 s between command and common start; a later attempt has 1 s"
    )
    assert second.startswith("\nThere were 1 s between command and common start, in later attempts")
    assert here.with_lead("disk full", 1) == "disk full"


def test_window_begins_after_the_warm_up(context: Context) -> None:
    batches = components.batches(["sender"], "begin", context)
    assert batches["sender1"][0].args == {
        "station": "d",
        "from_ns": 11_000_000_000,
        "until_ns": 12_000_000_000,
    }


def test_nodes_run_at_the_hosts_priority(context: Context) -> None:
    testbed = context.testbed
    # Nodes inherit it from their supervisor.
    lines = supervisor.command_lines(testbed, OWNER, testbed.hosts)
    assert "&& /bin/supervisor" in lines["sender0"]
    assert "&& nice -n -15 /bin/supervisor" in lines["sender1"]


def test_nodes_with_control_links_get_the_secret_on_their_input_alone(context: Context) -> None:
    context = replace(context, secret="s3cr3t")
    ((linked,), (without,)) = components.batches(["sender"], "start", context).values()
    assert linked.args["input"] == "s3cr3t"
    assert linked.args["argv"][-2:] == ["--secret", "/dev/stdin"]
    assert "s3cr3t" not in " ".join(linked.args["argv"])
    assert "input" not in without.args
    (switch,) = components.batches(["switch"], "start", context).values()
    assert "input" not in switch[0].args


def test_unknown_component_and_verb_are_errors(context: Context) -> None:
    expected = (
        r"component 'sneder': expected a module of this name in turntable_systems\.fake\.components"
        r" or turntable_core\.components"
    )
    with pytest.raises(TurntableError, match=expected):
        components.batches(["sneder"], "start", context)
    with pytest.raises(TurntableError, match=r"component 'sender' has no verb 'strat'"):
        components.batches(["sender"], "strat", context)


def test_a_component_that_fails_inside_is_not_taken_for_a_missing_one(
    context: Context, monkeypatch: pytest.MonkeyPatch
) -> None:
    def start(context: Context) -> None:
        raise AttributeError("of something else")

    monkeypatch.setattr("turntable_systems.fake.components.sender.start", start)
    with pytest.raises(AttributeError, match="of something else"):
        components.batches(["sender"], "start", context)


def test_missing_inventory_values_are_named() -> None:
    variables = hostvars()
    del variables["receiver1"]["turntable_data_mac"]
    with pytest.raises(InputError, match=r"inventory: host receiver1: turntable_data_mac"):
        inventory.read_testbed(variables, GROUPS)
    with pytest.raises(InputError, match=r"group endpoints: \[\].*groups of hosts"):
        inventory.read_testbed(variables, {"all": [], "switches": ["switch0"]})


def test_another_program_means_another_switch(context: Context) -> None:
    (requests,) = components.batches(["switch"], "change_program", context).values()
    assert [(request.node, request.command) for request in requests] == [
        ("supervisor", "stop"),
        ("supervisor", "spawn"),
    ]
    assert requests[0].args == {"name": "softswitch"}
    assert "/p4/plain.so" in requests[1].args["argv"]
