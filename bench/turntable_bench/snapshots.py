"""Snapshots of 10,000 cached records: what they take, and what the clients notice.

The rack of the crash tests: real nodes in network namespaces, FarReach, every key cached, so that
all requests are hits; all are writes of keys drawn uniformly, so that most slots are reported when
they change. What clients notice is taken from their histories.
"""

from __future__ import annotations

import functools
import itertools
import json
import tempfile
from pathlib import Path

from tests.crash.rack import CONTROLLER, SCALE, SOFTSWITCH, Rack, Setup

from .comparison import (
    OURS,
    YARDSTICK,
    Comparison,
    Limit,
    Outcome,
    Reading,
    Unit,
    alternate_all,
    repeat,
)
from .namespaces import need_root
from .settings import Settings

RECORDS = 10_000
CLIENTS = 32
ANSWERS = 8_000  # before, during and after a snapshot, each
BY_SWITCH = 65535
NS_PER_MS, NS_PER_US = 1e6, 1e3

PAUSE = Comparison(
    f"snapshot of {RECORDS:,} records: longest pause of hits",
    "without",
    "with",
    Unit.MS,
)
TAIL = Comparison(f"snapshot of {RECORDS:,} records: p99.9 of hits", "without", "with", Unit.US)
# The published experiments take one every 2.5 s to 10 s, at up to 1.37 MiB/s of control traffic.
DURATION = Limit("snapshot, under load: duration", Unit.S, 2.5)
RATE = Limit("snapshot, under load: per record", Unit.US, 250)
TRAFFIC = Limit("snapshot: control-plane messages", Unit.MB, 1.37 * 2.5 * 1.048576)
SWITCH = Limit("snapshot, idle: time of the switch's thread", Unit.CPU_S, 0.1)


def measure(settings: Settings) -> list[Outcome | Reading]:
    need_root()
    setup = Setup(
        profile="uniform",
        records=RECORDS,
        clients=CLIENTS,
        cache_size=RECORDS,
        warm=RECORDS,
        clear_period_s=1,
        variations={},
    )
    with (
        tempfile.TemporaryDirectory(prefix="turntable-bench-") as directory,
        Rack(settings.build, Path(directory), setup) as rack,
    ):
        rack.start()
        rack.call(CONTROLLER, "readmit", partitions=list(range(SCALE)), prefill=True)
        taken: list[dict[str, float]] = []
        sides = {
            YARDSTICK: functools.partial(_noticed, rack, None),
            OURS: functools.partial(_noticed, rack, taken),
        }
        noticed = alternate_all([PAUSE, TAIL], settings.rounds, sides)
        rows: list[Outcome | Reading] = list(noticed)
        for limit, name, share in (
            (DURATION, "duration_s", 1.0),
            (RATE, "duration_s", 1e6 / RECORDS),
            (TRAFFIC, "bytes", 1e-6),
        ):
            rows.append(Reading(limit, [snapshot[name] * share for snapshot in taken]))
        rows.append(repeat(SWITCH, settings.rounds, functools.partial(_thread_s, rack)))
    return rows


def _noticed(rack: Rack, taken: list[dict[str, float]] | None) -> tuple[float, float]:
    """(longest pause in ms, p99.9 in us) of hits; with a snapshot, which is added to `taken`."""
    rack.begin_clients()
    rack.wait_for_answers(ANSWERS)
    if taken is not None:
        taken.append(_snapshot(rack))
    rack.wait_for_answers(2 * ANSWERS)
    rack.end_clients()
    answered, latencies = [], []
    for path in rack.history.glob("clients-*.ndjson"):
        with path.open() as lines:
            next(lines)
            for operation in map(json.loads, lines):
                if operation["node"] == BY_SWITCH:
                    answered.append(operation["response_ns"])
                    latencies.append(operation["response_ns"] - operation["sends_ns"][-1])
    answered.sort()
    latencies.sort()
    pause = max(b - a for a, b in itertools.pairwise(answered))
    return pause / NS_PER_MS, latencies[len(latencies) * 999 // 1000] / NS_PER_US


def _snapshot(rack: Rack) -> dict[str, float]:
    snapshot = rack.call(CONTROLLER, "snapshot")
    # Stores have the keys that the traces touch, which are not quite all.
    if snapshot["records"] < 0.99 * RECORDS:
        raise RuntimeError(f"snapshot of {snapshot['records']} records; expected {RECORDS}")
    rate = snapshot["records"] / snapshot["duration_s"]
    phases = ", ".join(f"{name} {seconds:.3f}" for name, seconds in snapshot["phases"].items())
    print(f"  {snapshot['duration_s']:.3f} s, {rate:,.0f} records/s: {phases}", flush=True)
    bytes_ = snapshot["sent_bytes"] + snapshot["received_bytes"]
    return {"duration_s": snapshot["duration_s"], "bytes": bytes_}


def _thread_s(rack: Rack) -> float:
    def run_ns() -> int:
        return rack.call(SOFTSWITCH, "info")["pipeline_thread"]["run_ns"]

    before = run_ns()
    _snapshot(rack)
    return (run_ns() - before) / 1e9
