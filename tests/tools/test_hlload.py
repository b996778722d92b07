"""hlload beside a server whose device is full, or that is killed: that is no success."""

from __future__ import annotations

import contextlib
import json
import subprocess
import time
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
    def hlload(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [BIN / "hlload", "--base-port", port, "--keys", "1000000", *arguments]
        return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)

    # However slow the machine is: the load finds a device that is full.
    filled = hlload("--fill-only")
    assert "its log's device is full" in filled.stderr
    assert filled.returncode == 1
    done = hlload("--upserts", "1", "--reads", "0", "--warmup", "0", "--seconds", "2")
    failed = json.loads(done.stdout)["errors"]["failed"]
    assert failed > 0
    assert f"hlload: {failed} operations failed: the store's device is full" in done.stderr
    assert done.returncode == 1


def _processor_ticks(pid: int) -> int:
    """utime and stime of proc(5)."""
    after_name = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return int(after_name[11]) + int(after_name[12])


def test_updates_that_a_killed_server_lost_are_counted_and_no_success(tmp_path: Path) -> None:
    """It makes no checkpoint in the time of the test: all that it acknowledged is lost."""
    secret = tmp_path / "secret"
    secret.write_text("s" * 32)
    secret.chmod(0o600)
    with contextlib.ExitStack() as stack:

        def begin(*argv: str | Path, **streams: int) -> subprocess.Popen[str]:
            process = subprocess.Popen([*argv, "--secret", secret], text=True, **streams)
            stack.enter_context(process)
            stack.callback(process.kill)
            return process

        meta = begin(
            *(BIN / "hlmeta", "--port", "0", "--file", tmp_path / "state"), stdout=subprocess.PIPE
        )
        assert meta.stdout is not None
        cluster = ("--metadata", f"127.0.0.1:{meta.stdout.readline().split()[-1]}")
        server = begin(
            *(BIN / "hlserver", "--base-port", "0", "--file", tmp_path / "log", *cluster),
            *("--checkpoint", tmp_path / "checkpoint", "--checkpoint-s", "1000"),
            *("--page-bits", "20", "--log-mb", "4", "--index-bits", "10", "--spin-us", "0"),
            stdout=subprocess.PIPE,
        )
        assert server.stdout is not None
        assert server.stdout.readline().startswith("ready")
        load = begin(
            *(BIN / "hlload", *cluster, "--keys", "1000", "--batch", "100"),
            *("--warmup", "0", "--seconds", "5", "--drain", "0.1"),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        before = _processor_ticks(server.pid)
        deadline = time.monotonic() + 60
        while _processor_ticks(server.pid) < before + 10:  # additions
            assert time.monotonic() < deadline
            time.sleep(0.01)  # waits: interval of a probe with a deadline
        server.kill()
        said, why = load.communicate(timeout=60)
    raw = json.loads(said)
    lost = raw["errors"]["unreplayed"]
    assert lost == raw["adds_acknowledged_total"] > 0
    assert f"hlload: {lost} acknowledged updates could not be sent again" in why
    assert load.returncode == 1
