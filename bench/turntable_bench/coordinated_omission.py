"""One service measured in an open loop and the way of closed-loop generators, as CSV for a figure.

    .venv/bin/python -m turntable_bench.coordinated_omission --output FILE.csv

The service is a single queue; one service in 500 takes 100 ms, the others 0.7 ms. The same
requests are measured from their intended instants, and from their sends with one request per
connection, as mutilate does.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
from pathlib import Path
from typing import Any

from .known_delays import delay_line, mcload
from .processes import run_directory
from .settings import REPOSITORY, Settings

RATES_PER_S = (100, 200, 300, 400, 500, 600, 650, 700, 750)
CONNECTIONS, SECONDS = 4, 10
SERVICES_US = "bimodal:700,100000,0.002"  # 0.9 ms on average
FIELDS = ("rate_per_s", "way", "achieved_per_s", "p50_us", "p99_us", "p999_us", "mean_us")
WAYS = {"open loop, from the intended instant": "latency_us", "from the send": "from_send_us"}


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="coordinated_omission", description=__doc__)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--build", type=Path, default=REPOSITORY / "build")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="per rate")
    options = parser.parse_args(arguments)
    rows = measure(Settings(options.build.resolve(), 1, ""), options.seconds)
    with options.output.open("w", newline="") as file:
        writer = csv.DictWriter(file, FIELDS)
        writer.writeheader()
        writer.writerows(rows)
    return 0


def measure(settings: Settings, seconds: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    with run_directory() as directory:
        words = ["--delay-us", SERVICES_US, "--fifo", "--hits-always", "--realtime"]
        with delay_line(settings, words, directory / "log.json") as server:
            result = directory / "result.json"
            for rate in RATES_PER_S:
                load = ["-q", str(rate), "-t", str(seconds), "-c", str(CONNECTIONS), "-d", "1"]
                own = ["--noload", "--drain", "3", "--realtime", "--json", str(result)]
                mcload(settings, server, [*load, *own])
                measured = json.loads(result.read_text())
                rows += [_row(rate, way, measured, name) for way, name in WAYS.items()]
    return rows


def _row(rate: float, way: str, measured: dict[str, Any], name: str) -> dict[str, Any]:
    latencies = measured[name]
    percentiles = {f"{p}_us": latencies[p] for p in ("p50", "p99", "p999", "mean")}
    achieved = measured["achieved_per_s"]
    return {"rate_per_s": rate, "way": way, "achieved_per_s": achieved, **percentiles}


if __name__ == "__main__":
    sys.exit(main())
