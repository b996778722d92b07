"""hlload beside a server whose device is full: that is no success."""

from __future__ import annotations

import json
import resource
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

PROGRAMS = Path(__file__).resolve().parents[2] / "build" / "bin"
LARGEST_FILE = 1 << 20  # bytes: as large as a page


def with_small_files() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (LARGEST_FILE, LARGEST_FILE))


@pytest.fixture
def port(tmp_path: Path) -> Iterator[str]:
    command = [
        *(PROGRAMS / "hlserver", "--base-port", "0", "--file", tmp_path / "log"),
        *("--page-bits", "20", "--log-mb", "4", "--index-bits", "10"),
    ]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, preexec_fn=with_small_files
    ) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.terminate()


def test_operations_that_fail_are_said_and_no_success(port: str) -> None:
    done = subprocess.run(
        [
            *(PROGRAMS / "hlload", "--base-port", port, "--workers", "1", "--threads", "1"),
            *("--keys", "1000000", "--upserts", "1", "--reads", "0", "--warmup", "0"),
            *("--seconds", "2", "--batch", "100"),
        ],
        capture_output=True,
        text=True,
        timeout=60,
    )
    failed = json.loads(done.stdout)["errors"]["failed"]
    assert failed > 0
    assert f"hlload: {failed} operations failed: the store's device is full" in done.stderr
    assert done.returncode == 1
