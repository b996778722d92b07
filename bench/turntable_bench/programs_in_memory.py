"""Translated programs without a switch around them: frames per second of processor time.

Both sides get the same frames of 64 bytes, each copied to a buffer before it is processed.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .cache_loads import CACHE_LOADS, PROGRAM
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


def measure_cache(settings: Settings) -> list[Outcome]:
    """FarReach with a full cache, by what becomes of a request; frames are of their own sizes."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        by_hand = _by_hand(settings, directory)
        outcomes = []
        for kind, made in CACHE_LOADS.items():
            load = made()
            file = settings.build / "lib" / "p4" / f"{PROGRAM}.so"
            ours = _in_memory(settings, directory, file, load.commands, load.frames)
            what = f"{PROGRAM}, {kind}: frames in memory"
            comparison = Comparison(what, "by hand", "translated", Unit.MPPS)
            outcomes.append(
                alternate(comparison, settings.rounds, {YARDSTICK: by_hand, OURS: ours})
            )
        return outcomes


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
    program = settings.bench_program("static_forwarder")
    return _in_memory(settings, directory, program, [forward], frames)


def _translated(settings: Settings, directory: Path, name: str) -> Callable[[], float]:
    load: Load = LOADS[name]()
    program = settings.bench_program(name)
    return _in_memory(settings, directory, program, load.commands(), load.frames)


def _in_memory(
    settings: Settings,
    directory: Path,
    program: Path,
    commands: Sequence[dict],
    frames: Sequence[bytes],
) -> Callable[[], float]:
    """One set of files per program: what is returned is called before the next."""
    setup = directory / f"{program.stem}.json"
    setup.write_text(json.dumps(commands))
    binary = settings.binary("program-in-memory")
    argv = [binary, "--program", program, "--setup", setup]
    return _runner([*argv, *_frames(directory, program.stem, frames)])


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
