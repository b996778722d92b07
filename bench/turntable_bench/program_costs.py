"""What a program costs before a frame is sent: to translate and compile it, and its entries."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .comparison import Limit, Reading, Unit, repeat
from .processes import run
from .settings import REPOSITORY, Settings

# The largest there are: FarReach's size, and 20 tables with 40 registers.
FARREACH_SIZED = REPOSITORY / "tests" / "p4soft" / "programs" / "farreach_sized.p4"
LARGE = REPOSITORY / "bench" / "programs" / "large.p4"
COMPILE_GOAL_S = 30

ENTRIES, BATCH = 1_000_000, 10_000
MEMORY_GOAL_MB = 200


def measure(settings: Settings) -> list[Reading]:
    compiles = [
        repeat(
            Limit(f"{source.stem}: translated and compiled", Unit.CPU_S, COMPILE_GOAL_S),
            settings.rounds,
            lambda source=source: translate_and_compile_s(settings, source),
        )
        for source in (FARREACH_SIZED, LARGE)
    ]
    memory = Limit(f"exact table of {ENTRIES:,} keys of 16 B: memory", Unit.MB, MEMORY_GOAL_MB)
    return [*compiles, repeat(memory, 1, lambda: memory_of_entries_mb(settings))]


def translate_and_compile_s(settings: Settings, source: Path) -> float:
    """Processor time from a P4 source to its shared library, with the build's flags, uncached.

    All of it runs on one processor: on an idle machine that is the time one waits.
    """
    with tempfile.TemporaryDirectory() as directory:
        generated = Path(directory, f"{source.stem}.cpp")
        path = f"PYTHONPATH={REPOSITORY / 'src'}"
        p4soft = ["env", path, sys.executable, "-m", "p4soft"]
        translate = [*p4soft, "translate", source, "--output", directory]
        compiler = ["env", "CCACHE_DISABLE=1", *_compiler(settings)]
        library = generated.with_suffix(".so")
        compile_it = [*compiler, "-shared", generated, "-o", library]
        return run(translate).cpu_s + run(compile_it).cpu_s


def _compiler(settings: Settings) -> list[str]:
    """How the build compiles a translated program, up to the names of its files."""
    for entry in json.loads((settings.build / "compile_commands.json").read_text()):
        if entry["file"].endswith("generated/bench/large.cpp"):
            argv = shlex.split(entry["command"])
            return argv[: argv.index("-o")]
    raise RuntimeError(f"{settings.build} does not compile large.p4; run `make build`")


def memory_of_entries_mb(settings: Settings) -> float:
    """What a process grows by when a table gets its entries, in 10^6 bytes."""
    program = settings.bench_program("million_entries")
    argv = [settings.binary("p4run"), "--program", program]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as p4run:
        assert p4run.stdin is not None
        assert p4run.stdout is not None
        before = 0
        for request in _batches():
            p4run.stdin.write(json.dumps(request) + "\n")
            p4run.stdin.flush()
            answer = json.loads(p4run.stdout.readline())
            if not answer["ok"]:
                raise RuntimeError(f"p4run: {answer['error']}")
            # The first batch is there to have grown what is needed to read any batch.
            before = before or _resident_bytes(p4run.pid)
        return (_resident_bytes(p4run.pid) - before) / 1e6 * ENTRIES / (ENTRIES - BATCH)


def _batches() -> Iterator[dict]:
    """Keys that differ in all of their bytes."""
    for first in range(0, ENTRIES, BATCH):
        updates = [
            {"op": "insert", "table": "keys", "key": {"key": _spread(i)}, "action": "forward",
             "data": {"port": i % 64}}
            for i in range(first, first + BATCH)
        ]  # fmt: skip
        yield {"id": first, "command": "table_write", "args": {"updates": updates}}


def _spread(number: int) -> str:
    return f"{(number + 1) * 0x9E3779B97F4A7C15F39CC0605CEDC835 % 2**128:#034x}"


def _resident_bytes(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
    return int(line.split()[1]) * 1024
