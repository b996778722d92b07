"""Files of hosts that a run keeps."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from turntable_core import kept_files
from turntable_core.connections import Outcome
from turntable_core.errors import PhaseError
from turntable_core.testbed import Host


def outcome(tmp_path: Path, name: str, pattern: str, **files: bytes) -> Outcome:
    """What a host answers whose run directory has these files."""
    directory = tmp_path / name
    directory.mkdir()
    for file, data in files.items():
        (directory / file).write_bytes(data)
    host = Host(name, "/bin", str(directory), "/state", 0)
    line = kept_files.command_for(host, pattern)
    done = subprocess.run(["sh", "-c", line], capture_output=True, check=False)
    return Outcome(name, done.returncode, done.stdout, done.stderr)


def test_files_of_all_hosts_lie_together(tmp_path: Path) -> None:
    outcomes = {
        "a": outcome(tmp_path, "a", "kept-*", **{"kept-0": b"\x00\xff", "other": b"x"}),
        "b": outcome(tmp_path, "b b", "kept-*", **{"kept-1": b"", "kept-2": b"2"}),
    }
    kept = kept_files.keep(outcomes, tmp_path / "run" / "kept")
    assert {path.name: path.read_bytes() for path in kept} == {
        "kept-0": b"\x00\xff",
        "kept-1": b"",
        "kept-2": b"2",
    }


def test_a_host_without_one_is_named(tmp_path: Path) -> None:
    with pytest.raises(PhaseError, match="host a: no file to keep: tar: "):
        kept_files.keep({"a": outcome(tmp_path, "a", "kept-*", other=b"")}, tmp_path / "run")


def test_a_host_that_cannot_be_reached_is_named(tmp_path: Path) -> None:
    gone = Outcome("a", None, failure="unreachable", message="no route")
    with pytest.raises(PhaseError, match="host a: no file to keep: no route") as caught:
        kept_files.keep({"a": gone}, tmp_path)
    assert caught.value.failure_class == "unreachable"


def test_two_files_of_one_name_are_not_mixed_up(tmp_path: Path) -> None:
    outcomes = {name: outcome(tmp_path, name, "kept", kept=b"") for name in "ab"}
    with pytest.raises(PhaseError, match="host b: kept is another host's file too"):
        kept_files.keep(outcomes, tmp_path / "run")
