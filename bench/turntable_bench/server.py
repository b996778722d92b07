"""Processor time of kvserver's request path beside db_bench, RocksDB's own benchmark.

In memory: both work on one thread and one processor, with the RocksDB settings of the embedded
profile (db_bench reads the file that kvserver's store left), the same number of keys and sizes,
and the mix of `readrandomwriterandom`: uniform keys, fifty reads after fifty writes. Over veth,
kvserver also pays for its sockets and the kernel's network stack.
"""

from __future__ import annotations

import functools
import json
import shutil
import tempfile
from pathlib import Path

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate
from .namespaces import SERVER_ADDRESS, direct_hosts, enter
from .nodes import client_node, play, prepare
from .processes import Argv, cpu_ns_per_operation, need, node, pinned, run
from .settings import Settings

KEYS = 1_000_000
KEY_BYTES = 16
SHORT, LONG = 200_000, 700_000
# Below the ten files of level 0 that start a compaction: both sides flush, neither compacts.
SERVER_CPU, CLIENT_CPU = 1, 0
WORKLOAD = {"name": "workloada", "records": KEYS, "operations": KEYS, "clients": 64}


def measure(settings: Settings) -> list[Outcome]:
    need("db_bench", "rocksdb-tools")
    in_memory = Comparison(
        "server: request path in memory",
        "db_bench",
        "kvserver",
        Unit.CPU_NS_PER_OP,
        goal=0.8,
    )
    with tempfile.TemporaryDirectory(prefix="bench-", dir=settings.build) as directory:
        stores = Stores(Path(directory), settings)
        measured = alternate(
            in_memory,
            settings.rounds,
            {
                side: functools.partial(cpu_ns_per_operation, cpu_s, SHORT, LONG)
                for side, cpu_s in ((YARDSTICK, stores.db_bench), (OURS, stores.kvserver))
            },
        )
        return [measured, _over_veth(settings, Path(directory), measured)]


class Stores:
    """Two loaded databases, and runs that begin with a fresh copy of one of them."""

    def __init__(self, directory: Path, settings: Settings) -> None:
        self.directory = directory
        self.program = settings.binary("kvserver-in-memory")
        build = [self.program, "build", "--store", directory / "ours", "--keys", str(KEYS)]
        same = {**json.loads(run(build).output), "num": KEYS, "key_size": KEY_BYTES}
        self.same = [f"--{name}={value}" for name, value in same.items()]
        self._db_bench("theirs", ["--benchmarks=fillseq,compact"])

    def db_bench(self, operations: int) -> float:
        self._copy("theirs")
        mix = ["--benchmarks=readrandomwriterandom", "--readwritepercent=50"]
        return self._db_bench("work", ["--use_existing_db=1", f"--reads={operations}", *mix])

    def kvserver(self, operations: int) -> float:
        store = self._copy("ours")
        options = ["--store", store, "--keys", str(KEYS), "--operations", str(operations)]
        return _pinned_cpu_s([self.program, "serve", *options])

    def _db_bench(self, store: str, options: list[str]) -> float:
        database = f"--db={self.directory / store}"
        return _pinned_cpu_s(
            ["db_bench", database, *self.same, "--threads=1", "--seed=1", *options]
        )

    def _copy(self, loaded: str) -> Path:
        """As kvserver copies a store: tables, which never change, are linked."""
        work = self.directory / "work"
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir()
        for file in (self.directory / loaded).iterdir():
            if file.suffix == ".sst":
                (work / file.name).hardlink_to(file)
            elif file.name != "LOCK":
                shutil.copyfile(file, work / file.name)
        return work


def _pinned_cpu_s(argv: Argv) -> float:
    return run(pinned(SERVER_CPU, argv)).cpu_s


def _over_veth(settings: Settings, directory: Path, in_memory: Outcome) -> Outcome:
    comparison = Comparison(
        "server: over veth, with sockets", "db_bench", "kvserver", Unit.CPU_NS_PER_OP
    )
    print(f"\n{comparison.what}", flush=True)
    options = ["--state-dir", directory, "--address", SERVER_ADDRESS]
    program = settings.binary("kvserver")
    runs = []
    with (
        direct_hosts("v") as hosts,
        node(program, [*enter(hosts.server), *pinned(SERVER_CPU, [])], options) as server,
        client_node(settings, [*enter(hosts.client), *pinned(CLIENT_CPU, [])]) as client,
    ):
        store = {"workload": WORKLOAD, "scale": 1, "store_profile": "embedded"}
        server.call("load", **store, partitions=[0])
        for number in range(settings.rounds):
            logical = [{"partition": 0, "udp_port": 1152}]
            server.call("prepare", **store, logical_servers=logical, capacity_ops_per_s=0)
            before = server.cpu_s()
            prepare(client, WORKLOAD, SERVER_ADDRESS, 1152)
            operations = play(client)
            runs.append((server.cpu_s() - before) * 1e9 / operations)
            server.call("stop")
            print(f"  round {number + 1}: kvserver {comparison.unit.text(runs[-1])}", flush=True)
    return Outcome(comparison, {YARDSTICK: in_memory.runs[YARDSTICK], OURS: runs})
