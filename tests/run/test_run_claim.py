"""A run directory has one playbook at a time."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core.errors import TurntableError
from turntable_core.ownership import run_claim, run_secret
from turntable_core.ownership.owner import Owner, new_owner


@pytest.fixture
def playbook() -> Iterator[subprocess.Popen]:
    """Another process of this machine."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.wait()


def owner(pid: int) -> Owner:
    return replace(new_owner("r1", "tiny"), pid=pid, since_ns=time.time_ns())


def test_run_of_a_living_playbook_is_refused(tmp_path: Path, playbook: subprocess.Popen) -> None:
    run_claim.claim(tmp_path, owner(playbook.pid))
    mine = owner(os.getpid())
    with pytest.raises(TurntableError, match=rf"being continued by .*playbook {playbook.pid} on"):
        run_claim.claim(tmp_path, mine)
    playbook.kill()
    playbook.wait()
    run_claim.claim(tmp_path, mine)
    assert run_claim.owner_of(tmp_path) == mine
    run_claim.drop(tmp_path)
    assert run_claim.owner_of(tmp_path) is None


def test_number_that_went_to_another_process_is_no_owner(
    tmp_path: Path, playbook: subprocess.Popen
) -> None:
    hour_ns = 3600 * 10**9
    run_claim.claim(tmp_path, replace(owner(playbook.pid), since_ns=time.time_ns() - hour_ns))
    run_claim.claim(tmp_path, owner(os.getpid()))


def test_of_another_controller_nothing_is_known(tmp_path: Path) -> None:
    run_claim.claim(tmp_path, replace(owner(2**22 + 1), controller="lab2"))
    with pytest.raises(TurntableError, match=r"on lab2.*remove .*owner\.json"):
        run_claim.claim(tmp_path, owner(os.getpid()))


def test_each_playbook_has_a_secret_of_its_own_that_only_its_user_reads(
    tmp_path: Path, playbook: subprocess.Popen
) -> None:
    umask = os.umask(0)
    try:
        run_claim.claim(tmp_path, owner(playbook.pid))
    finally:
        os.umask(umask)
    first = run_secret.of(tmp_path)
    assert len(bytes.fromhex(first)) == 32
    assert (tmp_path / "secret").stat().st_mode & 0o777 == 0o600
    playbook.kill()
    playbook.wait()
    mine = owner(os.getpid())
    run_claim.claim(tmp_path, mine)
    second = run_secret.of(tmp_path)
    assert second != first
    run_claim.claim(tmp_path, mine)
    assert run_secret.of(tmp_path) == second, "its nodes have it already"
    run_claim.drop(tmp_path)
    assert run_secret.of(tmp_path) is None


def test_what_a_killed_playbook_left_is_removed_and_a_living_ones_is_not(
    tmp_path: Path, playbook: subprocess.Popen
) -> None:
    dead, living, far = (tmp_path / "tiny" / name for name in ("dead", "living", "far"))
    for run in (dead, living, far):
        run.mkdir(parents=True)
    run_claim.claim(dead, owner(2**22 + 1))
    run_claim.claim(living, owner(playbook.pid))
    run_claim.claim(far, replace(owner(2**22 + 1), controller="lab2"))
    run_claim.sweep(tmp_path)
    assert list(dead.iterdir()) == []
    for run in (living, far):
        assert {path.name for path in run.iterdir()} == {"owner.json", "secret"}


def test_only_the_playbooks_own_claim_ends_with_it(
    tmp_path: Path, playbook: subprocess.Popen
) -> None:
    run_claim.claim(tmp_path, owner(playbook.pid))
    assert not run_claim.drop_own(tmp_path)
    assert run_claim.owner_of(tmp_path) is not None
    run_claim.drop(tmp_path)
    run_claim.claim(tmp_path, owner(os.getpid()))
    assert run_claim.drop_own(tmp_path)
    assert list(tmp_path.iterdir()) == []
