"""The log bundle: what a host's shell prints comes back whole, and a bundle stays small."""

from __future__ import annotations

import json
import subprocess
import tarfile
from pathlib import Path

import pytest

from turntable_core import log_bundle
from turntable_core.connections import Outcome
from turntable_core.host_probe import Look, parse, script
from turntable_core.run_directory import RunDirectory
from turntable_core.testbed import Host


@pytest.fixture
def run(tmp_path: Path) -> RunDirectory:
    directory = tmp_path / "night"
    directory.mkdir()
    (directory / "manifest.json").write_text("{}")
    (directory / "journal.ndjson").write_text('{"attempt": 1}\n')
    return RunDirectory(directory)


def shell(text: str) -> bytes:
    return subprocess.run(["/bin/sh", "-c", text], capture_output=True, check=True).stdout


def content(bundle: Path) -> dict[str, bytes]:
    with tarfile.open(bundle) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def test_outputs_keep_their_bytes_and_their_bounds() -> None:
    looks = [
        Look("odd name", r"printf '@no heading\n\000\377'"),
        Look("end", "seq 1000", 9),
        Look("fails", "echo to stdout; echo to stderr >&2; exit 3"),
        Look("missing", "no-such-program"),
    ]
    seen = parse(shell(script(looks)))
    assert seen["odd name"] == b"@no heading\n\0\xff"
    assert seen["end"] == b"999\n1000\n"
    assert seen["fails"] == b"to stdout\nto stderr\n"
    assert b"not found" in seen["missing"]


def test_output_cut_off_keeps_what_came_before() -> None:
    whole = shell(script([Look("a", "echo first"), Look("b", "seq 100000")]))
    assert parse(whole[: len(whole) - 1000])["a"] == b"first\n"


def test_a_host_without_nodes_still_tells_its_logs(tmp_path: Path) -> None:
    (tmp_path / "kvserver.log").write_bytes(b"x" * 100_000 + b"the end")
    host = Host("server0", "/no/bin", str(tmp_path), str(tmp_path), 0)
    seen = parse(shell(log_bundle.script_for(host)))
    assert len(seen["kvserver.log"]) == 64 * 1024
    assert seen["kvserver.log"].endswith(b"the end")
    assert b"Filesystem" in seen["disks.txt"]


def test_a_host_that_cannot_be_reached_is_described_by_why(run: RunDirectory) -> None:
    outcomes = {
        "near": Outcome("near", 0, shell(script([Look("a.txt", "echo here")]))),
        "far": Outcome("far", None, failure="unreachable", message="No route to host"),
    }
    files = content(log_bundle.write(run, "cell-r0-i1-a1", "node lost", outcomes))
    assert files["night/cell-r0-i1-a1/near/a.txt"] == b"here\n"
    assert b"No route to host" in files["night/cell-r0-i1-a1/far/NOT-REACHED.txt"]
    assert b"node lost" in files["night/cell-r0-i1-a1/failure.txt"]
    assert json.loads(files["night/cell-r0-i1-a1/journal.ndjson"]) == {"attempt": 1}
    assert files["night/manifest.json"] == b"{}"


def test_the_first_failure_and_the_latest_are_kept(run: RunDirectory) -> None:
    for number in range(20):
        path = log_bundle.write(run, f"failure{number}", "why", {})
    kept = {name.split("/")[1] for name in content(path)} - {"manifest.json"}
    assert kept == {"failure0", *(f"failure{number}" for number in range(13, 20))}


def test_a_damaged_bundle_is_replaced(run: RunDirectory) -> None:
    run.logs_file.write_bytes(b"\x1f\x8btorn")
    assert "night/again/failure.txt" in content(log_bundle.write(run, "again", "why", {}))
