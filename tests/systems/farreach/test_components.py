"""Requests of each phase."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable_core import components
from turntable_core import testbed as inventory
from turntable_core.context import Context
from turntable_core.spec import Scale
from turntable_systems.farreach import switch_tables
from turntable_systems.farreach.prediction import WriteThrough

from .plans import make_plan
from .testbeds import GROUPS, hostvars


@pytest.fixture
def testbed() -> inventory.Testbed:
    return inventory.read_testbed(hostvars(), GROUPS)


@pytest.fixture
def context(testbed: inventory.Testbed, scale: Scale) -> Context:
    """Iteration 3 of a rotation over 4 partitions whose bottleneck is 2: partitions 2 and 3."""
    plan = make_plan(scale)
    turn = plan.turns[0]
    return Context(testbed, plan, turn, turn.iterations[3], start_at_ns=10_000_000_000)


def test_prepare_asks_servers_and_clients_for_the_same_placement(context: Context) -> None:
    batches = components.batches(["kvserver", "kvclient", "switch"], "prepare", context)
    servers = {host: batches[host][0].args["logical_servers"] for host in ("server0", "server1")}
    assert servers == {
        "server0": [{"partition": 2, "udp_port": 1152}],
        "server1": [{"partition": 3, "udp_port": 1154}],
    }
    clients = [batches[host][0].args for host in ("client0", "client1")]
    assert [(c["first_client"], c["clients"], c["partitions"]) for c in clients] == [
        (0, 4, [2, 3]), (4, 4, [2, 3]),
    ]  # fmt: skip
    assert {c["server_address"] for c in clients} == {"198.18.0.3"}
    assert clients[0]["workload"] == batches["server0"][0].args["workload"]
    assert [request.command for request in batches["switch0"]] == [
        "counter_clear",
        "port_stats_clear",
    ]


def planned_with_model(context: Context, deviations: tuple = ()) -> Context:
    """Of NetCache, planned with `deviations` of its model."""
    model = (WriteThrough(0, ((0.5, 0.5, 0, 0),) * 4, deviations),)
    prediction = replace(context.turn.prediction, write_through=model)
    return replace(context, turn=replace(context.turn, prediction=prediction))


def pieces(context: Context) -> list[tuple[int, int] | None]:
    batches = components.batches(["kvclient"], "prepare", context)
    asked = [batches[host][0].args for host in ("client0", "client1")]
    return [(args["piece"], args["pieces"]) if "piece" in args else None for args in asked]


def test_clients_replay_the_piece_of_their_iteration(context: Context) -> None:
    assert pieces(context) == [(3, 4)] * 2
    inserting = context.parameters | {"workload": "workloadd"}
    cell = replace(context.turn.cell, parameters=inserting)
    assert pieces(replace(context, turn=replace(context.turn, cell=cell))) == [None] * 2


def test_clients_replay_what_the_model_of_their_plan_did(context: Context) -> None:
    apart = ((0.01, 0.0),) * 4
    assert pieces(planned_with_model(context, apart)) == [(3, 4)] * 2
    # A plan of an older version: its model is of the beginning of the traces.
    assert pieces(planned_with_model(context)) == [None] * 2


def ramp_us(context: Context) -> int | None:
    (request,) = components.batches(["kvclient"], "prepare", context)["client0"]
    return request.args.get("ramp_us")


def test_clients_begin_one_after_the_other(context: Context) -> None:
    # Of 1 s, two answers to each of 8 clients by a server with 100 ops/s take 0.16 s.
    assert ramp_us(with_parameters(context, ramp_share=0.5)) == 420_000
    assert ramp_us(with_parameters(context, ramp_share=0.5, clients=80)) == 0
    assert ramp_us(with_parameters(context, ramp_share=0.5, capacity_ops_per_s=0)) == 500_000
    # A plan of an older version.
    parameters = {name: context.parameters[name] for name in context.parameters}
    parameters.pop("ramp_share", None)
    cell = replace(context.turn.cell, parameters=parameters)
    assert ramp_us(replace(context, turn=replace(context.turn, cell=cell))) == 0


def test_iteration_zero_ends_what_the_second_server_did_before(context: Context) -> None:
    first = Context(context.testbed, context.plan, context.turn, context.turn.iterations[0])
    asked = components.batches(["kvserver"], "prepare", first)
    assert [request.command for request in asked["server0"]] == ["prepare"]
    assert [request.command for request in asked["server1"]] == ["stop"]


def test_clients_begin_so_long_after_the_command(context: Context) -> None:
    assert with_parameters(context, start_lead_ms=120).lead_s(1) == 0.12


def test_window_begins_after_the_warm_up(context: Context) -> None:
    batches = components.batches(["kvserver", "kvclient"], "begin", context)
    assert batches["server1"][0].args == {
        "measure_from_ns": 11_000_000_000,
        "measure_until_ns": 12_000_000_000,
    }
    assert batches["client0"][0].args["start_at_ns"] == 10_000_000_000
    assert batches["client0"][0].args["warmup_ns"] == 1_000_000_000


def test_configure_loads_the_bottleneck_on_one_host_and_the_rest_on_the_other(
    context: Context,
) -> None:
    batches = components.batches(["kvserver"], "configure", context)
    assert batches["server0"][0].args["partitions"] == [2]
    assert batches["server1"][0].args["partitions"] == [0, 1, 3]


def test_nodes_with_control_links_get_the_secret_on_their_input_alone(context: Context) -> None:
    context = replace(context, secret="s3cr3t")
    names = ("kvserver", "kvclient", "switch_agent", "cache_controller")
    spawned = components.batches(names, "start", context)
    requests = [request for of_host in spawned.values() for request in of_host]
    assert {request.args["name"] for request in requests} == {n.replace("_", "-") for n in names}
    for request in requests:
        assert request.args["input"] == "s3cr3t"
        assert request.args["argv"][-2:] == ["--secret", "/dev/stdin"]
        assert "s3cr3t" not in " ".join(request.args["argv"])
    (switch,) = components.batches(["switch"], "start", context).values()
    assert "input" not in switch[0].args


def test_clients_send_by_the_means_that_the_inventory_says(context: Context) -> None:
    def options(context: Context) -> dict[str, list[str]]:
        spawned = components.batches(["kvclient"], "start", context)
        return {host: request.args["argv"][7:-2] for host, (request,) in spawned.items()}

    assert options(context) == {"client0": [], "client1": []}
    variables = hostvars()
    variables["client0"] |= {"turntable_datagrams": "af_xdp", "turntable_data_interface": "tt-data"}
    by_xdp = replace(context, testbed=inventory.read_testbed(variables, GROUPS))
    wanted = ["--datagrams", "af_xdp", "--interface", "tt-data"]
    assert options(by_xdp) == {"client0": wanted, "client1": []}


@pytest.fixture
def caching(context: Context) -> Context:
    """The same turn with FarReach and a cache of 100 keys."""
    turn = context.turn
    parameters = dict(turn.cell.parameters) | {
        "method": "farreach",
        "cache_size": 100,
        "hot_threshold": 7,
        "client_copies": True,
        "snapshot_period_s": 0,
    }
    cell = replace(turn.cell, parameters=parameters)
    return replace(context, turn=replace(turn, cell=cell))


def test_without_a_cache_nobody_is_asked_about_it(context: Context) -> None:
    nodes = ["switch_agent", "cache_controller"]
    assert components.batches(["cache_controller"], "prepare", context) == {}
    assert components.batches(nodes, "collect", context) == {}
    configured = components.batches(nodes, "configure", context)
    assert [request.command for (request,) in configured.values()] == ["stop", "stop"]


def test_the_agent_knows_where_each_partition_and_client_is(caching: Context) -> None:
    ((host, (request,)),) = components.batches(["switch_agent"], "configure", caching).items()
    assert (host, request.command) == ("switch0", "configure")
    # Partition 2 is the bottleneck, on the first server at port 2; the others on the second one.
    assert request.args["egress_ports"] == [3, 3, 2, 3]
    assert request.args["clients"] == [
        {"address": "198.18.0.1", "port": 0},
        {"address": "198.18.0.2", "port": 1},
    ]
    assert (request.args["hot_threshold"], request.args["victims_sampled"]) == (7, 10)
    assert (request.args["cache_size"], request.args["cpu_port"]) == (100, 64)


def test_the_hottest_keys_are_cached_before_the_turn_and_again_before_an_iteration(
    caching: Context,
) -> None:
    configured = components.batches(["cache_controller"], "configure", caching)["server0"]
    assert [request.command for request in configured] == ["configure", "warm_up"]
    assert configured[0].args["agent_address"] == "198.19.0.10"
    assert configured[1].args["count"] == 100
    ((host, (request,)),) = components.batches(["cache_controller"], "prepare", caching).items()
    assert (host, request.command, request.args["partitions"]) == ("server0", "readmit", [2, 3])
    prepared = components.batches(["kvserver"], "prepare", caching)
    assert {requests[0].args["method"] for requests in prepared.values()} == {"farreach"}


def test_the_switchs_own_answers_are_read_where_there_are_any(
    context: Context, caching: Context
) -> None:
    def tables(here: Context) -> list[str]:
        (requests,) = components.batches(["switch"], "collect", here).values()
        return [r.args["table"] for r in requests if r.command == "counter_read"]

    assert tables(caching) == [*tables(context), switch_tables.OUTCOMES]


@pytest.fixture
def crashing(caching: Context) -> Context:
    """The same turn, whose switch and servers are killed after each measurement."""
    cell = caching.turn.cell
    cell = replace(cell, parameters=dict(cell.parameters) | {"crash": "switch_and_servers"})
    return replace(caching, turn=replace(caching.turn, cell=cell))


def test_a_crash_kills_the_nodes_of_the_cell(caching: Context, crashing: Context) -> None:
    assert components.batches(["crash"], "kill_nodes", caching) == {}
    killed = components.batches(["crash"], "kill_nodes", crashing)
    assert {host: [request.args for request in requests] for host, requests in killed.items()} == {
        "switch0": [{"name": "softswitch", "kill": True}],
        "server0": [{"name": "kvserver", "kill": True}],
        "server1": [{"name": "kvserver", "kill": True}],
    }
    parameters = dict(crashing.turn.cell.parameters) | {"crash": "switch"}
    cell = replace(crashing.turn.cell, parameters=parameters)
    alone = replace(crashing, turn=replace(crashing.turn, cell=cell))
    assert list(components.batches(["crash"], "kill_nodes", alone)) == ["switch0"]


def test_a_crash_over_bf_runtime_kills_the_switch_behind_its_driver(crashing: Context) -> None:
    variables = hostvars()
    variables["switch0"]["turntable_switch_target"] = "bfrt"
    crashing = replace(crashing, testbed=inventory.read_testbed(variables, GROUPS))
    killed = components.batches(["crash"], "kill_nodes", crashing)["switch0"]
    names = ["softswitch", "bfrt-server", "bfrt-driver"]
    assert [request.args for request in killed] == [{"name": n, "kill": True} for n in names]
    started = components.batches(["switch"], "start", crashing)["switch0"]
    assert [request.args["name"] for request in started] == names


def test_the_agent_talks_to_the_driver(caching: Context) -> None:
    variables = hostvars()
    variables["switch0"]["turntable_switch_target"] = "bfrt"
    over_bfrt = replace(caching, testbed=inventory.read_testbed(variables, GROUPS))
    for context, node in ((caching, "softswitch"), (over_bfrt, "bfrt-driver")):
        (request,) = components.batches(["switch_agent"], "start", context)["switch0"]
        argv = request.args["argv"]
        assert argv[argv.index("--switch") + 1] == node


@pytest.mark.parametrize(
    ("other_end", "used"), [("tt-cpuctl", "tt-cpuctl"), (None, "enp4s0")], ids=["veth", "chip"]
)
def test_the_agent_has_its_end_of_the_cpu_ports_link(
    caching: Context, other_end: str | None, used: str
) -> None:
    variables = hostvars()
    variables["switch0"]["turntable_cpu_interface"] = "enp4s0"
    variables["switch0"].pop("turntable_cpu_control_interface", None)
    if other_end:
        variables["switch0"]["turntable_cpu_control_interface"] = other_end
    context = replace(caching, testbed=inventory.read_testbed(variables, GROUPS))
    (request,) = components.batches(["switch_agent"], "start", context)["switch0"]
    argv = request.args["argv"]
    assert argv[argv.index("--cpu-interface") + 1] == used


def with_parameters(context: Context, **changes: object) -> Context:
    cell = context.turn.cell
    cell = replace(cell, parameters=dict(cell.parameters) | changes)
    return replace(context, turn=replace(context.turn, cell=cell))


def test_clients_of_a_write_back_cache_keep_copies_unless_told_otherwise(caching: Context) -> None:
    (request,) = components.batches(["kvclient"], "prepare", caching)["client0"]
    (of_server,) = components.batches(["kvserver"], "prepare", caching)["server0"]
    assert request.args["controller"] == of_server.args["controller"]
    assert request.args["copies_max"] >= 100
    for without in ({"client_copies": False}, {"method": "netcache"}):
        context = with_parameters(caching, **without)
        (request,) = components.batches(["kvclient"], "prepare", context)["client0"]
        assert not {"copies_max", "controller"} & set(request.args)


def test_snapshots_are_taken_from_the_clients_start_until_the_next_iteration(
    caching: Context,
) -> None:
    def asked(context: Context, verb: str) -> list[tuple[str, dict]]:
        batches = components.batches(["cache_controller"], verb, context)
        return [(r.command, r.args) for requests in batches.values() for r in requests]

    context = with_parameters(caching, snapshot_period_s=0.5)
    start_at_ns = context.start_at_ns
    assert asked(context, "begin") == [
        ("settings", {"snapshot_period_s": 0.5, "snapshot_from_ns": start_at_ns}),
        ("stats", {}),
    ]
    ended, readmitted = asked(context, "prepare")
    assert ended == ("settings", {"snapshot_period_s": 0})
    assert readmitted[0] == "readmit"
    assert asked(with_parameters(context, method="netcache"), "begin") == [("stats", {})]
    assert asked(caching, "begin") == [("stats", {})]
    assert asked(with_parameters(context, method="nocache"), "begin") == []


def test_a_recovery_is_of_the_running_partitions_and_is_done_again(crashing: Context) -> None:
    reopened = components.batches(["kvserver"], "reopen", crashing)
    assert all(request.args["keep_stores"] for (request,) in reopened.values())
    prepared = components.batches(["kvserver"], "prepare", crashing)
    assert not any("keep_stores" in request.args for (request,) in prepared.values())
    ((host, requests),) = components.batches(["cache_controller"], "recover", crashing).items()
    assert (host, [request.command for request in requests]) == ("server0", ["recover"] * 2)
    assert requests[0].args["partitions"] == [2, 3]
    assert requests[0].args["clients"] == 2  # kvclient processes, not logical clients
