"""All measurements of parts, then one table.

    sudo .venv/bin/python -m turntable_bench [NAME...] [--rounds 5] [--build build]

Exit status: 0, also where a goal is not met; 1 when a measurement broke, 2 for wrong usage.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path

from turntable_core import caller

from . import (
    analyzer,
    cache_recovery,
    client,
    control_plane,
    homa_simulation,
    known_delays,
    memcached,
    messages,
    open_loop,
    program_costs,
    programs_in_memory,
    rpc,
    server,
    snapshots,
    stores,
    switch_forwarding,
)
from .comparison import OURS, Gap, NotRunError, Outcome, Reading, Row, table
from .settings import REPOSITORY, Settings

Measure = Callable[[Settings], list[Outcome] | list[Reading] | list[Outcome | Reading]]
MEASUREMENTS: dict[str, Measure] = {
    "switch": switch_forwarding.measure,
    "bmv2": switch_forwarding.measure_bmv2,
    "programs": programs_in_memory.measure,
    "cache": programs_in_memory.measure_cache,
    "swx": programs_in_memory.measure_swx,
    "costs": program_costs.measure,
    "server": server.measure,
    "client": client.measure,
    "rpc": rpc.measure,
    "peak": open_loop.measure_peak,
    "gaps": open_loop.measure_gaps,
    "analyzer": analyzer.measure,
    "snapshot": snapshots.measure,
    "recovery": cache_recovery.measure,
    "bfrt": control_plane.measure,
    "homa_sim": homa_simulation.measure,
    "messages": messages.measure,
    "memcached": memcached.measure,
    "delays": known_delays.measure,
    "stores": stores.measure,
}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    caller.give_checkout_at_exit()
    settings = Settings(options.build.resolve(), options.rounds, options.program)
    rows: list[Row] = []
    for name in options.names or MEASUREMENTS:
        rows += attempt(name, MEASUREMENTS[name], settings)
    report(rows, settings.rounds)
    if options.json:
        options.json.write_text(json.dumps([as_json(row) for row in rows], indent=2) + "\n")
    return 1 if any(isinstance(row, Gap) and row.failed for row in rows) else 0


def attempt(name: str, measure: Measure, settings: Settings) -> Sequence[Row]:
    """The measurement's rows; one that cannot be made leaves a gap and stops no other."""
    try:
        return measure(settings)
    except NotRunError as missing:
        return [Gap(name, str(missing), failed=False)]
    except (OSError, RuntimeError, ValueError, KeyError) as error:
        traceback.print_exc()
        return [Gap(name, str(error), failed=True)]


def report(rows: Sequence[Row], rounds: int) -> None:
    load = os.getloadavg()[0]
    print(
        f"\nMedians of {rounds} alternating runs on {os.cpu_count()} processors, load {load:.1f}."
    )
    print("A ratio above 1 says that ours is better by so much (docs/bench.md).\n")
    print(table(rows))
    for row in rows:
        if isinstance(row, Gap):
            print(f"{row.what}: {row.reason}")


def as_json(row: Row) -> dict[str, object]:
    if isinstance(row, Gap):
        return {"what": row.what, "failed": row.failed, "reason": row.reason}
    if isinstance(row, Reading):
        unit = row.limit.unit.value[0]
        return {"what": row.limit.what, "unit": unit, "runs": {OURS: list(row.runs)}}
    unit = row.comparison.unit.value[0]
    runs = {side: list(numbers) for side, numbers in row.runs.items()}
    return {"what": row.comparison.what, "unit": unit, "runs": runs, "ratio": row.ratio}


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="turntable_bench", description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(MEASUREMENTS))
    parser.add_argument("--rounds", type=int, default=5, help="alternating runs of both sides")
    parser.add_argument(
        "--build", type=Path, default=REPOSITORY / "build", help="build directory (default: build)"
    )
    parser.add_argument(
        "--program",
        default="nocache",
        help="P4 program of the switch; static_forwarder: no tables at all",
    )
    parser.add_argument("--json", type=Path, help="write all numbers there too")
    options = parser.parse_args(arguments)
    unknown = sorted(set(options.names) - set(MEASUREMENTS))
    if unknown:
        parser.error(f"unknown: {', '.join(unknown)}; expected some of {', '.join(MEASUREMENTS)}")
    if options.rounds < 1:
        parser.error(f"--rounds is {options.rounds}; expected at least 1")
    if not (options.build / "bin" / "softswitch").exists():
        parser.error(f"no programs in {options.build}/bin; run `make build` or give --build")
    return options


if __name__ == "__main__":
    sys.exit(main())
