"""Requests of each phase, and where logical servers are placed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable_core import components, switch_tables
from turntable_core import testbed as inventory
from turntable_core.components import Context, kvclient, supervisor
from turntable_core.errors import InputError, TurntableError
from turntable_core.owner import Owner
from turntable_core.placement import place_of, slots_of
from turntable_core.spec import Scale

from .test_plan import make_plan


def hostvars() -> dict[str, dict]:
    common = {
        "turntable_testbed_id": "t",
        "turntable_fidelity_class": "emulated",
        "turntable_lease_s": 7,
        "turntable_bin_dir": "/bin",
        "turntable_p4_dir": "/p4",
    }
    variables = {}
    for index, name in enumerate(("switch0", "client0", "client1", "server0", "server1")):
        variables[name] = common | {
            "turntable_run_dir": f"/run/{name}",
            "turntable_state_dir": f"/state/{name}",
            "turntable_data_address": f"198.18.0.{index}",
            "turntable_data_mac": f"02:00:00:00:00:0{index}",
            "turntable_switch_port": index - 1,
            "turntable_switch_interface": f"p{index - 1}",
        }
    variables["switch0"] |= {
        "turntable_switch_target": "soft",
        "turntable_port_driver": "af_packet",
        "turntable_cpu_port": 64,
        "turntable_cpu_interface": "cpu",
        "turntable_control_address": "198.19.0.10",
    }
    variables["client1"]["turntable_node_nice"] = -15
    return variables


OWNER = Owner("alice", "ctl", 17, "20261121-183000-smoke", "tiny", 1)
GROUPS = {
    "switches": ["switch0"],
    "clients": ["client0", "client1"],
    "servers": ["server0", "server1"],
}


@pytest.fixture
def testbed() -> inventory.Testbed:
    return inventory.read_testbed(hostvars(), GROUPS)


@pytest.fixture
def context(testbed: inventory.Testbed, scale: Scale) -> Context:
    """Iteration 3 of a rotation over 4 partitions whose bottleneck is 2: partitions 2 and 3."""
    plan = make_plan(scale)
    turn = plan.turns[0]
    return Context(testbed, plan, turn, turn.iterations[3], start_at_ns=10_000_000_000)


def test_places_are_those_of_the_artifact() -> None:
    # FarReach reference §1.3: 1152 + r below the bottleneck, 1152 + r - 1 above it.
    places = [place_of(partition, bottleneck=2) for partition in range(4)]
    assert [(place.server, place.udp_port) for place in places] == [
        (1, 1152), (1, 1153), (0, 1152), (1, 1154),
    ]  # fmt: skip


def test_switch_traces_what_the_inventory_says(context: Context) -> None:
    def argv(context: Context) -> list[str]:
        [request] = components.batches(["softswitch"], "start", context)["switch0"]
        return request.args["argv"]

    assert "--trace" not in argv(context)
    variables = hostvars()
    variables["switch0"]["turntable_switch_trace"] = "udp=1152,count=20"
    traced = replace(context, testbed=inventory.read_testbed(variables, GROUPS))
    assert argv(traced)[-2:] == ["--trace", "udp=1152,count=20"]


@pytest.mark.parametrize("servers", [2, 16, 128])
def test_slots_are_covered_once(servers: int) -> None:
    slots = [
        slot
        for p in range(servers)
        for slot in range(slots_of(p, servers)[0], slots_of(p, servers)[1] + 1)
    ]
    assert slots == list(range(32768))


def test_slot_of_the_hottest_key_is_in_its_partition() -> None:
    # FarReach reference §5.2: slot 30317, partitions 14/29/59/118 at 16/32/64/128 servers.
    for servers, partition in ((16, 14), (32, 29), (64, 59), (128, 118)):
        low, high = slots_of(partition, servers)
        assert low <= 30317 <= high


def test_prepare_asks_servers_and_clients_for_the_same_placement(context: Context) -> None:
    batches = components.batches(["kvserver", "kvclient", "softswitch"], "prepare", context)
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


def test_iteration_zero_ends_what_the_second_server_did_before(context: Context) -> None:
    first = Context(context.testbed, context.plan, context.turn, context.turn.iterations[0])
    asked = components.batches(["kvserver"], "prepare", first)
    assert [request.command for request in asked["server0"]] == ["prepare"]
    assert [request.command for request in asked["server1"]] == ["stop"]


def test_hosts_are_looked_at_before_and_after_a_measurement(context: Context) -> None:
    hosts = ["switch0", "client0", "client1", "server0", "server1"]
    for verb, of_switch in (("begin", "pipeline_thread_clear"), ("collect", "info")):
        batches = components.batches(
            ["kvserver", "kvclient", "softswitch", "supervisor"], verb, context
        )
        assert sorted(batches) == sorted(hosts)
        # Last: the clients' start must not wait for it.
        assert [batches[host][-1].command for host in hosts] == ["host_stats"] * 5
        assert batches["switch0"][-2].command == of_switch


def test_attempt_after_the_first_has_more_time_until_its_start() -> None:
    leads = [kvclient.start_lead_ms({"start_lead_ms": 120}, attempt) for attempt in (1, 2, 3)]
    assert leads == [120, 1000, 1000]
    assert kvclient.start_lead_ms({"start_lead_ms": 3000}, 2) == 3000


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


def test_switch_sends_each_partition_to_its_server(testbed: inventory.Testbed) -> None:
    updates = switch_tables.of_turn(testbed, servers=4, bottleneck=2, cached=True)
    requests = [u for u in updates if u["op"] == "insert" and u["table"] == switch_tables.REQUESTS]
    placed = [
        (u["key"]["slot"], *(u["data"][key] for key in ("port", "ip", "udp_port")))
        for u in requests
    ]
    assert placed == [
        ({"low": 0, "high": 8191}, 3, "198.18.0.4", 1152),
        ({"low": 8192, "high": 16383}, 3, "198.18.0.4", 1153),
        ({"low": 16384, "high": 24575}, 2, "198.18.0.3", 1152),
        ({"low": 24576, "high": 32767}, 3, "198.18.0.4", 1154),
    ]  # fmt: skip
    answers = [u for u in updates if u["op"] == "insert" and u["table"] == switch_tables.ANSWERS]
    answers += [u for u in updates if u["table"] == switch_tables.ANSWER_SOURCE]
    assert len(answers) == 4 + 1, "one for each partition, and the switch's own"
    assert {(u["data"]["ip"], u["data"]["udp_port"]) for u in answers} == {("198.18.0.3", 1152)}
    assert [u["op"] for u in updates[:4]] == ["clear"] * 4


@pytest.mark.parametrize("cached", [False, True])
def test_switch_believes_answers_from_the_servers_ports_alone(
    testbed: inventory.Testbed, cached: bool
) -> None:
    updates = switch_tables.of_turn(testbed, servers=4, bottleneck=2, cached=cached)
    ports = [u for u in updates if u["table"] == switch_tables.SERVER_PORTS]
    assert [(u["op"], u.get("key")) for u in ports] == [
        ("clear", None),
        ("insert", {"ingress_port": 2}),
        ("insert", {"ingress_port": 3}),
    ]


def test_nodes_run_at_the_hosts_priority(context: Context) -> None:
    testbed = context.testbed
    # Nodes inherit it from their supervisor.
    lines = supervisor.command_lines(testbed, OWNER, testbed.hosts)
    assert "&& /bin/supervisor" in lines["client0"]
    assert "&& nice -n -15 /bin/supervisor" in lines["client1"]


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
    (switch,) = components.batches(["softswitch"], "start", context).values()
    assert "input" not in switch[0].args


def test_unknown_component_and_verb_are_errors(context: Context) -> None:
    with pytest.raises(TurntableError, match=r"component 'kvservre': there is no"):
        components.batches(["kvservre"], "start", context)
    with pytest.raises(TurntableError, match=r"component 'kvserver' has no verb 'strat'"):
        components.batches(["kvserver"], "strat", context)


def test_missing_inventory_values_are_named() -> None:
    variables = hostvars()
    del variables["server1"]["turntable_data_mac"]
    with pytest.raises(InputError, match=r"inventory: host server1: turntable_data_mac"):
        inventory.read_testbed(variables, GROUPS)
    with pytest.raises(InputError, match=r"group servers: \['server0'\].*expected 2 host"):
        inventory.read_testbed(hostvars(), GROUPS | {"servers": ["server0"]})


def test_another_program_means_another_switch(context: Context) -> None:
    (requests,) = components.batches(["softswitch"], "change_program", context).values()
    assert [(request.node, request.command) for request in requests] == [
        ("supervisor", "stop"),
        ("supervisor", "spawn"),
    ]
    assert requests[0].args == {"name": "softswitch"}
    assert "/p4/nocache.so" in requests[1].args["argv"]


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
        (requests,) = components.batches(["softswitch"], "collect", here).values()
        return [r.args["table"] for r in requests if r.command == "counter_read"]

    assert tables(caching) == [*tables(context), switch_tables.OUTCOMES]


@pytest.fixture
def crashing(caching: Context) -> Context:
    """The same turn, whose switch and servers are killed after each measurement."""
    cell = caching.turn.cell
    cell = replace(cell, parameters=dict(cell.parameters) | {"crash": "switch_and_servers"})
    return replace(caching, turn=replace(caching.turn, cell=cell))


def test_a_crash_kills_the_nodes_of_the_cell(caching: Context, crashing: Context) -> None:
    assert components.batches(["supervisor"], "crash", caching) == {}
    killed = components.batches(["supervisor"], "crash", crashing)
    assert {host: [request.args for request in requests] for host, requests in killed.items()} == {
        "switch0": [{"name": "softswitch", "kill": True}],
        "server0": [{"name": "kvserver", "kill": True}],
        "server1": [{"name": "kvserver", "kill": True}],
    }
    parameters = dict(crashing.turn.cell.parameters) | {"crash": "switch"}
    cell = replace(crashing.turn.cell, parameters=parameters)
    alone = replace(crashing, turn=replace(crashing.turn, cell=cell))
    assert list(components.batches(["supervisor"], "crash", alone)) == ["switch0"]


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
        ("settings", {"snapshot_period_s": 0.5, "snapshot_from_ns": start_at_ns})
    ]
    ended, readmitted = asked(context, "prepare")
    assert ended == ("settings", {"snapshot_period_s": 0})
    assert readmitted[0] == "readmit"
    assert asked(with_parameters(context, method="netcache"), "begin") == []
    assert asked(caching, "begin") == []


def test_a_recovery_is_of_the_running_partitions_and_is_done_again(crashing: Context) -> None:
    reopened = components.batches(["kvserver"], "reopen", crashing)
    assert all(request.args["keep_stores"] for (request,) in reopened.values())
    prepared = components.batches(["kvserver"], "prepare", crashing)
    assert not any("keep_stores" in request.args for (request,) in prepared.values())
    ((host, requests),) = components.batches(["cache_controller"], "recover", crashing).items()
    assert (host, [request.command for request in requests]) == ("server0", ["recover"] * 2)
    assert requests[0].args["partitions"] == [2, 3]
    assert requests[0].args["clients"] == 2  # kvclient processes, not logical clients
