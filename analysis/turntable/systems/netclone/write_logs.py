"""Writes a run's latencies as logs of NetClone's artifact (turntable.systems.netclone.logs).

python -m turntable.systems.netclone.write_logs RUN_DIRECTORY

Of runs with `-e record_latencies=true`, whose clients have kept every latency of the window. Times
and rates are undilated, so that a log says what its name does.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from turntable.load import load_run
from turntable.results import TurnResult
from turntable.systems.netclone import logs
from turntable_core.errors import TurntableError
from turntable_systems.netclone import offered_load


def write_logs(directory: Path) -> list[Path]:
    """The files, of all turns that were measured."""
    run = load_run(directory)
    written = [file for turn in run.turns for file in _of_turn(directory, turn)]
    if not written:
        raise TurntableError(
            f"{directory}: no latencies; expected a run that was begun with "
            "-e record_latencies=true"
        )
    return written


def _of_turn(directory: Path, turn: TurnResult) -> Iterator[Path]:
    name = f"{turn.turn.cell.id}-r{turn.round}"
    parameters, dilation = turn.parameters, turn.parameters["dilation"]
    total_s = sum(measurement.seconds for measurement in turn.measurements) / dilation
    for source in sorted((directory / "latencies" / name).glob("*.i64")):
        client = int(source.stem.rpartition("-")[2])
        if client >= parameters["clients"]:  # of an earlier run that had more of them
            continue
        target = directory / "logs" / name
        target.mkdir(parents=True, exist_ok=True)
        microseconds = [ns / 1000 / dilation for ns in read_latencies(source)]
        yield logs.write(target, log_name(parameters, client, total_s), microseconds, total_s)


def log_name(parameters: Mapping[str, Any], client: int, total_s: float) -> logs.Name:
    """client: its index."""
    distribution = parameters["distribution"]
    if distribution not in logs.DISTRIBUTIONS:
        expected = ", ".join(logs.DISTRIBUTIONS)
        raise TurntableError(
            f"distribution {distribution}: the artifact's logs know {expected} by number, no other"
        )
    return logs.Name(
        protocol=logs.PROTOCOLS[parameters["method"]],
        client=client + 1,
        thread=0,
        servers=parameters["servers"],
        server_workers=parameters["workers"],
        client_workers=1,
        distribution=logs.DISTRIBUTIONS.index(distribution),
        seconds=max(1, round(total_s)),
        target_rps=round(offered_load.offered_rps(parameters) / parameters["clients"]),
    )


def read_latencies(file: Path) -> list[int]:
    """ns on the testbed's clock, in the order of the answers."""
    data = file.read_bytes()
    return [value for (value,) in struct.iter_unpack("<q", data)]


def main() -> int:
    try:
        for file in write_logs(Path(sys.argv[1])):
            print(file)
    except (TurntableError, IndexError) as error:
        print(error if isinstance(error, TurntableError) else __doc__, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
