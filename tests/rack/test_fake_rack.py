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
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=900, check=False
    )


def changes(done: subprocess.CompletedProcess[str]) -> dict[str, int]:
    """Host -> the number in Ansible's recap."""
    assert done.returncode == 0, done.stdout + done.stderr
    recap = re.findall(r"^(\w+) +: ok=.*changed=(\d+)", done.stdout, re.MULTILINE)
    return {host: int(number) for host, number in recap}


def changed(done: subprocess.CompletedProcess[str], host: str = "switch0") -> int:
    return changes(done)[host]


@pytest.fixture
def sde() -> Iterator[None]:
    """The fake's tree; the testbed around it is taken down afterwards, if there is one."""
    if RUN.exists():
        pytest.skip("the testbed of inventories/fake-rack is up; take it down first")
    try:
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


HOSTS = ("client0", "client1", "server0", "server1", "switch0")


@pytest.mark.e2e
@pytest.mark.usefixtures("sde")
def test_site_sets_everything_up_once() -> None:
    nothing = dict.fromkeys((*HOSTS, "localhost"), 0)
    first = changes(playbook("site"))
    assert first["switch0"] >= 3 + 2, "programs, directories; compiled, started, ports"
    assert all(first[host] >= 2 for host in HOSTS), first
    assert not bfrt_is_reached_from_the_control_network()
    assert changed(playbook("switch", "-e", "program=netclone", "--check")) == 3
    stopped = playbook("switch_stop", "--limit", "switch0", "--tags", "switch")
    assert changes(stopped) == {"switch0": 1}
    assert changed(playbook("switch_stop")) == 0
    of_hosts = changes(playbook("site", "--tags", "provision"))
    assert of_hosts == nothing, "the switch is left as it is"
    again = changes(playbook("site"))
    assert again == nothing | {"switch0": 2}, "started, ports"
    of_switch = playbook("site", "--limit", "switch0", "--tags", "switch")
    assert changes(of_switch) == {"switch0": 0}


def test_tag_that_a_playbook_does_not_have_is_refused() -> None:
    """It would check, do nothing, and say that all went well."""
    for name, expected in (("site", "build, testbed, provision, switch"), ("switch", "switch")):
        done = playbook(name, "--tags", "swich")
        assert done.returncode != 0
        text = " ".join(done.stdout.split())
        assert f"swich: no such tag in this playbook; expected {expected}" in text
