"""Experiment 10 by its playbook: it measures nothing, and needs no testbed."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from .conftest import playbook, require_root_and_programs

pytestmark = pytest.mark.e2e


def test_resources_are_counted_without_a_testbed(tmp_path: Path) -> None:
    require_root_and_programs()
    done = playbook("farreach/exp10_resources", tmp_path, profile="smoke", run="one")
    assert done.status == 0, done.output
    directory = tmp_path / "farreach_exp10_resources" / "one"
    with (directory / "summary.csv").open(newline="", encoding="utf-8") as lines:
        rows = {row["method"]: row for row in csv.DictReader(lines)}
    # docs/kvcache.md, section 4: 32 value registers, four rows of the sketch, six of states.
    assert (rows["farreach"]["registers"], rows["nocache"]["registers"]) == ("42", "0")
    assert "42,729,472" in (directory / "report.html").read_text()
    assert "artifact" in done.output


def test_a_compiler_that_is_not_there_is_named(tmp_path: Path) -> None:
    require_root_and_programs()
    done = playbook("farreach/exp10_resources", tmp_path, p4c="/no/p4c")
    assert done.status != 0
    assert "no program '/no/p4c'" in done.output
    assert not list(tmp_path.glob("*/*/summary.csv"))
