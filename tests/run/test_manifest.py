"""What a run was made with: also what lies outside of the repository."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from turntable_core import manifest
from turntable_core.testbed import read_testbed

from .testbeds import GROUPS, hostvars


def test_programs_of_further_systems_are_digested(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository, further = tmp_path / "repository", tmp_path / "further"
    for directory in (repository, further):
        program = directory / "p4" / "own" / "own.p4"
        program.parent.mkdir(parents=True)
        program.write_text(f"// of {directory.name}")
    monkeypatch.setattr(manifest, "FURTHER", [further])
    experiment = repository / "tiny.yml"
    experiment.write_text("")
    testbed = read_testbed(hostvars(), GROUPS)
    made = manifest.make_manifest(repository, tmp_path, testbed, {}, experiment, {}, [])
    assert made["p4_sources"] == {
        "p4/own/own.p4": hashlib.sha256(b"// of repository").hexdigest(),
        f"{further}/p4/own/own.p4": hashlib.sha256(b"// of further").hexdigest(),
    }
