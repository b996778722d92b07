"""Logs in the artifact's names and format."""

from __future__ import annotations

from pathlib import Path

import pytest

from turntable.systems.netclone import logs
from turntable_core.errors import TurntableError

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
