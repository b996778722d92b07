"""Requests of each phase."""

from __future__ import annotations

from dataclasses import replace

import pytest

from turntable_core import components
from turntable_core.context import Context
from turntable_core.timeline import Event
from turntable_systems.shadowfax import SYSTEM

from .conftest import with_parameters

Contexts = dict[str, Context]
ENDPOINTS = [
    {"address": "198.18.0.3", "base_port": 22790, "workers": 2},
    {"address": "198.18.0.4", "base_port": 22790, "workers": 2},
]


def asked(context: Context, component: str, verb: str) -> list[tuple[str, str, str, dict]]:
    """(host, node, command, arguments) in order."""
    batches = components.batches([component], verb, context)
    return [(host, r.node, r.command, dict(r.args)) for host, sent in batches.items() for r in sent]


def arguments(context: Context, component: str, verb: str) -> dict[str, dict]:
    """By host, of the only command of each."""
    return {host: args for host, _, _, args in asked(context, component, verb)}


def test_a_node_is_started_on_every_host(contexts: Contexts) -> None:
    argv = {
        host: args["argv"]
        for component in ("store", "client")
        for host, node, command, args in asked(contexts["rmw"], component, "start")
        if (node, command) == ("supervisor", "spawn")
    }
    server = ["/bin/hlserver-node", "--directory", "/run/server1", "--name", "hlserver-node"]
    client = ["/bin/hlload-node", "--directory", "/run/client1", "--name", "hlload-node"]
    assert set(argv) == {"client0", "client1", "server0", "server1"}
    secret = ["--secret", "/dev/stdin"]
    assert argv["server1"] == [*server, "--address", "198.18.0.4", *secret]
    assert argv["client1"] == [*client, *secret]


def test_a_run_starts_the_servers_of_its_largest_cell(contexts: Contexts) -> None:
    context = contexts["rmw"]
    smaller = with_parameters(context, servers=1)
    assert {host for host, *_ in asked(smaller, "store", "start")} == {"server0"}
    both = replace(context, turn=smaller.turn)
    assert {host for host, *_ in asked(both, "store", "start")} == {"server0", "server1"}
    for verb in ("prepare", "begin", "collect"):
        assert {host for host, *_ in asked(both, "store", verb)} == {"server0"}


def test_a_store_is_as_large_as_its_part_of_the_data_asks_for(contexts: Contexts) -> None:
    prepared = asked(contexts["rmw"], "store", "prepare")
    assert [host for host, *_ in prepared] == ["server0", "server1"]
    # 500,000 keys of 24 bytes, twice, are 22.9 pages of 2^20; a quarter of them 2^16.9 buckets.
    for host, node, command, args in prepared:
        assert (node, command) == ("hlserver-node", "prepare")
        assert args == {
            "workers": 2,
            "cpus": [],
            "index_bits": 17,
            "page_bits": 20,
            "pages": 23,
            "mutable_share": 0.9,
            "reader_threads": 4,
            "uses_uring": True,
            "most_pending": 64,
            "spin_us": 50,
            "capacity_per_s": 0,
            "range_check": "view",
            "splits": 1,  # none are looked at
            "compact_above_bytes": None,
            "file": f"/state/{host}/hlog",
        }


def test_a_log_is_compacted_above_so_many_bytes(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], compact_above=10_000_000)
    assert arguments(context, "store", "prepare")["server0"]["compact_above_bytes"] == 10_000_000


def test_workers_and_clients_have_processors_of_their_own(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], server_cpus="0+2-3", client_cpus="1")
    assert arguments(context, "store", "prepare")["server0"]["cpus"] == [0, 2, 3]
    assert arguments(context, "client", "prepare")["client0"]["cpus"] == [1]


def test_each_client_host_fills_a_part_of_all_servers(contexts: Contexts) -> None:
    assert asked(contexts["rmw"], "client", "fill") == [
        (
            *(f"client{index}", "hlload-node", "fill"),
            {
                "protocol": "shadowfax",
                "servers": ENDPOINTS,
                "threads": 2,
                "keys": 1_000_000,
                "batch_bytes": 32768,
                "pipeline": 2,
                "load_file": "",
                "value_bytes": 8,
                "clients": 2,
                "client": index,
                "deadline_s": 60,
            },
        )
        for index in (0, 1)
    ]


def test_clients_are_told_all_of_the_load(contexts: Contexts) -> None:
    assert asked(contexts["a"], "client", "prepare") == [
        (
            *(f"client{index}", "hlload-node", "prepare"),
            {
                "protocol": "shadowfax",
                "servers": ENDPOINTS,
                "threads": 2,
                "cpus": [],
                "batch_operations": 1926,
                "pipeline": 2,
                "mix": {"read": 0.5, "upsert": 0.5, "add": 0},
                "keys": 1_000_000,
                "value_bytes": 8,
                "distribution": "zipfian",
                "theta": 0.99,
                "txns_file": "",
                "seed": 7,
                "client": index,
                "clients": 2,
                "rate_per_s": None,
                "sample_ms": 1000,
            },
        )
        for index in (0, 1)
    ]


def test_a_rate_is_shared_by_the_client_hosts(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], rate_per_s=300_000)
    rates = [args["rate_per_s"] for *_, args in asked(context, "client", "prepare")]
    assert rates == [150_000, 150_000]


def test_another_store_is_begun_in_place_of_ours(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], store="memcached", server_cpus="0", keys=100_000)
    spawned = [args["argv"] for *_, args in asked(context, "textstore", "start")]
    assert [argv[0] for argv in spawned] == ["/bin/textstore-node"] * 2
    assert spawned[1][-2:] == ["--address", "198.18.0.4"]
    assert [command for _, _, command, _ in asked(context, "store", "prepare")] == ["stop"] * 2
    for verb in ("begin", "collect"):
        assert asked(context, "store", verb) == []
    prepared = arguments(context, "textstore", "prepare")
    # 50,000 keys of 120 bytes are 5.7 MiB; 2^17 is above 100,000.
    assert prepared["server1"] == {
        "store": "memcached",
        "port": 11211,
        "cpus": [0],
        "threads": 2,
        "memory_mb": 64 + 2 * 6,
        "hash_power": 17,
        "requests_per_event": 1926,
    }
    of_client = arguments(context, "client", "prepare")["client0"]
    assert of_client["protocol"] == "memcached"
    assert of_client["servers"] == [
        {"address": address, "base_port": 11211, "workers": 1}
        for address in ("198.18.0.3", "198.18.0.4")
    ]
    collected = components.batches(["textstore"], "collect", context)["server0"]
    assert [request.command for request in collected] == ["stats", "sums"]
    assert collected[1].args == {"keys": 100_000, "deadline_s": 30}


def test_redis_is_told_its_port_alone(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], store="redis")
    assert arguments(context, "textstore", "prepare")["server0"] == {
        "store": "redis",
        "port": 6379,
        "cpus": [],
    }


# 4,096 bytes have 16 of a header and 240 requests of 17.
@pytest.mark.parametrize(("operations", "served"), [(1, 240), (1926, 1926)])
def test_memcached_serves_a_batch_at_once_of_the_load_and_of_the_fill(
    contexts: Contexts, operations: int, served: int
) -> None:
    changes = {"batch_operations": operations, "fill_batch_bytes": 4096}
    context = with_parameters(contexts["rmw"], store="memcached", **changes)
    prepared = arguments(context, "textstore", "prepare")
    assert prepared["server0"]["requests_per_event"] == served


def test_the_store_before_ends_when_ours_is_begun(contexts: Contexts) -> None:
    theirs = with_parameters(contexts["rmw"], store="redis")
    ours = replace(theirs, turn=contexts["rmw"].turn)
    assert [command for _, _, command, _ in asked(ours, "textstore", "prepare")] == ["stop"] * 2
    assert [command for _, _, command, _ in asked(ours, "store", "prepare")] == ["prepare"] * 2


def test_runs_of_ours_alone_have_no_other_node(contexts: Contexts) -> None:
    for verb in ("start", "prepare", "begin", "collect"):
        assert asked(contexts["rmw"], "textstore", verb) == []


CLUSTER = {
    "cluster": True,
    "owners": 1,
    "checkpoint_s": 2,
    "move_share": 0.25,
    "sample_s": 0.5,
    "indirection": True,
    "capacity_per_s": 1000,
}


def test_servers_of_a_cluster_know_the_metadata_service(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], **CLUSTER)
    prepared = arguments(context, "store", "prepare")
    assert [args["cluster"]["number"] for args in prepared.values()] == [0, 1]
    assert prepared["server1"]["capacity_per_s"] == 1000
    assert prepared["server1"]["cluster"] == {
        "number": 1,
        "metadata": "198.18.0.3:22700",
        "checkpoint": "/state/server1/hlog.checkpoint",
        "checkpoint_s": 2,
    }
    assert arguments(context, "metadata", "prepare") == {
        "server0": {"port": 22700, "file": "/state/server0/hlmeta.json", "owners": 1}
    }
    for verb in ("fill", "prepare"):
        of_client = arguments(context, "client", verb)["client0"]
        assert of_client["metadata"] == "198.18.0.3:22700"
        assert "servers" not in of_client


def test_without_a_cluster_there_is_no_metadata_service(contexts: Contexts) -> None:
    for verb in ("start", "prepare", "collect"):
        assert asked(contexts["rmw"], "metadata", verb) == []


def test_all_servers_own_keys_if_nothing_else_is_said(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], **CLUSTER | {"owners": 0})
    assert arguments(context, "metadata", "prepare")["server0"]["owners"] == 2


def test_a_migration_is_asked_of_the_server_that_gives(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], **CLUSTER)
    migrate = SYSTEM.timeline_verbs()["migrate"]
    ((host, (request,)),) = migrate({"from": 1, "to": 0}, context).items()
    assert (host, request.node, request.command) == ("server1", "hlserver-node", "migrate")
    assert request.args == {"to": 0, "share": 0.25, "sample_s": 0.5, "indirection": True}


@pytest.mark.parametrize("value", [
    {}, {"from": 0}, {"from": 0, "to": 0}, {"from": 0, "to": -1}, {"from": 0, "to": True}, 1, "x",
    {"from": 0, "to": 1, "share": 1}, {"from": "server0", "to": "server1"},
])  # fmt: skip
def test_a_migration_has_two_servers(value: object) -> None:
    cell = {"cluster": True, "servers": 2}
    assert SYSTEM.timeline_fault(Event(1, "migrate", {"from": 0, "to": 1}), cell) is None
    assert "{from: 0, to: 1}" in str(SYSTEM.timeline_fault(Event(1, "migrate", value), cell))


def test_uniform_keys_are_zipfian_ones_of_theta_0(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], distribution="uniform")
    del context.turn.cell.parameters["theta"]  # as the plan leaves it out
    of_host = arguments(context, "client", "prepare")["client0"]
    assert (of_host["distribution"], of_host["theta"]) == ("uniform", 0)


def test_rounds_have_seeds_of_their_own(contexts: Contexts) -> None:
    context = contexts["rmw"]
    later = replace(context, turn=replace(context.turn, round=3))
    assert {args["seed"] for *_, args in asked(later, "client", "prepare")} == {10}


def test_all_nodes_have_the_same_window(contexts: Contexts) -> None:
    context = contexts["rmw"]
    client = {
        "start_at_ns": 10_000_000_000,
        "warmup_ns": 1_000_000_000,
        "measure_ns": 2_000_000_000,
        "drain_ns": 500_000_000,
    }
    store = {"measure_from_ns": 11_000_000_000, "measure_until_ns": 13_000_000_000}
    assert arguments(context, "client", "begin") == {"client0": client, "client1": client}
    assert arguments(context, "store", "begin") == {"server0": store, "server1": store}


def test_clients_are_waited_for_until_they_have_drained(contexts: Contexts) -> None:
    # 0.1 s to begin, 1 s of warm-up, 2 s, 0.5 s to drain, and a command's 5 s.
    waits = [args for *_, args in asked(contexts["rmw"], "client", "wait")]
    assert [args["deadline_s"] for args in waits] == pytest.approx([8.6, 8.6])


def test_values_are_added_up_after_the_statistics(contexts: Contexts) -> None:
    for workload in ("rmw", "c", "f"):
        context = with_parameters(contexts["rmw"], workload=workload)
        batches = components.batches(["store"], "collect", context)
        for host in ("server0", "server1"):
            assert [request.command for request in batches[host]] == [
                "stats",
                "device_reads",
                "sums",
            ]
            assert batches[host][2].args == {"keys": 1_000_000, "deadline_s": 30}


def test_keys_of_files_are_added_up_whatever_they_are(contexts: Contexts) -> None:
    context = with_parameters(contexts["rmw"], load_file="/keys", txns_file="/requests")
    assert arguments(context, "client", "fill")["client0"]["load_file"] == "/keys"
    assert arguments(context, "client", "prepare")["client1"]["txns_file"] == "/requests"
    requests = components.batches(["store"], "collect", context)["server0"]
    assert requests[2].args["keys"] is None


def test_values_that_upserts_have_replaced_add_up_to_nothing(contexts: Contexts) -> None:
    for workload in ("a", "b", "d"):
        context = with_parameters(contexts["a"], workload=workload)
        batches = components.batches(["store"], "collect", context)
        assert [request.command for request in batches["server0"]] == ["stats", "device_reads"]


def test_clients_say_what_they_have_counted(contexts: Contexts) -> None:
    assert [command for _, _, command, _ in asked(contexts["rmw"], "client", "collect")] == [
        "stats",
        "stats",
    ]
