"""The command that shows simulations beside the published slowdowns."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest
from hdrh.histogram import HdrHistogram

from turntable_systems.homa import published


def recorded(*values: int) -> str:
    histogram = HdrHistogram(1, 100_000_000, 3)
    for value in values:
        histogram.record_value(value)
    return histogram.encode().decode()


@pytest.fixture
def build(tmp_path: Path) -> Path:
    """A homa-sim whose every message has a slowdown of 4 and takes 20 us, and that counts calls."""
    answer = {
        "cpu_s": 1,
        "packets_sent_again": 0,
        "percentiles": [{"rtt_ns": recorded(20_000), "slowdown_1000": recorded(4_000)}] * 100,
    }
    (tmp_path / "answer.json").write_text(json.dumps(answer))
    program = tmp_path / "bin" / "homa-sim"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\necho call >> {tmp_path}/calls\ncat {tmp_path}/answer.json\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return tmp_path


def show(build: Path, *arguments: str) -> int:
    kept = ["--build", str(build), "--kept", str(build / "kept")]
    return published.main([*kept, *arguments])


def calls(build: Path) -> int:
    return len((build / "calls").read_text().splitlines())


def test_both_data_sets_are_beside(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert show(build, "--only", "W3", "--load", "0.8") == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    # Published are 3.4, and 3.3 in 2019: 4 is 18 % and 21 % above.
    expected = "W3 80% homa-p8 5 % 20.0 4.00 3.4 +18% 3.3 +21% 0"
    assert expected.split() in lines
    assert len(lines) == 1 + 5 * 5


def test_finished_simulations_are_not_made_again(build: Path) -> None:
    for _ in range(2):
        assert show(build, "--only", "W2") == 0
    assert calls(build) == 5
    show(build, "--only", "W2", "--seconds", "0.01")
    assert calls(build) == 10


def test_a_simulation_that_fails_is_named(build: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (build / "bin" / "homa-sim").write_text("#!/bin/sh\necho no sizes >&2\nexit 1\n")
    assert show(build, "--only", "W2") == 1
    assert "ended with 1: no sizes" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--seconds", "0"], "--seconds is 0.0; expected more than 0"),
        (["--only", "W9"], "invalid choice: 'W9'"),
        (["--build", "/nowhere"], "no homa-sim in /nowhere/bin"),
    ],
)
def test_refusals(
    build: Path, arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        show(build, *arguments)
    assert message in capsys.readouterr().err
