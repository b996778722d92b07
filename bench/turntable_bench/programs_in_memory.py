"""Translated programs without a switch around them: frames per second of processor time.

Both sides get the same frames of 64 bytes, each copied to a buffer before it is processed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .comparison import OURS, YARDSTICK, Comparison, NotRunError, Outcome, Unit, alternate
from .namespaces import SERVER_MAC
from .processes import Argv, pinned, run
from .program_loads import LOADS, SERVER_PORT, Load, address_pairs, udp_frame
from .settings import REPOSITORY, Settings

SWX = "TURNTABLE_SWX"
SWX_SPEC = REPOSITORY / "bench" / "programs" / "swx" / "three_tables.spec"
SECONDS = 0.5  # of processor time per run
CPU = 1


def measure(settings: Settings) -> list[Outcome]:
    """Programs of bench/programs beside the least a program can do, written by hand."""
    with tempfile.TemporaryDirectory() as directory:
        by_hand = _by_hand(settings, Path(directory))
        return [
            alternate(
                Comparison(f"{name}: frames in memory", "by hand", "translated", Unit.MPPS),
                settings.rounds,
                {YARDSTICK: by_hand, OURS: _translated(settings, Path(directory), name)},
            )
            for name in LOADS
        ]


def measure_swx(settings: Settings) -> list[Outcome]:
    """Three exact tables beside DPDK's SWX pipeline."""
    swx = Path(os.environ.get(SWX, ""))
    if not swx.is_file():
        raise NotRunError(f"{SWX} names no program; expected one that docs/bench.md describes")
    load = LOADS["three_tables"]()
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        entries: list[str | Path] = []
        for table, lines in load.swx_entries().items():
            file = directory / table
            file.write_text(lines)
            entries += ["--entries", f"{table}={file}"]
        argv = [swx, "--spec", SWX_SPEC, *entries, *_frames(directory, "swx", load.frames)]
        comparison = Comparison(
            "three_tables, beside SWX: frames in memory",
            "SWX pipeline",
            "translated",
            Unit.MPPS,
            goal=1,
        )
        sides = {YARDSTICK: _runner(argv), OURS: _translated(settings, directory, "three_tables")}
        return [alternate(comparison, settings.rounds, sides)]


def _by_hand(settings: Settings, directory: Path) -> Callable[[], float]:
    forward = {"command": "forward", "args": {"mac": SERVER_MAC, "port": SERVER_PORT}}
    frames = [udp_frame(pair) for pair in address_pairs(64)]
    return _in_memory(settings, directory, "static_forwarder", [forward], frames)


def _translated(settings: Settings, directory: Path, name: str) -> Callable[[], float]:
    load: Load = LOADS[name]()
    return _in_memory(settings, directory, name, load.commands(), load.frames)


def _in_memory(
    settings: Settings, directory: Path, name: str, commands: list, frames: Sequence[bytes]
) -> Callable[[], float]:
    setup = directory / f"{name}.json"
    setup.write_text(json.dumps(commands))
    program = ["--program", settings.bench_program(name), "--setup", setup]
    binary = settings.binary("program-in-memory")
    return _runner([binary, *program, *_frames(directory, name, frames)])


def _frames(directory: Path, name: str, frames: Sequence[bytes]) -> list[str | Path]:
    file = directory / f"{name}.frames"
    file.write_text("".join(f"{frame.hex()}\n" for frame in frames))
    return ["--frames", file, "--seconds", str(SECONDS)]


def _runner(argv: Argv) -> Callable[[], float]:
    """Millions of frames per second of processor time of one run."""

    def measured() -> float:
        result = json.loads(run(pinned(CPU, argv)).output.splitlines()[-1])
        return result["frames"] / result["cpu_s"] / 1e6

    return measured
