"""A run that a playbook is still measuring, analysed meanwhile."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import pytest

from turntable.analyze import rebuild
from turntable_core.errors import TurntableError
from turntable_core.ownership import run_claim
from turntable_core.ownership.owner import new_owner

from . import recordings


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """Of four iterations the last two are still to come."""
    run = recordings.copy_run(tmp_path)
    for iteration in (2, 3):
        recordings.drop_attempt(run, iteration)
    return run


def test_the_first_line_says_who_measures_it(run: Path) -> None:
    owner = replace(new_owner(run.name, "tiny"), pid=os.getpid())
    run_claim.claim(run, owner)
    first = rebuild(run).splitlines()[0]
    assert first == (
        f"{run} is still being measured by pid {os.getpid()} on {owner.controller}: "
        "2 of 4 iterations so far"
    )
    recordings.write_journal(run, [])
    with pytest.raises(TurntableError, match=f"still being measured by pid {os.getpid()}"):
        rebuild(run)


def test_of_a_playbook_that_was_killed_it_is_not_said(run: Path) -> None:
    run_claim.claim(run, replace(new_owner(run.name, "tiny"), pid=2**22 + 1))
    assert "still being measured" not in rebuild(run)
