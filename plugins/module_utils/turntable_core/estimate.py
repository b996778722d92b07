"""What a run will take: time, disk and memory, before anything is started."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from turntable_core import journal
from turntable_core.errors import TurntableError
from turntable_core.plan import Iteration, Turn
from turntable_core.testbed import Testbed
from turntable_core.workload import workload_of

# Measured on a virtual machine with two cores; earlier runs on this machine tell better.
OVERHEAD_S = 0.4  # of an iteration beyond warm-up and window
START_S = 4.0  # nodes up, and down at the end
TURN_S = 1.0  # tables, and stores that are there already
KEYS_PER_S = 60_000  # when stores are built

BYTES_PER_KEY = 24  # of a store, beside the value
RAW_BYTES = 20_000  # of an iteration's raw files
BYTES_PER_OPERATION = 16  # of a client's trace, and of the part of it that an iteration replays

# So many runs of the past are asked for their overhead.
EARLIER_RUNS = 5

Work = Sequence[tuple[Turn, Iteration]]  # what is to be measured


@dataclass(frozen=True)
class Overhead:
    """Of an iteration, and how it is known: from so many earlier runs, or assumed (0)."""

    seconds: float
    runs: int


@dataclass(frozen=True)
class Estimate:
    iterations: int
    window_s: float  # warm-up and measuring, all iterations
    overhead: Overhead
    turns: int
    turns_to_load: int  # of these, turns whose stores are not there yet
    keys_to_load: int
    store_bytes: int  # of these stores
    raw_bytes: int
    client_memory_bytes: int  # all clients' traces, of the largest turn

    @property
    def load_s(self) -> float:
        return self.keys_to_load / KEYS_PER_S

    @property
    def setup_s(self) -> float:
        return START_S + self.turns * TURN_S if self.turns else 0.0

    @property
    def total_s(self) -> float:
        measuring_s = self.window_s + self.iterations * self.overhead.seconds
        return self.setup_s + self.load_s + measuring_s


def estimate(work: Work, testbed: Testbed, overhead: Overhead) -> Estimate:
    turns = list({(turn.cell.id, turn.round): turn for turn, _ in work}.values())
    missing = {id(turn): _keys_to_load(turn, testbed) for turn in turns}
    stores = [
        keys * (turn.cell.parameters["value_bytes"] + BYTES_PER_KEY)
        for turn in turns
        if (keys := missing[id(turn)])
    ]
    return Estimate(
        iterations=len(work),
        window_s=sum(window_s(turn.cell.parameters) for turn, _ in work),
        overhead=overhead,
        turns=len(turns),
        turns_to_load=sum(keys > 0 for keys in missing.values()),
        keys_to_load=sum(missing.values()),
        store_bytes=sum(stores),
        raw_bytes=len(work) * RAW_BYTES,
        client_memory_bytes=max(map(_client_memory_bytes, turns), default=0),
    )


def window_s(parameters: Any) -> float:
    return parameters["warmup_s"] + parameters["measure_s"]


def overhead_of_earlier_runs(results: Path) -> Overhead:
    """Mean over the iterations of the newest runs in `results`, of any experiment."""
    journals = sorted(results.glob("*/*/journal.ndjson"), key=_changed_at, reverse=True)
    means = []
    for path in journals[:EARLIER_RUNS]:
        try:
            attempts = journal.read(path)
        except TurntableError:
            continue
        values = [attempt.overhead_s for attempt in attempts if attempt.overhead_s is not None]
        if values:
            means.append(fmean(values))
    return Overhead(fmean(means), len(means)) if means else Overhead(OVERHEAD_S, 0)


def free_bytes(path: Path) -> int:
    """Of the file system that `path` is on, or will be on."""
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free


def free_memory_bytes() -> int:
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _changed_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _keys_to_load(turn: Turn, testbed: Testbed) -> int:
    """Keys of the partitions whose stores no server host of this machine has."""
    keys = turn.prediction.keys
    there = _partitions_there(turn, testbed)
    return sum(count for partition, count in enumerate(keys) if partition not in there)


def _partitions_there(turn: Turn, testbed: Testbed) -> set[int]:
    """By the files of src/kv/store_library.h; empty for hosts that are other machines."""
    parameters = turn.cell.parameters
    wanted = {
        "workload": workload_of(parameters, turn.round),
        "scale": parameters["servers"],
        "store_profile": parameters["store_profile"],
    }
    stores = [
        store
        for host in testbed.servers
        for spec in Path(host.state_dir).glob("stores/*/spec.json")
        if _spec(spec).items() >= wanted.items()
        for store in spec.parent.glob("p*/base/store.json")
    ]
    return {int(store.parents[1].name.removeprefix("p")) for store in stores}


def _spec(path: Path) -> dict[str, Any]:
    try:
        return json.loads(path.read_bytes())
    except (OSError, ValueError):  # a kvserver is just removing or writing it
        return {}


def _client_memory_bytes(turn: Turn) -> int:
    """Whole traces, and the pieces of the busiest pair of partitions."""
    busiest = sum(sorted(turn.prediction.trace.shares)[-2:])
    return round(turn.cell.parameters["operations"] * BYTES_PER_OPERATION * (1 + busiest))
