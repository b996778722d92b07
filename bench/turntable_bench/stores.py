"""Shadowfax's store: the library beside RocksDB and a locked map, its server beside memcached and
Redis at equal batches and pipelines.

All of it is additions to uniformly drawn keys of 8 bytes, values are 8 bytes, and all keys fit into
memory. Servers have one thread and a processor, clients the other one.
"""

from __future__ import annotations

import contextlib
import functools
import json
import re
import tempfile
from collections.abc import Callable, Iterator
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
        hlload = functools.partial(_hlload, settings, ports[0])
        hlload(fills=True)
        texts = {
            name: functools.partial(_text, settings, name, port)
            for name, port in (("memcached", ports[1]), ("redis", ports[2]))
        }
        for text in texts.values():
            text("incr", fills=True)
        for name, kind, batch, pipeline, goal in (
            ("memcached", "incr", BATCH, PIPELINE, 4),
            ("memcached", "get", BATCH, PIPELINE, 8),
            ("redis", "incr", BATCH, PIPELINE, None),
            ("redis", "get", BATCH, PIPELINE, None),
            ("memcached", "incr", 1, 1, None),
            ("redis", "incr", 1, 1, None),
        ):
            yield _compared(settings, kind, name, batch, pipeline, goal, hlload, texts[name])


def _compared(
    settings: Settings,
    kind: str,
    name: str,
    batch: int,
    pipeline: int,
    goal: float | None,
    hlload: Callable[..., float],
    text: Callable[..., float],
) -> Outcome:
    what = f"store's server, {kind}, {batch} a batch, {pipeline} under way"
    return alternate(
        Comparison(what, name, "hlserver", Unit.MOPS, goal),
        settings.rounds,
        {
            YARDSTICK: functools.partial(text, kind, batch=batch, pipeline=pipeline),
            OURS: functools.partial(hlload, kind, batch=batch, pipeline=pipeline),
        },
    )


def _hlserver(settings: Settings, port: int, directory: Path) -> Argv:
    words = ["--base-port", str(port), "--index-bits", "22", "--log-mb", "512"]
    return [settings.binary("hlserver"), *words, "--file", directory / "hlog"]


def _memcached(port: int) -> Argv:
    words = ["-l", "127.0.0.1", "-p", str(port), "-U", "0", "-t", "1", "-u", "root", "-m", "4096"]
    return ["memcached", *words, "-o", "hashpower=24"]


def _redis(port: int) -> Argv:
    return ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", ""]


def _serve(stack: contextlib.ExitStack, port: int, argv: Argv) -> None:
    stack.enter_context(running(pinned(SERVER_CPU, argv)))
    wait_for_port(port, str(argv[0]))


def _hlload(
    settings: Settings,
    port: int,
    kind: str = "incr",
    *,
    fills: bool = False,
    batch: int = BATCH,
    pipeline: int = PIPELINE,
) -> float:
    words = [
        *("--base-port", port, "--keys", KEYS, "--batch", batch, "--pipeline", pipeline),
        *("--seconds", SECONDS, "--reads", int(kind == "get")),
        *(["--fill"] if fills else []),
    ]
    argv = pinned(CLIENT_CPU, [settings.binary("hlload"), *map(str, words)])
    return json.loads(run(argv, _FILL_DEADLINE_S).output)["operations_per_s"] / 1e6


def _text(
    settings: Settings,
    protocol: str,
    port: int,
    kind: str,
    *,
    fills: bool = False,
    batch: int = BATCH,
    pipeline: int = PIPELINE,
) -> float:
    words = [
        *("--protocol", protocol, "--port", port, "--kind", kind, "--keys", KEYS),
        *("--batch", batch, "--pipeline", pipeline, "--seconds", SECONDS),
        *(["--fill"] if fills else []),
    ]
    argv = pinned(CLIENT_CPU, [settings.binary("text-batches"), *map(str, words)])
    return json.loads(run(argv, _FILL_DEADLINE_S).output)["operations_per_s"] / 1e6
