"""Files that root makes for a user who called sudo are the user's."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from turntable_core import caller, files, journal
from turntable_core.journal import OK, Attempt

REPOSITORY = Path(__file__).resolve().parents[2]
USER, GROUP = 4242, 4343

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="gives files away: needs root")


@pytest.fixture(autouse=True)
def sudo(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As sudo has it for user 4242, whose checkout it is."""
    monkeypatch.setenv("SUDO_UID", str(USER))
    monkeypatch.setenv("SUDO_GID", str(GROUP))
    repository = tmp_path_factory.mktemp("repository")
    os.chown(repository, USER, GROUP)
    monkeypatch.setattr(caller, "REPOSITORY", repository)
    return repository


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """The user's, with one file that root wrote."""
    path = tmp_path / "checkout"
    (path / "scripts").mkdir(parents=True)
    shutil.copy(REPOSITORY / "scripts/give-back", path / "scripts")
    subprocess.run(["chown", "--recursive", f"{USER}:{GROUP}", path], check=True)
    (path / "build").mkdir()
    (path / "build/program").write_text("")
    (path / "results").symlink_to(tmp_path / "elsewhere")
    return path


def owners(*paths: Path) -> set[tuple[int, int]]:
    return {(path.lstat().st_uid, path.lstat().st_gid) for path in paths}


def test_what_a_run_writes_is_the_callers_at_once(tmp_path: Path) -> None:
    run = tmp_path / "results/experiment/run"
    files.write_once(run / "raw/cell/r0/i0/a1/client0.json", b"{}")
    files.replace(run / "summary.csv", b"")
    attempt = Attempt("cell", 0, 0, 1, OK, began_at_ns=1, ended_at_ns=2)
    journal.append(run / "journal.ndjson", attempt)
    results = tmp_path / "results"
    assert owners(results, *results.rglob("*")) == {(USER, GROUP)}
    assert owners(tmp_path) == {(0, 0)}


def test_a_run_that_root_began_is_given_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = tmp_path / "run"
    with monkeypatch.context() as without_sudo:
        without_sudo.delenv("SUDO_UID")
        files.write_once(run / "raw/cell/client0.json", b"{}")
    assert owners(run, *run.rglob("*")) == {(0, 0)}
    caller.give_tree(run)
    assert owners(run, *run.rglob("*")) == {(USER, GROUP)}


@pytest.mark.parametrize("owner", [0, 77])
def test_in_a_checkout_that_is_not_the_callers_nothing_is_given(
    tmp_path: Path, sudo: Path, owner: int
) -> None:
    os.chown(sudo, owner, owner)  # root of `sudo -i` keeps SUDO_UID
    files.replace(tmp_path / "results/file", b"")
    assert owners(tmp_path / "results", tmp_path / "results/file") == {(0, 0)}


def test_what_goes_away_meanwhile_is_no_error(tmp_path: Path) -> None:
    caller.give(tmp_path / "gone")


def test_what_is_another_users_stays_theirs(tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("")
    os.chown(theirs, 77, 77)
    caller.give(theirs)
    assert owners(theirs) == {(77, 77)}


@pytest.mark.parametrize("user", [None, "0", "nobody"])
def test_root_for_itself_gives_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, user: str | None
) -> None:
    if user is None:
        monkeypatch.delenv("SUDO_UID")
    else:
        monkeypatch.setenv("SUDO_UID", user)
    files.replace(tmp_path / "file", b"")
    assert owners(tmp_path / "file") == {(0, 0)}


def test_the_checkout_is_given_back_and_nothing_beyond_its_links(checkout: Path) -> None:
    outside = checkout.parent / "elsewhere"
    outside.mkdir()
    subprocess.run([checkout / "scripts/give-back"], check=True)
    assert owners(checkout, *checkout.rglob("*")) == {(USER, GROUP)}
    assert owners(outside) == {(0, 0)}


def test_a_checkout_of_roots_stays_roots(checkout: Path) -> None:
    os.chown(checkout, 0, 0)
    subprocess.run([checkout / "scripts/give-back"], check=True)
    assert owners(checkout / "build/program") == {(0, 0)}


def test_targets_of_make_give_back_even_when_they_fail(checkout: Path) -> None:
    shutil.copy(REPOSITORY / "Makefile", checkout)
    (checkout / "scripts/lint").write_text("#!/bin/sh\ntouch .cache\nexit 3\n")
    (checkout / "scripts/lint").chmod(0o755)
    done = subprocess.run(["make", "lint"], cwd=checkout, capture_output=True, check=False)
    assert done.returncode == 2  # make's own, of a recipe that failed
    assert (checkout / ".cache").exists()
    assert owners(*checkout.rglob("*")) == {(USER, GROUP)}
