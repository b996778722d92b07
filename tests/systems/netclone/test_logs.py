"""Logs in the artifact's names and format."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from turntable.systems.netclone import logs
from turntable.systems.netclone.write_logs import write_logs
from turntable_core.errors import TurntableError

from .made_run import make_run

# The name of the only log that the artifact ships.
SHIPPED = "log-3-1-0-2-15-1-0-5-2000.txt"
NAME = logs.Name(3, 1, 0, 2, 15, 1, 0, 5, 2000)


def test_the_shipped_name_is_read_and_written() -> None:
    assert logs.parse_name(SHIPPED) == NAME
    assert str(NAME) == SHIPPED


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = logs.write(tmp_path, NAME, [56.4, 117, 2768], 10.11)
    assert file.read_text().splitlines() == ["56", "117", "2768", "10.110000"]
    assert logs.read(file) == logs.Log(NAME, (56, 117, 2768), 10.11)


def test_the_last_line_is_no_latency(tmp_path: Path) -> None:
    file = tmp_path / SHIPPED
    file.write_text("50\n60\n10.117923\n")
    log = logs.read(file)
    assert (log.latencies_us, log.total_s) == ((50, 60), 10.117923)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        (SHIPPED, "", "empty"),
        (SHIPPED, "50\nabc\n10.1\n", "expected a whole number of us per line"),
        ("log-3-1.txt", "50\n1.0\n", "nine numbers joined with -"),
    ],
)
def test_what_is_no_log_is_named(tmp_path: Path, name: str, text: str, says: str) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(TurntableError, match=says):
        logs.read(file)


def test_a_run_with_every_latency_is_written_as_logs(tmp_path: Path) -> None:
    run = make_run(tmp_path, "minimal", method=["netclone"])
    (turn,) = json.loads((run / "plan.json").read_text())["turns"]
    kept = run / "latencies" / f"{turn['cell']}-r0"
    kept.mkdir(parents=True)
    # 10.5 ms and 21 ms of the testbed are 100 and 200 us.
    (kept / "rpcclient-latencies-0.i64").write_bytes(struct.pack("<qq", 10_500_000, 21_000_000))
    (kept / "rpcclient-latencies-1.i64").write_bytes(b"")  # of a run with two clients
    (file,) = write_logs(run)
    # NetClone, client 1, thread 0, 2 servers of 1 worker, exp25, 20,000 requests/s.
    assert file.name == "log-3-1-0-2-1-1-0-1-20000.txt"
    log = logs.read(file)
    assert log.latencies_us == (100, 200)
    assert log.total_s == pytest.approx(2 / 105, abs=1e-6)


def test_a_run_without_latencies_says_how_to_get_them(tmp_path: Path) -> None:
    with pytest.raises(TurntableError, match="-e record_latencies=true"):
        write_logs(make_run(tmp_path, "minimal"))
