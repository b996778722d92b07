"""switch-agent and cache-controller beside a real software switch that runs FarReach."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import Node, NodeError, command_line
from tests.packet.live_switch import Links

REPOSITORY = Path(__file__).resolve().parents[2]
DEADLINE_S = 20
CPU_PORT, SERVER_PORTS, CLIENT_PORT = 64, (2, 3), 1
AGENT_PORT, CONTROLLER_PORT = "5003", "5555"
WORKLOAD = {"name": "workloada", "records": 10_000}
CACHED = 300

SETTINGS: dict[str, Any] = {
    "method": "farreach",
    "egress_ports": [2, 3, 3, 3],
    "clients": [{"address": "198.18.0.1", "port": CLIENT_PORT}],
    "cpu_port": CPU_PORT,
    "cache_size": CACHED,
    "clear_period_s": 0.05,
}


class NamespacedNode(Node):
    """A node program inside a network namespace."""

    def __init__(self, namespace: str, program: Path, directory: Path, *options: str) -> None:
        self._socket_path = directory / f"{program.name}.sock"
        command = ["ip", "netns", "exec", namespace, *command_line(program, directory, *options)]
        self.process = subprocess.Popen(command)
        self.wait_ready()


class Rack:
    """One namespace with a switch, its agent and the controller."""

    def __init__(self, build_dir: Path, directory: Path, links: Links) -> None:
        self._start = lambda name, *options: NamespacedNode(
            links.namespace, build_dir / "bin" / name, directory, *options
        )
        ports = [f"--port={port}=s{port}" for port in (CLIENT_PORT, *SERVER_PORTS)]
        program = f"--program={build_dir}/lib/p4/farreach.so"
        self.switch = self._start("softswitch", program, *ports, f"--cpu-port={CPU_PORT}=s64")
        self.agent = self.start_agent()
        self.controller = self._start(
            "cache-controller", "--address", "127.0.0.1", "--port", CONTROLLER_PORT
        )

    def start_agent(self) -> NamespacedNode:
        address = ("--address", "127.0.0.1", "--port", AGENT_PORT)
        return self._start("switch-agent", "--cpu-interface", "t64", *address)

    def warm_up(self) -> dict[str, Any]:
        self.agent.call("configure", **SETTINGS, fresh=True)
        self.controller.call(
            "configure",
            method="farreach",
            scale=4,
            agent_address="127.0.0.1",
            agent_port=int(AGENT_PORT),
        )
        return self.controller.call("warm_up", workload=WORKLOAD, count=CACHED)

    def register(self, name: str) -> list[int]:
        return self.switch.call("register_read", table=name)["values"]

    def close(self) -> None:
        for node in (self.controller, self.agent, self.switch):
            node.end()


@pytest.fixture(scope="module")
def rack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rack]:
    if os.geteuid() != 0:
        pytest.skip("the software switch needs network namespaces: it needs root")
    build_dir = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (build_dir / "bin" / "switch-agent").exists():
        pytest.fail(f"no switch-agent in {build_dir}/bin; run `make build`")
    with ExitStack() as stack:
        links = Links([CLIENT_PORT, *SERVER_PORTS, CPU_PORT])
        stack.callback(links.remove)
        subprocess.run(["ip", "-n", links.namespace, "link", "set", "lo", "up"], check=True)
        rack = Rack(build_dir, tmp_path_factory.mktemp("cache"), links)
        stack.callback(rack.close)
        yield rack


def eventually(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + DEADLINE_S
    while not condition():
        assert time.monotonic() < end, "not so within the deadline"
        time.sleep(0.01)


def test_the_hottest_keys_get_slots_that_are_valid_and_admitted(rack: Rack) -> None:
    warm = rack.warm_up()
    assert rack.agent.call("cached_set") == {"count": CACHED, "digest": warm["digest"]}
    entries = rack.switch.call("table_read", table="cache_lookup")["entries"]
    slots = {int(str(entry["data"]["slot"]), 0) for entry in entries}
    assert slots == set(range(CACHED))
    assert rack.register("valid.cells") == [1] * CACHED + [0] * (32768 - CACHED)
    # ADMITTED: a first GET or a write brings the record. Every admission has its own epoch.
    cells = rack.register("slot_seq.cells")[:CACHED]
    assert {cell >> 30 for cell in cells} == {0b10}
    assert len(set(cells)) == CACHED
    assert rack.agent.call("stats")["unexpected_acknowledgements"] == 0


def test_a_killed_agent_goes_on_with_what_the_switch_has(rack: Rack) -> None:
    warm = rack.warm_up()
    rack.agent.process.kill()
    rack.agent.process.wait()
    rack.agent = rack.start_agent()
    with pytest.raises(NodeError, match="send `configure` first"):
        rack.agent.call("cached_set")
    found = rack.agent.call("configure", **SETTINGS, fresh=False)
    assert found == {"found": CACHED, "found_in_transit": 0}
    cached = rack.controller.call("cached_set")
    assert cached["digest"] == cached["expected_digest"] == warm["digest"]


def test_readmission_restores_a_cache_that_was_emptied(rack: Rack) -> None:
    warm = rack.warm_up()
    rack.agent.call("settings", cache_size=1)
    eventually(lambda: rack.agent.call("cached_set")["count"] == 1)
    rack.agent.call("settings", cache_size=CACHED)
    answer = rack.controller.call("readmit", partitions=[0, 1], prefill=False)
    assert (answer["restored"], answer["digest"]) == (True, warm["digest"])
    assert rack.controller.call("readmit", partitions=[0], prefill=False)["restored"] is False


def test_settings_reach_the_switch_and_its_sketch_is_cleared(rack: Rack) -> None:
    rack.agent.call("configure", **SETTINGS, fresh=True)
    changed = rack.agent.call("settings", sampling=0.25, hot_threshold=7)
    assert (changed["sampling"], changed["hot_threshold"]) == (0.25, 7)
    (entry,) = rack.switch.call("table_read", table="sampling.sampling")["entries"]
    assert {name: int(value) for name, value in entry["key"]["random"].items()} == {
        "low": 0,
        "high": 16383,
    }
    for name in ("row_0.cells", "row_3.cells", "frequency.cells"):
        rack.switch.call("register_write", table=name, first=5, values=[9])
        eventually(lambda name=name: rack.register(name)[5] == 0)
