"""A recorded trace between kvclient and kvserver: what its lines say is what is loaded, asked for
and found, with values of many sizes.
"""

from __future__ import annotations

import json
import time
from itertools import cycle, groupby, islice
from pathlib import Path
from typing import Any

import pytest
from recorded_traces import Line, key_id, made_up, write_csv

from .nodes import Node, NodeError
from .ports import free_port

MS = 1_000_000
LEAD_MS, WINDOW_MS = 500, 400
CLIENTS = 4
WRONG = (
    "stale_answers", "malformed", "mismatched", "wrong_node", "wrong_values", "not_found",
    "unanswered",
)  # fmt: skip


def workload_of(file: Path, **more: Any) -> dict[str, Any]:
    trace = {"file": str(file), **more}
    return {"name": "trace", "clients": CLIENTS, "value_bytes": 300, "trace": trace}


def play(server: Node, client: Node, workload: dict[str, Any], **more: Any) -> dict[str, Any]:
    port = free_port()
    stores = {"workload": workload, "scale": 1, "store_profile": "embedded"}
    server.call("load", **stores, partitions=[0])
    logical_servers = [{"partition": 0, "udp_port": port}]
    server.call("prepare", **stores, capacity_ops_per_s=0, logical_servers=logical_servers)
    address = {"server_address": "127.0.0.1", "server_port": port}
    clients = {"first_client": 0, "clients": CLIENTS, "threads": 1}
    client.call("prepare", workload=workload, scale=1, partitions=[0], **clients, **address, **more)
    start = time.time_ns() + LEAD_MS * MS
    times = {"warmup_ns": 100 * MS, "measure_ns": WINDOW_MS * MS, "drain_ns": 5_000 * MS}
    client.call("start", start_at_ns=start, **times)
    client.call("wait", deadline_s=50)
    return client.call("stats")


def begun(operation: dict[str, Any]) -> int:
    return operation["invoke_ns"]


def test_clients_share_the_lines_and_begin_again(
    server: Node, client: Node, tmp_path: Path
) -> None:
    lines = made_up(402)
    workload = workload_of(write_csv(lines, tmp_path / "trace.csv"))
    stats = play(server, client, workload, history=str(tmp_path / "history"))
    assert {name: stats[name] for name in WRONG} == dict.fromkeys(WRONG, 0)
    history = (tmp_path / "history" / "clients-0.ndjson").read_text().splitlines()[1:]
    operations = [json.loads(line) for line in history]
    assert len(operations) > 2 * len(lines)
    assert {operation["client"] for operation in operations} == set(range(CLIENTS))
    expected = cycle((key_id(line.key), line.operation) for line in lines)
    operations.sort(key=begun)
    for _, at_once in groupby(operations, key=begun):  # the clock is read once for several
        asked = [(operation["key"], operation["op"]) for operation in at_once]
        assert sorted(asked) == sorted(islice(expected, len(asked)))


def test_an_open_loop_finds_the_same_values(server: Node, client: Node, tmp_path: Path) -> None:
    workload = workload_of(write_csv(made_up(402), tmp_path / "trace.csv"))
    stats = play(server, client, workload, open_loop={"rate_per_s": 3000})
    assert stats["operations"] > 500
    assert {name: stats[name] for name in WRONG} == dict.fromkeys(WRONG, 0)


def test_a_value_of_another_size_is_noticed(server: Node, client: Node, tmp_path: Path) -> None:
    """The client's file says that values are longer than those that its server has loaded."""
    loaded = write_csv([Line("a", "get", 20)] * 8, tmp_path / "trace.csv")
    port = free_port()
    stores = {"workload": workload_of(loaded), "scale": 1, "store_profile": "embedded"}
    server.call("load", **stores, partitions=[0])
    stores["logical_servers"] = [{"partition": 0, "udp_port": port}]
    server.call("prepare", **stores, capacity_ops_per_s=0)
    asked = write_csv([Line("a", "get", 21)] * 8, tmp_path / "other.csv")
    address = {"server_address": "127.0.0.1", "server_port": port}
    clients = {"first_client": 0, "clients": CLIENTS, "scale": 1, "partitions": [0]}
    client.call("prepare", workload=workload_of(asked), **clients, **address)
    start = time.time_ns() + LEAD_MS * MS
    client.call("start", start_at_ns=start, warmup_ns=0, measure_ns=100 * MS, drain_ns=MS * 5000)
    client.call("wait", deadline_s=50)
    assert client.call("stats")["wrong_values"] > 0


def test_deleted_and_inserted_keys_come_and_go(server: Node, client: Node, tmp_path: Path) -> None:
    """Of each client a put, a get that finds it, a delete, a get that finds nothing; an insert, and
    a get that finds it.
    """
    of_one = ["k,put,40", "k,get,40", "k,delete,", "k,get,", "new,insert,10", "new,get,10"]
    of_all = [
        text.replace("k,", f"k{i},").replace("new", f"n{i}") for text in of_one for i in "abcd"
    ]
    file = tmp_path / "trace.csv"
    file.write_text("\n".join(of_all))
    stats = play(server, client, workload_of(file))
    assert stats["wrong_values"] == 0
    # One of six operations finds nothing; clients' last rounds may be cut off.
    total = sum(part["answers_total"] for part in stats["partitions"])
    assert stats["not_found"] == pytest.approx(total / 6, abs=CLIENTS)


def test_nodes_refuse_another_file_than_the_planned_one(
    server: Node, client: Node, tmp_path: Path
) -> None:
    file = write_csv(made_up(400), tmp_path / "trace.csv")
    workload = workload_of(file, digest="0123456789abcdef") | {"operations": 400}
    with pytest.raises(NodeError, match=r"0123456789abcdef, as when the run was planned"):
        server.call("load", workload=workload, scale=1, store_profile="embedded", partitions=[0])
    clients = {"first_client": 0, "clients": CLIENTS, "scale": 1, "partitions": [0]}
    with pytest.raises(NodeError, match="the same file has to be at this path"):
        client.call("prepare", workload=workload, server_address="127.0.0.1", **clients)
