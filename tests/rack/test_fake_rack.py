"""docs/rack.md without a switch, as it stands there: over ssh, on the inventory fake-rack."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from .conftest import REPOSITORY
from .fake.make import make

RUN = Path("/run/turntable/tr")


def playbook(name: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "ansible-playbook"
    command = [program, "-i", "inventories/fake-rack", f"playbooks/{name}.yml", *options]
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False
    )


def changed(done: subprocess.CompletedProcess[str], host: str = "switch0") -> int:
    assert done.returncode == 0, done.stdout
    found = re.search(rf"^{host} .*changed=(\d+)", done.stdout, re.MULTILINE)
    assert found, done.stdout
    return int(found.group(1))


@pytest.fixture
def fake_rack() -> Iterator[None]:
    if RUN.exists():
        pytest.skip("the testbed of inventories/fake-rack is up; take it down first")
    try:
        up = playbook("testbed_up")
        assert up.returncode == 0, up.stdout
        make(RUN / "fake")
        yield
    finally:
        playbook("switch_stop")
        down = playbook("testbed_down", "-e", "purge=true")
    assert down.returncode == 0, down.stdout


def bfrt_is_reached_from_the_control_network() -> bool:
    """From the controller's own address: it has no authentication, so ssh is the way."""
    command = ["nsenter", "--net=/run/netns/tr-ctl", "nc", "-z", "-w", "5", "198.19.7.2", "50052"]
    return subprocess.run(command, check=False).returncode == 0


@pytest.mark.usefixtures("fake_rack")
def test_switch_is_set_up_over_ssh_and_stays_so() -> None:
    assert changed(playbook("switch", "-e", "program=farreach", "--check")) >= 3
    assert changed(playbook("switch", "-e", "program=farreach")) == 3
    assert changed(playbook("switch", "-e", "program=farreach")) == 0
    assert not bfrt_is_reached_from_the_control_network()
    assert changed(playbook("switch", "-e", "program=netclone", "--check")) == 3
    assert changed(playbook("switch_stop")) == 1
    assert changed(playbook("switch_stop")) == 0
