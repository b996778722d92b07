"""The embedded testbed over ssh: an sshd per host that nobody else can use."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

from turntable_testbed import sshd

from .conftest import REPOSITORY, Testbed
from .test_playbooks import EMPTY, changed

INVENTORY = "-iinventories/embedded-ssh"
HOSTS = ("switch0", "client0", "client1", "server0", "server1")


def ssh(testbed: Testbed, host: str, *options: str) -> subprocess.CompletedProcess[str]:
    """A login from the controller's namespace by ssh alone, without the inventory's options."""
    index = {"client0": 11, "server0": 21}[host]
    address = testbed.control_network.removesuffix("0/24") + str(index)
    directory = f"/run/turntable/{testbed.id}/ssh"
    command = ["ssh", "-F", "none", "-o", "BatchMode=yes", "-o", "IdentitiesOnly=yes"]
    command += ["-o", f"UserKnownHostsFile={directory}/known_hosts", *options]
    return subprocess.run(
        testbed.inside("ctl", *command, f"root@{address}", "readlink /proc/self/ns/net"),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def know(testbed: Testbed, path: Path) -> subprocess.CompletedProcess[str]:
    """The ssh_known_hosts module, asking client0 from the controller's namespace."""
    address = testbed.control_network.removesuffix("0/24") + "11"
    arguments = {"path": str(path), "hosts": [{"name": "client0", "address": address}]}
    command = [str(Path(sys.executable).parent / "ansible"), "localhost", "-m", "ssh_known_hosts"]
    return subprocess.run(
        testbed.inside("ctl", *command, "-a", json.dumps(arguments)),
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=False,
    )


def make_key(path: Path) -> str:
    """Makes a key pair; returns what identifies the public one."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", str(path)], check=True)
    return path.with_suffix(".pub").read_text().split()[1]


def test_hosts_accept_the_controllers_key_alone(testbed: Testbed, tmp_path: Path) -> None:
    up = testbed.playbook("testbed_up", INVENTORY)
    assert up.returncode == 0, up.stdout

    keys = Path(f"/run/turntable/{testbed.id}/ssh/id_ed25519")
    login = ssh(testbed, "client0", "-i", str(keys))
    inode = Path("/run/netns", testbed.namespace("client0")).stat().st_ino
    assert login.stdout.strip() == f"net:[{inode}]", login.stderr
    make_key(tmp_path / "other")
    refused = ssh(testbed, "client0", "-i", str(tmp_path / "other"))
    assert "Permission denied (publickey)" in refused.stderr

    # Users other than root log in as well, and find the file of accepted keys.
    assert stat.S_IMODE(Path(f"/run/turntable/{testbed.id}").stat().st_mode) == 0o755
    private = [keys, *Path(f"/run/turntable/{testbed.id}").glob("*/sshd/host_key")]
    assert len(private) == 1 + len(HOSTS)
    assert {stat.S_IMODE(path.stat().st_mode) for path in private} == {0o600}
    for host in HOSTS:
        listening = subprocess.run(
            testbed.inside(host, "ss", "-Hltn"), capture_output=True, text=True, check=True
        ).stdout
        control = testbed.control_network.removesuffix("0/24")
        assert [line.split()[3].startswith(control) for line in listening.splitlines()] == [True]


def test_a_key_is_collected_and_a_change_of_it_is_refused(running: Testbed, tmp_path: Path) -> None:
    make_key(tmp_path / "controller")
    address = running.control_network.removesuffix("0/24") + "11"
    server = sshd.Server(
        "client0", running.namespace("client0"), address, 22, "root", tmp_path / "sshd"
    )
    accepted = tmp_path / "controller.pub"
    assert len(sshd.converge([server], accepted, check_mode=False)) == 4
    assert sshd.converge([server], accepted, check_mode=False) == []

    file = tmp_path / "known_hosts"
    assert know(running, file).returncode == 0
    assert file.read_text() == f"{address} {server.public_key()}\n"

    impostor = f"{address} ssh-ed25519 {make_key(tmp_path / 'impostor')}\n"
    file.write_text(impostor)
    refused = know(running, file)
    assert refused.returncode != 0
    assert "ssh_access_accept_changed=client0" in refused.stdout
    assert file.read_text() == impostor


def sshds(testbed: Testbed) -> list[str]:
    """The daemons; open connections, and their sessions, come and go with playbooks."""
    found = testbed.fingerprint()["processes"]
    return [text for text in found if text.startswith("sshd: ") and "[listener]" in text]


def test_stop_keeps_sshds_up_repairs_them_and_down_removes_them(testbed: Testbed) -> None:
    assert testbed.playbook("testbed_up", INVENTORY).returncode == 0
    up = sshds(testbed)
    assert len(up) == len(HOSTS)
    node = subprocess.Popen(testbed.inside("client0", "sleep", "600"))
    stop = testbed.playbook("stop", INVENTORY)
    assert stop.returncode == 0, stop.stdout
    assert node.wait(60) == -signal.SIGTERM
    assert sshds(testbed) == up

    os.kill(int(Path(f"/run/turntable/{testbed.id}/server0/sshd/pid").read_text()), signal.SIGKILL)
    repaired = testbed.playbook("testbed_up", INVENTORY)
    assert changed(repaired.stdout) == 1, repaired.stdout
    key = f"/run/turntable/{testbed.id}/ssh/id_ed25519"
    assert ssh(testbed, "server0", "-i", key).returncode == 0

    down = testbed.playbook("testbed_down", INVENTORY, "-epurge=true")
    assert down.returncode == 0, down.stdout
    assert testbed.fingerprint() == EMPTY


def test_both_inventories_describe_the_same_testbed() -> None:
    """What differs is how hosts are reached, and what keeps the two apart on one machine."""
    hosts = {}
    for name in ("embedded", "embedded-ssh"):
        command = [Path(sys.executable).parent / "ansible-inventory", "--list", "-i"]
        done = subprocess.run(
            [*command, f"inventories/{name}"],
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            check=True,
        )
        hosts[name] = json.loads(done.stdout)["_meta"]["hostvars"]
    different = {
        key
        for host, variables in hosts["embedded"].items()
        for key in variables.keys() | hosts["embedded-ssh"][host].keys()
        if variables.get(key) != hosts["embedded-ssh"][host].get(key)
        and not key.startswith("ansible_")
    }
    assert different == {
        "turntable_testbed_id",
        "turntable_data_network",
        "turntable_control_network",
        "turntable_ssh_dir",
        "turntable_bin_dir",
        "turntable_p4_dir",
    }
