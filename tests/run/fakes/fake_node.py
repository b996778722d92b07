#!/usr/bin/env python3
"""Stand-in for a node in tests: speaks the control protocol, answers made-up numbers.

Its name (argv[0]) selects what it pretends to be. FAKE_NODE_FAULT=NODE:COMMAND:KIND makes one
command misbehave once the file FAKE_NODE_FAULT_FILE exists: `error` answers not ok, `hang` never
answers, `exit` ends the process.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import socketserver
import sys
import threading
import time
from pathlib import Path

from hdrh.histogram import HdrHistogram

KIND = Path(sys.argv[0]).name


class Node:
    def __init__(self) -> None:
        self.prepared: dict = {}
        self.window: dict = {}

    def ping(self, args: dict) -> dict:
        return {"node": KIND, "pid": os.getpid(), "version": "fake", "state": "idle"}

    def prepare(self, args: dict) -> dict:
        self.prepared = args
        return {}

    def start(self, args: dict) -> dict:
        self.window = args
        return {}

    def stop(self, args: dict) -> dict:
        return {}

    def load(self, args: dict) -> dict:
        return {
            "partitions": [
                {"partition": p, "keys": 1, "reused": True, "seconds": 0}
                for p in args["partitions"]
            ]
        }


class Client(Node):
    def wait(self, args: dict) -> dict:
        end = self.window["start_at_ns"] + self.window["warmup_ns"] + self.window["measure_ns"]
        time.sleep(max(0.0, end / 1e9 - time.time()))
        return {}

    def stats(self, args: dict) -> dict:
        """Half of what servers of 5,000 and 2,500 ops/s answer, at 10 ms each."""
        seconds = self.window["measure_ns"] / 1e9
        ops = [round(seconds * rate / 2) for rate in (5000, 2500)]
        partitions = self.prepared["partitions"]
        return client_stats(dict(zip(partitions, ops, strict=False)), seconds)


def client_stats(ops: dict[int, int], seconds: float) -> dict:
    """The fields of docs/raw-format.md that the analysis reads, for a machine that had
    `ops[partition]` answered in 10 ms each.
    """
    names = (
        "malformed",
        "mismatched",
        "wrong_node",
        "wrong_values",
        "send_errors",
        "receive_errors",
        "unanswered",
        "retries",
        "stale_answers",
        "in_flight_at_stop",
        "answered_in_drain",
        "socket_drops",
    )
    rows = [
        {
            "partition": partition,
            "server_ops": count,
            "switch_ops": 0,
            "requests_total": count,
            "answers_total": count,
            "server_latency_ns": encoded(10_000_000, count),
            "switch_latency_ns": encoded(0, 0),
            "server_latency_sum_ns": 10_000_000 * count,
            "switch_latency_sum_ns": 0,
        }
        for partition, count in ops.items()
    ]
    second = {"second": 0, "retries": 0, "partitions": rows}
    thread = {"measured_ns": seconds * 1e9, "start_late_us": 12, "window_late_us": 20}
    return dict.fromkeys(names, 0) | {
        "operations": sum(ops.values()),
        "partitions": rows,
        "seconds": [second],
        "threads": [thread],
        "window_ns": seconds * 1e9,
        "start_late_max_us": 12,
    }


def encoded(value: int, count: int) -> str:
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    if count:
        histogram.record_value(value, count)
    return histogram.encode().decode()


SERVER_ZEROS = dict.fromkeys(
    (
        "socket_drops",
        "malformed",
        "misrouted",
        "store_errors",
        "send_errors",
        "receive_errors",
        "forgiven_us",
        "blocked_us",
    ),
    0,
)


class Server(Node):
    def stats(self, args: dict) -> dict:
        window_ns = self.window["measure_until_ns"] - self.window["measure_from_ns"]
        rows = []
        for server in self.prepared["logical_servers"]:
            rate = 5000 if server["udp_port"] == 1152 and self.is_first() else 2500
            served = round(rate * window_ns / 1e9)
            rows.append(
                server
                | {"served_in_window": served, "served_total": served}
                | {"busy_in_window_ns": window_ns}
                | SERVER_ZEROS
            )
        return {"logical_servers": rows, "window_ns": window_ns}

    @staticmethod
    def is_first() -> bool:
        return Path(OPTIONS.directory).name.endswith("0")


class Switch(Node):
    def table_write(self, args: dict) -> dict:
        return {"applied": len(args["updates"])}

    settings = counter_clear = port_stats_clear = port_stats = Node.stop


class Handler(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            request = json.loads(line)
            answer = {"id": request["id"]} | respond(request["command"], request.get("args", {}))
            self.wfile.write((json.dumps(answer) + "\n").encode())


def respond(command: str, args: dict) -> dict:
    node, faulty, kind = (os.environ.get("FAKE_NODE_FAULT", "::")).split(":")
    if (node, faulty) == (KIND, command) and Path(os.environ["FAKE_NODE_FAULT_FILE"]).exists():
        if kind == "hang":
            threading.Event().wait()
        if kind == "exit":
            os._exit(3)
        return {"ok": False, "error": {"code": "internal", "message": "made to fail"}}
    if command == "shutdown":
        threading.Timer(0.01, os._exit, [0]).start()
        return {"ok": True, "result": {}}
    return {"ok": True, "result": getattr(NODE, command)(args)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--directory")
    OPTIONS, _ = parser.parse_known_args()
    NODE = {"kvclient": Client, "kvserver": Server, "softswitch": Switch}[KIND]()
    signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
    path = Path(OPTIONS.directory) / f"{KIND}.sock"
    path.unlink(missing_ok=True)
    server = socketserver.ThreadingUnixStreamServer(str(path), Handler)
    server.daemon_threads = True
    server.serve_forever()
