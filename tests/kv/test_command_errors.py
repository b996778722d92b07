"""Odd arguments and commands in the wrong state: errors say what, where and what is expected."""

from __future__ import annotations

import re
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from .nodes import Node, NodeError, running
from .ports import free_port

WORKLOAD = {"name": "workloada", "clients": 8, "operations": 800, "seed": 1}
STORES = {"workload": WORKLOAD, "scale": 4, "store_profile": "embedded"}
CLIENT = {
    "workload": WORKLOAD,
    "scale": 4,
    "partitions": [1],
    "first_client": 0,
    "clients": 8,
    "server_address": "127.0.0.1",
    "server_port": 1152,
}


def failure(node: Node, command: str, **args: Any) -> NodeError:
    with pytest.raises(NodeError) as caught:
        node.call(command, **args)
    return caught.value


def serve(partition: int, port: int) -> dict[str, Any]:
    placement = [{"partition": partition, "udp_port": port}]
    return STORES | {"logical_servers": placement, "capacity_ops_per_s": 100}


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"partitions": []}, "at least one element"),
        ({"partitions": [4]}, "from 0 to 3"),
        ({"partitions": [1, 1]}, "each partition once"),
        ({"scale": 5}, "scale"),
        ({"clients": 9}, "from 1 to 8"),
        ({"clients": 0}, "from 1 to 8"),
        ({"first_client": 8}, "from 0 to 7"),
        ({"threads": 9}, "from 1 to 8"),
        ({"timeout_us": 1}, "from 100 to"),
        ({"server_address": "server"}, "IPv4 address"),
        ({"server_port": 70000}, "from 1 to 65535"),
        ({"workload": {"name": "workloadz"}}, "workloada"),
        ({"workload": WORKLOAD | {"name": "workloade"}}, "workloade"),
        ({"workload": WORKLOAD | {"value_bytes": 65537}}, "to 65536"),
        ({"thread": 2}, "unknown"),
        ({"variations": {"delete": 3}}, "unknown"),
        ({"variations": {"large_every": 3}}, "large_bytes"),
        ({"copies_max": -1}, "from 0 to"),
        ({"open_loop": {}}, "rate_per_s"),
        ({"open_loop": {"rate_per_s": 0}}, "rate_per_s"),
        ({"open_loop": {"rate_per_s": 10, "arrivals": "bursts"}}, "exponential, uniform"),
        ({"open_loop": {"rate_per_s": 10, "iteration": -1}}, "from 0 to 65535"),
        ({"piece": 4, "pieces": 4}, "from 0 to 3"),
        ({"ramp_us": -1}, "from 0 to"),
        ({"ramp_us": 1, "open_loop": {"rate_per_s": 10}}, "none with open_loop"),
        (
            {
                "open_loop": {
                    "rate_per_s": 10,
                    "probes": 3,
                    "probe_period_ns": 5,
                    "load_offset_ns": 9,
                }
            },
            "from 10 to",
        ),
        ({"open_loop": {"rate_per_s": 10}, "history": "/tmp"}, "none with open_loop"),
        (
            {"open_loop": {"rate_per_s": 10}, "workload": WORKLOAD | {"value_bytes": 1413}},
            "at most 1412 with open_loop",
        ),
        ({"controller": {"address": "127.0.0.1", "port": 1}}, "at least 1 with a controller"),
        ({"controller": {"address": "host", "port": 1}, "copies_max": 1}, "IPv4 address"),
        ({"controller": {"address": "127.0.0.1"}, "copies_max": 1}, "is missing"),
    ],
)
def test_client_prepare_refuses(client: Node, change: dict[str, Any], expected: str) -> None:
    error = failure(client, "prepare", **(CLIENT | change))
    assert error.code == "bad_argument"
    assert expected in error.message


def test_a_history_needs_a_directory(client: Node) -> None:
    error = failure(client, "prepare", **CLIENT, history="/proc/none")
    assert error.code == "unavailable"
    assert "writable directory" in error.message


def test_plain_stores_are_not_served_as_ones_with_numbers(server: Node) -> None:
    server.call("load", **STORES, partitions=[1])
    error = failure(server, "prepare", **serve(1, free_port()), method="farreach")
    assert error.code == "not_found"
    assert "load" in error.message


@pytest.mark.parametrize("clients", [1, 1000])
def test_any_number_of_clients_can_be_prepared_after_a_failure(client: Node, clients: int) -> None:
    failure(client, "prepare", **(CLIENT | {"threads": 0}))
    workload = WORKLOAD | {"clients": 1000, "operations": 4000}
    prepared = client.call("prepare", **(CLIENT | {"workload": workload, "clients": clients}))
    # Four operations per client, a quarter of the slots: about 0.75 ** 4 of the clients have none.
    assert len(prepared["idle_clients"]) == pytest.approx(0.32 * clients, abs=0.1 * clients + 1)


def test_client_commands_in_the_wrong_state(client: Node) -> None:
    client.call("prepare", **CLIENT)
    assert failure(client, "wait", deadline_s=1).code == "wrong_state"
    assert failure(client, "stats").code == "wrong_state"
    start = {"warmup_ns": 0, "measure_ns": 1_000_000, "drain_ns": 0}
    assert failure(client, "start", start_at_ns=1, **start).code == "bad_argument"
    client.call("start", start_at_ns=time.time_ns() + 10**9, **start)
    client.call("wait", deadline_s=50)
    error = failure(client, "start", start_at_ns=time.time_ns() + 60 * 10**9, **start)
    assert error.code == "wrong_state"
    assert "prepare" in error.message


@pytest.mark.parametrize(
    ("from_now_s", "message"),
    [
        (-3, r"came \d+\.\d\d s after the common start, .* 0\.50 s .*busy, or its clock differs"),
        (900, r"came [89]\d\d\.\d\d s before the common start, .* 600\.00 s .*clock differs"),
    ],
)
def test_a_start_at_the_wrong_instant_says_how_wrong(
    client: Node, from_now_s: int, message: str
) -> None:
    client.call("prepare", **CLIENT)
    window = {"warmup_ns": 500_000_000, "measure_ns": 1_000_000, "drain_ns": 0}
    instant = time.time_ns() + from_now_s * 10**9
    error = failure(client, "start", start_at_ns=instant, **window)
    assert error.code == "bad_argument"
    assert re.search(message, error.message), error.message


def test_wait_has_a_deadline(client: Node) -> None:
    client.call("prepare", **CLIENT)
    window = {"warmup_ns": 60 * 10**9, "measure_ns": 60 * 10**9, "drain_ns": 0}
    client.call("start", start_at_ns=time.time_ns(), **window)
    assert failure(client, "wait", deadline_s=0.05).code == "timeout"
    client.call("stop")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"logical_servers": []}, "at least one element"),
        ({"logical_servers": [7]}, "objects"),
        ({"logical_servers": [{"partition": 4, "udp_port": 2000}]}, "from 0 to 3"),
        ({"logical_servers": [{"partition": 1, "udp_port": 2000}] * 2}, "once"),
        ({"capacity_ops_per_s": -1}, "from 0.0 to"),
        ({"store_profile": "fast"}, "embedded"),
        ({"workload": WORKLOAD | {"value_bytes": 65537}}, "to 65536"),
        ({"method": "cache"}, "nocache"),
        ({"value_update_delay_us": 5}, "only netcache"),
    ],
)
def test_server_prepare_refuses(server: Node, change: dict[str, Any], expected: str) -> None:
    server.call("load", **STORES, partitions=[1])
    error = failure(server, "prepare", **(serve(1, free_port()) | change))
    assert error.code == "bad_argument"
    assert expected in error.message


def test_server_prepare_needs_loaded_stores(server: Node) -> None:
    error = failure(server, "prepare", **(serve(1, free_port()) | {"scale": 2}))
    assert error.code == "not_found"
    assert "`load`" in error.message


def test_port_in_use_is_named_and_prepare_may_be_repeated(server: Node) -> None:
    server.call("load", **STORES, partitions=[1])
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as other:
        other.bind(("127.0.0.1", 0))
        port = other.getsockname()[1]
        error = failure(server, "prepare", **serve(1, port))
        assert error.code == "unavailable"
        assert f"127.0.0.1:{port}" in error.message
        assert server.call("ping")["state"] == "idle"
    server.call("prepare", **serve(1, port))
    assert server.call("ping")["state"] == "serving"


def test_server_commands_in_the_wrong_state(server: Node) -> None:
    server.call("stop")
    assert failure(server, "stats").code == "wrong_state"
    window = {
        "measure_from_ns": time.time_ns() + 60 * 10**9,
        "measure_until_ns": time.time_ns() + 61 * 10**9,
    }
    assert failure(server, "start", **window).code == "wrong_state"
    past = {"measure_from_ns": time.time_ns() - 10**6, "measure_until_ns": time.time_ns() + 10**9}
    assert failure(server, "start", **past).code == "bad_argument"


def test_address_of_another_host_is_refused(build_dir: Path, run_dir: Path) -> None:
    directory = run_dir / "elsewhere"
    directory.mkdir()
    with running(build_dir / "bin" / "kvclient", directory, "--address", "192.0.2.1") as node:
        error = failure(node, "prepare", **CLIENT)
        assert error.code == "bad_argument"
        assert "192.0.2.1" in error.message
