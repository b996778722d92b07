"""A switch that was killed gets back what it had: from copies at clients and from its servers.

Real switch, agent, controller and servers; clients are threads of this process that have copies.
"""

from __future__ import annotations

import itertools
import os
import socket
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import NodeError
from tests.packet.live_switch import Links
from turntable_bench.copies import CopiesClient, Copy
from turntable_bench.handshake import SECRET
from turntable_bench.namespaces import inside

from .test_control_plane import NamespacedNode

REPOSITORY = Path(__file__).resolve().parents[2]
METHODS = ("farreach", "netcache")
CPU_PORT, SERVER_PORTS, CLIENT_PORT = 64, (2, 3), 1
AGENT_PORT, CONTROLLER_PORT, UDP_PORT = 5003, 5555, 1152
SCALE, CACHED = 4, 200
SERVED = ((0, 1), (2, 3))  # partitions of each server
WORKLOAD = {"name": "workloada", "records": 10_000}
MARGIN = 65_536
PATIENCE_S = 20
GETREQ, GETRES_SEQ = 0x0030, 0x006B
LATEST, DELETED = 0, 0x8000
# What a slot is made of (docs/kvcache.md §4).
SLOT_REGISTERS = ("valid", "slot_seq", "vallen", "frequency", *(f"value_{i}" for i in range(32)))


class Rack:
    """All but clients in one namespace, the nodes of each kind with a directory of their own."""

    def __init__(self, build_dir: Path, directory: Path, links: Links, method: str) -> None:
        self.method, self.links = method, links
        self._build_dir, self._directory = build_dir, directory
        self._stores = {
            "workload": WORKLOAD, "scale": SCALE, "store_profile": "embedded", "method": method
        }  # fmt: skip
        self.switch = self.start_switch()
        self.start_agent()
        self.start_controller()
        self.servers = [self._start_server(index) for index in range(len(SERVED))]
        self.configure_agent()
        self.configure_controller()

    def start_agent(self) -> None:
        options = ("--cpu-interface", f"t{CPU_PORT}", "--address", "127.0.0.1")
        self.agent = self._start("switch-agent", *options, "--port", str(AGENT_PORT))

    def restart_agent(self) -> None:
        self.agent.process.kill()
        self.agent.process.wait()
        self.start_agent()

    def start_controller(self) -> None:
        listen = ("--address", "127.0.0.1", "--port", str(CONTROLLER_PORT))
        self.controller = self._start("cache-controller", *listen)

    def restart_controller(self) -> None:
        """Servers find it before it is configured."""
        self.controller.process.kill()
        self.controller.process.wait()
        self.start_controller()
        self.configure_controller()

    def _start(self, program: str, *options: str, place: str = "shared") -> NamespacedNode:
        directory = self._directory / place
        directory.mkdir(exist_ok=True)
        path = self._build_dir / "bin" / program
        return NamespacedNode(self.links.namespace, path, directory, *options)

    def start_switch(self) -> NamespacedNode:
        ports = [f"--port={port}=s{port}" for port in (CLIENT_PORT, *SERVER_PORTS)]
        program = f"--program={self._build_dir}/lib/p4/{self.method}.so"
        return self._start("softswitch", program, *ports, f"--cpu-port={CPU_PORT}=s{CPU_PORT}")

    def _start_server(self, index: int) -> NamespacedNode:
        place = f"server{index}"
        state = f"--state-dir={self._directory / place / 'state'}"
        server = self._start("kvserver", state, "--address=127.0.0.1", place=place)
        server.call("load", **self._stores, partitions=SERVED[index])
        server.call(
            "prepare",
            **self._stores,
            logical_servers=[{"partition": p, "udp_port": UDP_PORT + p} for p in SERVED[index]],
            capacity_ops_per_s=0,
            controller={"address": "127.0.0.1", "port": CONTROLLER_PORT},
        )
        return server

    def configure_agent(self, *, fresh: bool = True) -> dict[str, int]:
        return self.agent.call(
            "configure",
            method=self.method,
            egress_ports=[2, 2, 3, 3],
            clients=[{"address": "198.18.0.1", "port": CLIENT_PORT}],
            cpu_port=CPU_PORT,
            fresh=fresh,
            cache_size=CACHED,
            clear_period_s=0,
        )

    def configure_controller(self) -> None:
        agent = {"agent_address": "127.0.0.1", "agent_port": AGENT_PORT}
        self.controller.call("configure", method=self.method, scale=SCALE, **agent)

    def kill_switch(self) -> None:
        """kill -9, and the next one, as docs/kvcache.md §9 has it up to `recover`."""
        self.switch.process.kill()
        self.switch.process.wait()
        self.switch = self.start_switch()
        self.configure_agent()

    def recover(self, clients: int = 0) -> dict[str, Any]:
        return self.controller.call("recover", clients=clients, deadline_s=30)

    def client(self, copies: list[Copy]) -> CopiesClient:
        with inside(self.links.namespace):
            channel = socket.create_connection(("127.0.0.1", CONTROLLER_PORT))
        return CopiesClient(channel, SECRET, copies)

    def register(self, name: str) -> list[int]:
        return self.switch.call("register_read", table=f"{name}.cells")["values"]

    def slots(self) -> dict[bytes, int]:
        """The slot of each cached key."""
        entries = self.switch.call("table_read", table="cache_lookup")["entries"]
        names = ("keylolo", "keylohi", "keyhilo", "keyhihilo", "keyhihihi")
        return {
            struct.pack(">IIIHH", *(int(entry["key"][name]) for name in names)): int(
                entry["data"]["slot"]
            )
            for entry in entries
        }

    def stored(self, key: bytes) -> tuple[int, bytes]:
        """Number and value of a key's record at its server, by a GET."""
        request = struct.pack(">H16sI", GETREQ, key, 7)
        end = time.monotonic() + PATIENCE_S
        partitions = itertools.cycle(range(SCALE))  # the others' servers do not answer
        while time.monotonic() < end:
            with inside(self.links.namespace):
                channel = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            with channel:
                channel.connect(("127.0.0.1", UDP_PORT + next(partitions)))
                channel.settimeout(0.2)
                channel.send(request)
                try:
                    answer = channel.recv(2048)
                except TimeoutError:
                    continue
            assert struct.unpack_from(">H", answer) == (GETRES_SEQ,)
            (length,) = struct.unpack_from(">H", answer, 22)
            after = 24 + (length + 7) // 8 * 8 + 2
            return struct.unpack_from(">I", answer, after)[0], answer[24 : 24 + length]
        raise AssertionError(f"no server answered for key {key.hex()}")

    def close(self) -> None:
        for node in (*self.servers, self.controller, self.agent, self.switch):
            node.end()


@pytest.fixture(scope="module", params=METHODS)
def rack(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Rack]:
    if os.geteuid() != 0:
        pytest.skip("the software switch needs network namespaces: it needs root")
    build_dir = Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build"))
    if not (build_dir / "bin" / "cache-controller").exists():
        pytest.fail(f"no cache-controller in {build_dir}/bin; run `make build`")
    with ExitStack() as stack:
        links = Links([CLIENT_PORT, *SERVER_PORTS, CPU_PORT])
        stack.callback(links.remove)
        subprocess.run(["ip", "-n", links.namespace, "link", "set", "lo", "up"], check=True)
        rack = Rack(build_dir, tmp_path_factory.mktemp("recovery"), links, request.param)
        stack.callback(rack.close)
        yield rack


@pytest.fixture
def cached(rack: Rack) -> list[bytes]:
    """An emptied switch that has the hottest keys, and these keys."""
    rack.configure_agent()
    rack.configure_controller()
    rack.controller.call("warm_up", workload=WORKLOAD, count=CACHED)
    return sorted(rack.slots())


def test_a_restored_switch_is_what_frames_make_of_it(rack: Rack, cached: list[bytes]) -> None:
    rack.controller.call("readmit", partitions=list(range(SCALE)), prefill=True)
    by_frames = {name: rack.register(name) for name in SLOT_REGISTERS}
    slots = rack.slots()
    assert sum(by_frames["valid"]) == len(cached) == CACHED
    assert len({tuple(by_frames[f"value_{i}"]) for i in range(32)}) > 1  # there are values
    rack.kill_switch()
    assert rack.slots() == {}
    assert rack.recover()["restored"] == CACHED
    assert rack.slots() == slots
    for name in SLOT_REGISTERS:
        assert rack.register(name) == by_frames[name], name


def test_numbers_go_on_beyond_all_that_were_seen(rack: Rack, cached: list[bytes]) -> None:
    assert len(cached) == CACHED
    rack.kill_switch()
    number = rack.recover()["number"]
    assert number >= MARGIN
    assert set(rack.register("seq")) == {number}


def test_recovering_again_changes_nothing(rack: Rack, cached: list[bytes]) -> None:
    rack.kill_switch()
    first = rack.recover()
    before = {name: rack.register(name) for name in SLOT_REGISTERS}
    again = rack.recover()
    for name in ("restored", "digest"):
        assert again[name] == first[name], name
    # The switch of the first may have numbered writes that nobody has seen.
    assert again["number"] == first["number"] + MARGIN
    assert again["restored"] == len(cached)
    assert {name: rack.register(name) for name in SLOT_REGISTERS} == before


def test_a_switch_started_underneath_its_agent_is_not_taken_for_one_that_serves(
    rack: Rack, cached: list[bytes]
) -> None:
    assert len(cached) == CACHED
    rack.switch.process.kill()
    rack.switch.process.wait()
    rack.switch = rack.start_switch()
    with pytest.raises(NodeError, match="the node ended before it answered"):
        rack.recover()
    with pytest.raises(NodeError, match="started again"):
        rack.recover()


def test_a_new_controller_goes_on_with_what_the_switch_has(rack: Rack, cached: list[bytes]) -> None:
    rack.restart_controller()
    known = rack.controller.call("cached_set")
    assert known["count"] == len(cached)
    assert known["digest"] == known["expected_digest"]
    readmitted = rack.controller.call("readmit", partitions=[0, 1, 2, 3], prefill=True)
    assert readmitted["restored"] is False
    assert sorted(rack.slots()) == cached


def test_a_switch_that_numbers_writes_is_not_recovered(rack: Rack, cached: list[bytes]) -> None:
    rack.switch.call("register_write", table="seq.cells", first=5, values=[9])
    with pytest.raises(NodeError, match="requests have passed the switch"):
        rack.recover()
    assert sorted(rack.slots()) == cached


def test_what_only_clients_had_is_at_servers_and_in_the_switch(
    rack: Rack, cached: list[bytes]
) -> None:
    if rack.method == "netcache":
        pytest.skip("NetCache's clients have no copies: writes go through to the servers")
    base = rack.recover()["number"]  # the switch numbers its writes from here on
    one = [
        Copy(cached[0], base + 5, b"old"),
        Copy(cached[1], base + 9, b"newest"),
        Copy(cached[2], base + 9, None),
        Copy(cached[3], base + 3, None),
    ]
    other = [
        Copy(cached[0], base + 6, b"the newer one of two"),
        Copy(cached[1], base + 8, None),
        Copy(cached[2], base + 8, b"deleted since"),
        Copy(cached[3], base + 4, b"x" * 128),
        Copy(cached[4], base + 1, b""),
    ]
    newest = {
        cached[0]: (base + 6, b"the newer one of two"),
        cached[1]: (base + 9, b"newest"),
        cached[2]: (base + 9, b""),
        cached[3]: (base + 4, b"x" * 128),
        cached[4]: (base + 1, b""),
    }
    clients = [rack.client(one), rack.client(other)]
    try:
        rack.kill_switch()
        answer = rack.recover(clients=2)
    finally:
        for client in clients:
            client.close()
    assert [phase["phase"] for phase in answer["phases"]] == [
        "collect", "replay", "numbers", "fetch", "restore"
    ]  # fmt: skip
    assert [phase["records"] for phase in answer["phases"]] == [5, 5, 0, CACHED, CACHED]
    assert answer["newer"] == 5
    assert answer["number"] == base + 9 + MARGIN
    slots, cells, lengths = rack.slots(), rack.register("slot_seq"), rack.register("vallen")
    for key, (number, value) in newest.items():
        assert rack.stored(key) == (number, value)
        assert cells[slots[key]] == LATEST | number
        assert lengths[slots[key]] == (DELETED if key == cached[2] else len(value))


def test_clients_that_are_not_there_are_waited_for(rack: Rack, cached: list[bytes]) -> None:
    if rack.method == "netcache":
        pytest.skip("NetCache's clients have no copies")
    assert len(cached) == CACHED
    rack.kill_switch()
    with pytest.raises(NodeError, match=r"\"clients\" is missing"):
        rack.controller.call("recover")
    with pytest.raises(NodeError, match="it waits for 1 clients to connect"):
        rack.controller.call("recover", clients=1, deadline_s=0.2)
    assert rack.slots() == {}
    assert rack.recover()["restored"] == CACHED
