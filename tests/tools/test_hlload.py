"""hlload beside a server whose device is full: that is no success."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from .test_programs import BIN

# No file is larger than a page of the log, 1 MiB.
WITH_SMALL_FILES = ("bash", "-c", "trap '' XFSZ; ulimit -f 1024; exec \"$@\"", "limited")


@pytest.fixture
def port(tmp_path: Path) -> Iterator[str]:
    command = [
        *WITH_SMALL_FILES,
        *(BIN / "hlserver", "--base-port", "0", "--file", tmp_path / "log"),
        *("--page-bits", "20", "--log-mb", "4", "--index-bits", "10"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
        server.terminate()


def test_operations_that_fail_are_said_and_no_success(port: str) -> None:
    command = [
        *(BIN / "hlload", "--base-port", port, "--workers", "1", "--threads", "1"),
        *("--keys", "1000000", "--upserts", "1", "--reads", "0", "--warmup", "0"),
        *("--seconds", "2", "--batch", "100"),
    ]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    failed = json.loads(done.stdout)["errors"]["failed"]
    assert failed > 0
    assert f"hlload: {failed} operations failed: the store's device is full" in done.stderr
    assert done.returncode == 1
