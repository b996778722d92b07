"""Requests of each phase."""

from __future__ import annotations

from turntable_core import components
from turntable_core.context import Context

from .conftest import with_parameters

Contexts = dict[str, Context]
NODES = ("rpcserver", "rpcclient", "coordinator")


def asked(context: Context, component: str, verb: str) -> list[tuple[str, str, dict]]:
    """(host, node, arguments) in order."""
    batches = components.batches([component], verb, context)
    return [(host, r.node, dict(r.args)) for host, sent in batches.items() for r in sent]


def test_every_server_is_a_node_of_its_own_on_both_kinds_of_ports(contexts: Contexts) -> None:
    names = [
        (host, args["name"]) for host, _, args in asked(contexts["noclone"], "rpcserver", "start")
    ]
    assert sorted(names) == [
        ("server0", "rpcserver-1000"),
        ("server0", "rpcserver-1002"),
        ("server0", "rpcserver-2000"),
        ("server0", "rpcserver-2002"),
        ("server1", "rpcserver-1001"),
        ("server1", "rpcserver-2001"),
    ]
    (first, *_) = asked(contexts["noclone"], "rpcserver", "start")
    assert first[2]["argv"] == [
        *("/bin/rpcserver", "--directory", "/run/server0", "--name", "rpcserver-1000"),
        *("--address", "198.18.0.3", "--port", "1000"),
    ]  # fmt: skip


def test_only_the_ports_that_a_run_needs_have_nodes(contexts: Contexts) -> None:
    context = contexts["noclone"]
    plan = context.plan
    alone = type(plan)(**{**vars(plan), "turns": plan.turns[:1]})
    context = Context(context.testbed, alone, context.turn)
    names = [args["name"] for _, _, args in asked(context, "rpcserver", "start")]
    assert sorted(names) == ["rpcserver-2000", "rpcserver-2001", "rpcserver-2002"]
    assert asked(context, "coordinator", "start") == []


def test_servers_know_their_index_and_drop_clones_where_the_switch_makes_them(
    contexts: Contexts,
) -> None:
    prepared = asked(contexts["netclone-racksched"], "rpcserver", "prepare")
    assert [(host, node, args["server"]) for host, node, args in prepared] == [
        ("server0", "rpcserver-1000", 0),
        ("server0", "rpcserver-1002", 2),
        ("server1", "rpcserver-1001", 1),
    ]
    for _, _, args in prepared:
        assert (args["workers"], args["dilation"], args["drop_clones"]) == (8, 100, True)
        assert args["service"] == {"distribution": "exponential", "mean_us": 25}
        assert args["jitter"] == {"probability": 0.01, "factor": 15}
    for _, _, args in asked(contexts["noclone"], "rpcserver", "prepare"):
        assert args["drop_clones"] is False


def test_servers_may_be_unequal(contexts: Contexts) -> None:
    context = with_parameters(contexts["netclone-racksched"], unequal_workers="8+4+2")
    prepared = asked(context, "rpcserver", "prepare")
    assert {args["server"]: args["workers"] for _, _, args in prepared} == {0: 8, 1: 4, 2: 2}
    (first, *_) = asked(context, "rpcclient", "prepare")
    assert first[2]["work"]["workers"] == [8, 4, 2]


def test_requests_go_where_the_method_sends_them(contexts: Contexts) -> None:
    def arguments(method: str) -> dict:
        return asked(contexts[method], "rpcclient", "prepare")[0][2]

    plain = [("198.18.0.3", 2000), ("198.18.0.4", 2001), ("198.18.0.3", 2002)]
    assert [tuple(server.values()) for server in arguments("noclone")["servers"]] == plain
    assert not {"coordinator", "switch_server_address"} & arguments("noclone").keys()
    of_switch = arguments("netclone-racksched")
    assert of_switch["switch_server_address"] == {"address": "198.18.0.3", "port": 1000}
    assert [server["port"] for server in of_switch["servers"]] == [1000, 1001, 1002]
    assert arguments("laedge")["coordinator"] == {"address": "198.18.0.3", "port": 3000}


def test_clients_are_dealt_to_their_hosts(contexts: Contexts) -> None:
    prepared = asked(contexts["noclone"], "rpcclient", "prepare")
    assert {host: args["clients"] for host, _, args in prepared} == {
        "client0": [0, 2],
        "client1": [1, 3],
    }
    for _, _, args in prepared:
        # Half of 3 servers x 8 slots, each 100 x 25 us x (1 + 0.01 x 14).
        assert round(args["rate_per_s"], 3) == round(0.5 * 24 / (100 * 28.5e-6), 3)
        assert args["clients_total"] == 4


def test_a_client_host_without_a_client_is_left_alone(contexts: Contexts) -> None:
    context = with_parameters(contexts["noclone"], clients=1)
    for verb in ("prepare", "begin", "wait"):
        assert {host for host, _, _ in asked(context, "rpcclient", verb)} == {"client0"}


def test_rounds_have_seeds_of_their_own_and_nodes_the_same_one(contexts: Contexts) -> None:
    context = contexts["laedge"]
    later = Context(
        context.testbed,
        context.plan,
        type(context.turn)(context.turn.cell, 3, context.turn.iterations, None),
        context.iteration,
    )
    for here, seed in ((context, 7), (later, 10)):
        seeds = [args["seed"] for name in NODES for _, _, args in asked(here, name, "prepare")]
        assert set(seeds) == {seed}


def test_nobody_gives_up_what_is_still_served(contexts: Contexts) -> None:
    """Exponential ones of 25 us with jitter have a mean of 28.5 us; dilated by 10,000, a copy that
    jitter has made longer takes 3.75 s, and one in 14 of these more than 10 s.
    """
    slow = with_parameters(contexts["laedge"], dilation=10_000)
    for context, expected in ((contexts["laedge"], 10_000), (slow, 285_000)):
        for name in ("coordinator", "rpcclient"):
            found = {args["give_up_ms"] for _, _, args in asked(context, name, "prepare")}
            assert found == {expected}


def test_only_laedge_asks_the_coordinator(contexts: Contexts) -> None:
    for verb in ("prepare", "begin", "collect"):
        assert asked(contexts["noclone"], "coordinator", verb) == []
    ((host, node, args),) = asked(contexts["laedge"], "coordinator", "prepare")
    assert (host, node, args["mode"], args["workers"]) == (
        *("server0", "laedge-coordinator", "slots", [8, 8, 8]),
    )  # fmt: skip


def test_the_coordinator_knows_where_every_client_is(contexts: Contexts) -> None:
    ((_, _, args),) = asked(contexts["laedge"], "coordinator", "prepare")
    ports = {}
    for host, _, client in asked(contexts["laedge"], "rpcclient", "prepare"):
        # A client node opens its base port for the first of its clients, the next for the second.
        ports |= {index: (host, 4000 + nth) for nth, index in enumerate(client["clients"])}
    addresses = {"client0": "198.18.0.1", "client1": "198.18.0.2"}
    assert args["clients"] == [
        {"address": addresses[ports[i][0]], "port": ports[i][1]} for i in range(4)
    ]


def test_what_the_coordinator_has_counted_before_the_measurement_is_kept(
    contexts: Contexts,
) -> None:
    batches = components.batches(["coordinator"], "begin", contexts["laedge"])
    assert [request.command for request in batches["server0"]] == ["start", "stats"]


def test_the_window_is_as_long_as_the_requests_take(contexts: Contexts) -> None:
    ((_, _, args), *_) = asked(contexts["noclone"], "rpcserver", "begin")
    # 1000 requests and five standard deviations, 4,211 per second of the testbed.
    window_ns = args["measure_until_ns"] - args["measure_from_ns"]
    assert window_ns == 500_000_000
    longer = with_parameters(contexts["noclone"], requests=10_000)
    ((_, _, args), *_) = asked(longer, "rpcserver", "begin")
    assert args["measure_from_ns"] == 11_000_000_000
    assert args["measure_until_ns"] - args["measure_from_ns"] == 2_500_000_000


def test_one_host_replays_what_all_of_them_have_sent(contexts: Contexts) -> None:
    batches = components.batches(["rpcclient"], "collect", contexts["noclone"])
    assert [request.command for request in batches["client0"]] == ["stats", "replay"]
    assert [request.command for request in batches["client1"]] == ["stats"]


def test_the_switch_gets_its_flags_from_method_and_filter(contexts: Contexts) -> None:
    def flags(context: Context) -> tuple[bool, bool]:
        updates = context.system.switch_tables(context)
        (settings,) = (update for update in updates if update["table"].endswith("settings"))
        return settings["data"]["racksched"], settings["data"]["filter"]

    racksched = contexts["netclone-racksched"]
    assert flags(racksched) == (1, 1)
    assert flags(with_parameters(racksched, filter=False)) == (1, 0)
    assert flags(with_parameters(racksched, method="netclone")) == (0, 1)


def test_the_switch_forgets_the_queues_of_the_iteration_before(contexts: Contexts) -> None:
    cleared = [
        (node, args["table"])
        for _, node, args in asked(contexts["netclone-racksched"], "switch", "forget")
    ]
    assert cleared == [
        ("softswitch", "pipe.SwitchIngress.loads.state_cells"),
        ("softswitch", "pipe.SwitchIngress.loads.shadow_cells"),
    ]
    assert asked(contexts["laedge"], "switch", "forget") == []


def test_redis_is_asked_for_results_and_its_times_are_drawn(contexts: Contexts) -> None:
    context = with_parameters(
        contexts["netclone-racksched"], mode="redis", distribution="redis", scan_share=0.1,
        objects=1000, theta=0.99,
    )  # fmt: skip
    (server, *_) = asked(context, "rpcserver", "prepare")
    assert server[2]["redis"] == {"objects": 1000, "timing": "slots"}
    assert server[2]["service"].keys() == {"GET", "SCAN"}
    (client, *_) = asked(context, "rpcclient", "prepare")
    shares = {part["operation"]: part["share"] for part in client[2]["mix"]}
    assert shares == {"GET": 0.9, "SCAN": 0.1}
    assert client[2]["work"]["mix"] == client[2]["mix"]
    assert (client[2]["objects"], client[2]["theta"]) == (1000, 0.99)
    (server, *_) = asked(with_parameters(context, dilation=1), "rpcserver", "prepare")
    assert server[2]["redis"]["timing"] == "real"
