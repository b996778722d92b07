"""The README's way for another user than root: Debian's own PATH, sudo, a checkout in their home.

What root does for that user there is to leave nothing that is root's.
"""

from __future__ import annotations

import csv
import os
import pwd
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from turntable_testbed import fingerprint

from .conftest import BUILD, REPOSITORY, require_root_and_programs

# The user and their rights are the machine's own: no test may compare its files meanwhile.
pytestmark = pytest.mark.e2e

# Of a user on Debian 12: no sbin, for sudo to hand on.
PATH = "/usr/local/bin:/usr/bin:/bin:/usr/local/games:/usr/games"
NAME = f"turntable-{os.getpid() % 100000:05d}"
TESTBED_ID = f"u{os.getpid() % 100000:05d}"
NETWORK = 128 + os.getpid() % 64
DEADLINE_S = 900


@dataclass(frozen=True)
class User:
    name: str
    home: Path

    @property
    def checkout(self) -> Path:
        return self.home / "turntable"

    def call(self, *command: str) -> subprocess.CompletedProcess[str]:
        """In the checkout, as after a login."""
        entry = pwd.getpwnam(self.name)
        environment = {"HOME": str(self.home), "USER": self.name, "LOGNAME": self.name}
        return subprocess.run(
            command,
            cwd=self.checkout,
            env=environment | {"PATH": PATH, "SHELL": "/bin/bash", "LC_ALL": "C.UTF-8"},
            user=entry.pw_uid,
            group=entry.pw_gid,
            extra_groups=[],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=DEADLINE_S,
            check=False,
        )

    def not_theirs(self) -> list[str]:
        """Everything below their home that belongs to somebody else."""
        command = ["find", self.home, "-xdev", "!", "-user", self.name]
        return subprocess.run(
            command, stdout=subprocess.PIPE, text=True, check=True
        ).stdout.splitlines()


@pytest.fixture(scope="module")
def user() -> Iterator[User]:
    """Who may do everything with sudo; gone afterwards, with the home."""
    require_root_and_programs()
    if not shutil.which("sudo"):
        pytest.skip("there is no sudo: `make setup` installs it")
    home = Path(tempfile.mkdtemp(prefix=f"{NAME}-", dir="/var/tmp"))  # others' /tmp may be closed
    rights = Path("/etc/sudoers.d") / NAME
    try:
        subprocess.run(["useradd", "--no-log-init", "--home-dir", home, NAME], check=True)
        rights.touch(mode=0o440)
        rights.write_text(f"{NAME} ALL=(ALL) NOPASSWD: ALL\n")
        clone(home / "turntable")
        subprocess.run(["chown", "--recursive", f"{NAME}:", home], check=True)
        home.chmod(0o755)
        yield User(NAME, home)
    finally:
        rights.unlink(missing_ok=True)
        subprocess.run(["userdel", NAME], check=False)
        shutil.rmtree(home)


def clone(checkout: Path) -> None:
    """With what is not committed yet, with a testbed of its own, and with programs built before."""
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", REPOSITORY, checkout], check=True)
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    for name in names.stdout.splitlines():
        (checkout / name).unlink(missing_ok=True)
        if (REPOSITORY / name).exists():
            (checkout / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(REPOSITORY / name, checkout / name, follow_symlinks=False)
    settings = checkout / "inventories/embedded/group_vars/all/testbed.yml"
    text = settings.read_text().replace(
        "turntable_testbed_id: tt", f"turntable_testbed_id: {TESTBED_ID}"
    )
    settings.write_text(re.sub(r"198\.(18|19)\.0\.0/24", rf"198.\1.{NETWORK}.0/24", text))
    (checkout / "build").symlink_to(BUILD)


@pytest.fixture(scope="module")
def environment(user: User) -> User:
    """The user, after `make setup`."""
    done = user.call("make", "setup")
    assert done.returncode == 0, done.stdout
    return user


def test_setup_takes_the_distributions_python(environment: User) -> None:
    settings = (environment.checkout / ".venv/pyvenv.cfg").read_text()
    assert "home = /usr/bin\n" in settings
    assert environment.not_theirs() == []


def test_programs_of_root_are_found(environment: User) -> None:
    """Live switches use sysctl and ethtool; sudo gets the PATH as the Makefile hands it on."""
    test = "tests/packet/test_trace.py::test_frame_that_a_link_loses"
    done = environment.call("sudo", "env", f"PATH={PATH}", ".venv/bin/pytest", "-q", "-x", test)
    assert done.returncode == 0, done.stdout
    assert " skipped" not in done.stdout
    assert environment.not_theirs() == []


def test_a_small_run_belongs_to_the_user(environment: User) -> None:
    before = fingerprint.take(TESTBED_ID)
    up = environment.call("make", "testbed-up")
    try:
        assert up.returncode == 0, up.stdout
        # Whether it is valid, which decides on the status, is not asked here.
        done = environment.call("make", "run", "PROFILE=smoke")
        run = (environment.checkout / "results/latest").resolve()
        with (run / "summary.csv").open(newline="") as lines:
            (row,) = csv.DictReader(lines)
        assert row["iterations_ok"] == row["servers"], done.stdout
        assert environment.not_theirs() == []

        # As root, without make: continued, with a directory that root itself left behind.
        shutil.chown(run / "raw", "root", "root")
        playbook = "playbooks/farreach/exp01_throughput.yml"
        again = environment.call(
            "sudo", ".venv/bin/ansible-playbook", playbook, "-eprofile=smoke", f"-erun={run.name}",
            "-efail_on_invalid=false",
        )  # fmt: skip
        assert again.returncode == 0, again.stdout
        assert environment.not_theirs() == []
    finally:
        down = environment.call(
            "sudo", ".venv/bin/ansible-playbook", "playbooks/testbed_down.yml", "-epurge=true"
        )
    assert down.returncode == 0, down.stdout
    assert environment.not_theirs() == []
    assert fingerprint.take(TESTBED_ID) == before
