"""Shadowfax's store: the library beside RocksDB and a locked map, its server beside memcached and
Redis at equal batches and pipelines.

Keys of 8 bytes are drawn uniformly, values are 8 bytes, and all keys fit into memory. Servers have
one thread and a processor, and hlload, which speaks the protocols of all, has the other one.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .comparison import OURS, YARDSTICK, Comparison, Outcome, Unit, alternate
from .processes import Argv, free_ports, need, pinned, run, running, wait_for_port
from .settings import Settings

SERVER_CPU, CLIENT_CPU = 0, 1
KEYS, SECONDS = 10_000_000, 3
BATCH, PIPELINE = 1926, 2  # 32 KiB of requests, as published
_FILL_DEADLINE_S = 600


def measure(settings: Settings) -> list[Outcome]:
    return [*_library(settings), *_server(settings)]


def _library(settings: Settings) -> Iterator[Outcome]:
    need("db_bench", "rocksdb-tools")
    for threads in (1, 2):
        ours = functools.partial(_in_memory, settings, "hybridlog", threads)
        for name, theirs, goal in (
            ("locked map", functools.partial(_in_memory, settings, "map", threads), None),
            ("RocksDB", functools.partial(_rocksdb, threads), None),
        ):
            yield alternate(
                Comparison(
                    f"store's library, {threads} thread{'s' * (threads > 1)}",
                    name,
                    "hybridlog",
                    Unit.MOPS,
                    goal,
                ),
                settings.rounds,
                {YARDSTICK: theirs, OURS: ours},
            )


def _in_memory(settings: Settings, store: str, threads: int) -> float:
    words = ["--store", store, "--keys", KEYS, "--threads", threads, "--seconds", SECONDS]
    program = settings.binary("store-in-memory")
    found = json.loads(run([program, *map(str, words)], _FILL_DEADLINE_S).output)
    if not found["sum_is_right"]:
        raise RuntimeError(f"{store}: the sum of the values is not that of the additions")
    return found["additions_per_s"] / 1e6


def _rocksdb(threads: int) -> float:
    """Reads a value and writes it again; nothing goes to a log."""
    with tempfile.TemporaryDirectory() as directory:
        words = [
            *("db_bench", "--benchmarks=fillseq,updaterandom", f"--db={directory}"),
            *(f"--num={KEYS}", "--key_size=8", "--value_size=8", "--disable_wal=1"),
            *(f"--threads={threads}", f"--duration={SECONDS}", "--compression_type=none"),
            *("--cache_size=1073741824", "--write_buffer_size=1073741824"),
        ]
        output = run(words, _FILL_DEADLINE_S).output
    found = re.search(r"updaterandom\s*:.*?(\d+) ops/sec", output)
    if found is None:
        raise RuntimeError(f"db_bench: no updaterandom in the output:\n{output[-2000:]}")
    return int(found[1]) / 1e6


def _server(settings: Settings) -> Iterator[Outcome]:
    need("memcached", "memcached")
    need("redis-server", "redis-server")
    with contextlib.ExitStack() as stack:
        directory = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        ports = free_ports(3)
        _serve(stack, ports[0], _hlserver(settings, ports[0], directory))
        _serve(stack, ports[1], _memcached(ports[1]))
        _serve(stack, ports[2], _redis(ports[2]))
        loads = {
            protocol: functools.partial(_hlload, settings, protocol, port)
            for protocol, port in zip(("shadowfax", "memcached", "redis"), ports, strict=True)
        }
        for load in loads.values():
            load("additions", fills=True)
        for name, operations, batch, pipeline, goal in (
            ("memcached", "additions", BATCH, PIPELINE, 4),
            ("memcached", "reads", BATCH, PIPELINE, 8),
            ("redis", "additions", BATCH, PIPELINE, None),
            ("redis", "reads", BATCH, PIPELINE, None),
            ("memcached", "additions", 1, 1, None),
            ("memcached", "reads", 1, 1, None),
            ("redis", "additions", 1, 1, None),
            ("redis", "reads", 1, 1, None),
        ):
            what = f"store's server, {operations}, {batch} a batch, {pipeline} under way"
            sides = {YARDSTICK: loads[name], OURS: loads["shadowfax"]}
            yield alternate(
                Comparison(what, name, "hlserver", Unit.MOPS, goal),
                settings.rounds,
                {
                    side: functools.partial(load, operations, batch=batch, pipeline=pipeline)
                    for side, load in sides.items()
                },
            )


def _hlserver(settings: Settings, port: int, directory: Path) -> Argv:
    words = ["--base-port", str(port), "--index-bits", "22", "--log-mb", "512"]
    return [settings.binary("hlserver"), *words, "--file", directory / "hlog"]


def _memcached(port: int) -> Argv:
    """The fastest that is known: a batch is served as one event, memory is in huge pages."""
    words = ["-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-u", "root", "-m", "4096"]
    return ["memcached", *words, "-o", "hashpower=24", "-R", str(BATCH), "-L"]


def _redis(port: int) -> Argv:
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]


def _serve(stack: contextlib.ExitStack, port: int, argv: Argv) -> None:
    stack.enter_context(running(pinned(SERVER_CPU, argv)))
    wait_for_port(port, str(argv[0]))


def _hlload(
    settings: Settings,
    protocol: str,
    port: int,
    operations: str,
    *,
    fills: bool = False,
    batch: int = BATCH,
    pipeline: int = PIPELINE,
) -> float:
    words = [
        *("--protocol", protocol, "--base-port", port, "--keys", KEYS),
        *("--batch", batch, "--pipeline", pipeline),
        *("--seconds", SECONDS, "--reads", int(operations == "reads")),
        *(["--fill"] if fills else []),
    ]
    argv = pinned(CLIENT_CPU, [settings.binary("hlload"), *map(str, words)])
    # Its last line, behind what it has said on its way.
    found = json.loads(run(argv, _FILL_DEADLINE_S).output.splitlines()[-1])
    if found["not_found"] or found["errors"]["failed"]:
        raise RuntimeError(
            f"{protocol}: {found['not_found']} keys were missing, {found['errors']['failed']} "
            f"operations failed: {found['failed_why']}"
        )
    return found["operations_per_s"] / 1e6
