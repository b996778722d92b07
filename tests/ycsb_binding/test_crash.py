"""The switch is killed while YCSB runs: what was acknowledged comes back from the binding's copies,
through the controller, as from kvclient's (tests/crash/test_recovery.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from tests.crash.history import compare, judge, operations
from tests.crash.rack import CONTROLLER, SOFTSWITCH, Rack, eventually, replayed
from tests.crash.read_back import read_back
from turntable_systems.farreach import hosts
from turntable_systems.farreach.placement import FIRST_PORT

from .conftest import CACHED, RECORDS
from .ycsb import ONE_FIELD, WORKLOAD_A, Ycsb

Start = Callable[..., tuple[Rack, Ycsb]]

# Random values, whose first bytes tell them apart.
ENDLESS = WORKLOAD_A | ONE_FIELD | {"recordcount": RECORDS, "operationcount": 10_000_000}
RUN_S = 12
REQUESTS = 1_000


def test_what_was_acknowledged_survives_the_switch(start_ycsb: Start, tmp_path: Path) -> None:
    rack, ycsb = start_ycsb("farreach")
    histories = tmp_path / "histories"
    # Inserts that only the switch has end with the process, so a snapshot comes first.
    ycsb.run("-load", **ENDLESS, kv_history=histories / "load")
    rack.call(CONTROLLER, "snapshot")
    running = ycsb.begin("-t", **ENDLESS, maxexecutiontime=RUN_S, kv_history=histories / "run")
    _await_requests(rack)
    rack.kill(SOFTSWITCH)
    recovered = rack.recover(SOFTSWITCH)
    ran = ycsb.end(running)
    assert recovered["restored"] == CACHED
    assert replayed(recovered) > 0, recovered
    assert ran.count("RETRY", "TIMEOUT") > 0  # it has met the gap, ...
    assert ran.count("READ", "SERVICE_UNAVAILABLE") == 0  # ... and gone on
    assert ran.count("UPDATE", "SERVICE_UNAVAILABLE") == 0
    whole = _whole_history(histories, tmp_path / "whole.ndjson")
    client = hosts.clients(rack.testbed)[0]
    keys = sorted({operation["key"] for operation in operations(whole)})
    assert len(keys) == RECORDS
    read, server = tmp_path / "read.ndjson", hosts.servers(rack.testbed)[0].address
    read_back(rack.network.namespace(client.name), (server, FIRST_PORT), keys, read)
    acknowledged = compare(whole, read)
    assert acknowledged.writes >= RECORDS + ran.count("UPDATE")
    assert acknowledged.lost == []
    verdict = judge(rack.build_dir, whole, read)
    assert verdict.violations == [], verdict.text


def test_a_snapshot_releases_copies(start_ycsb: Start) -> None:
    """A process that ends waits for the snapshot that makes its copies needless."""
    _, ycsb = start_ycsb("farreach", snapshot_period_s=0.5)
    loaded = ycsb.run("-load", **ENDLESS, kv_release_s=30)
    assert loaded.total("switch_ops") >= CACHED
    assert "no snapshot has released" not in loaded.text
    assert loaded.statistics["copies"] == {"kept": 0, "dropped": 0}
    assert loaded.statistics["controller"]["lists"] > 0


def test_copies_that_no_snapshot_releases_are_told(start_ycsb: Start) -> None:
    _, ycsb = start_ycsb("farreach")
    loaded = ycsb.run("-load", **ENDLESS)
    kept = re.search(r"ends with (\d+) copies that no snapshot has released", loaded.text)
    assert kept is not None, loaded.text
    assert int(kept.group(1)) == loaded.statistics["copies"]["kept"] == CACHED


def _await_requests(rack: Rack) -> None:
    """Until YCSB runs."""
    before = sum(rack.outcomes())
    eventually(lambda: sum(rack.outcomes()) > before + REQUESTS, "requests of YCSB", 60)


def _whole_history(histories: Path, file: Path) -> Path:
    """Of both phases, one file."""
    parts = sorted(histories.glob("*/*.ndjson"))
    lines = [line for part in parts for line in part.read_text().splitlines()[1:]]
    file.write_text("\n".join(['{"history":1}', *lines]) + "\n")
    return file
