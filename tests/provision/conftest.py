"""Two machines with a cable between them, reached by ssh as another user than root, with sudo."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from turntable_core import systems

from . import machine as machines
from .machine import Machine

REPOSITORY = Path(__file__).parents[2]
MACS = {"client0": "02:00:00:00:00:0b", "server0": "02:00:00:00:00:15"}
ADDRESSES = {"client0": "198.18.0.11", "server0": "198.18.0.21"}
# Each on the loopback of its own; ssh tells open connections apart by the address.
LOGINS = {"client0": "127.0.0.11", "server0": "127.0.0.21"}
RECORD = "/var/lib/turntable/host_settings.json"
USER = "rackuser"
DEADLINE_S = 30

# Somewhere between the machines of a real rack and what these ones have.
SETTINGS: dict[str, Any] = {
    "turntable_data_mtu": 1400,
    "turntable_host_packages": ["turntable-test-tool"],
    "turntable_host_sysctls": {
        "net.core.somaxconn": 1234,
        "net.ipv4.tcp_rmem": "4096 65536 1048576",
    },
    "turntable_host_limits": {"nofile": 4096},
    "turntable_host_huge_pages": {"2048": 64},
    "turntable_host_transparent_huge_pages": "never",
    "turntable_host_cpu_governor": "performance",
    "turntable_nic_features": {"tx-checksumming": False, "gro": False},
    "turntable_nic_channels": {"rx": 1, "tx": 1},
    "turntable_nic_interrupt_cpus": "0,1",
}  # fmt: skip

_SSHD = """\
ListenAddress {address}
HostKey {directory}/host_key
PidFile none
AllowUsers root {user}
AuthorizedKeysFile {directory}/authorized_keys
StrictModes no
UsePAM yes
SetEnv SHLVL=1
MaxSessions 100
MaxStartups 100
Subsystem sftp internal-sftp
"""
_HOLDER = "#!/bin/sh\necho '{\"held\": false}'\n"


@dataclass
class Rack:
    machines: dict[str, Machine]
    directory: Path  # of the test: inventory, key, build
    hosts: set[str]  # in the inventory

    @property
    def client(self) -> Machine:
        return self.machines["client0"]

    @property
    def server(self) -> Machine:
        return self.machines["server0"]

    @property
    def inventory(self) -> Path:
        return self.directory / "inventory/hosts.yml"

    def write_inventory(self, user: str = USER, **settings: Any) -> None:
        """settings: variables of all hosts beside SETTINGS; None: without that one."""
        variables = {**SETTINGS, **settings}
        common = {
            "turntable_testbed_id": "rack",
            "turntable_fidelity_class": "emulated",
            "turntable_lease_s": 10,
            "turntable_data_network": "198.18.0.0/24",
            "turntable_build_dir": str(self.directory / "build"),
            "turntable_repository_dir": str(REPOSITORY),
            "turntable_results_dir": str(self.directory / "results"),
        }
        of_hosts = {
            "ansible_connection": "ssh",
            "ansible_user": user,
            "ansible_become": user != "root",
            "ansible_python_interpreter": "/usr/bin/python3",
            "ansible_ssh_private_key_file": str(self.directory / "key"),
            "ansible_control_path_dir": str(self.directory / "open"),
            "turntable_bin_dir": "/opt/turntable/bin",
            "turntable_run_dir": "/run/turntable/rack/{{ inventory_hostname }}",
            "turntable_state_dir": "/var/lib/turntable/rack/{{ inventory_hostname }}",
            "turntable_data_interface": "data0",
            **{key: value for key, value in variables.items() if value is not None},
        }
        roles = {"client0": "clients", "server0": "servers"}
        groups = {roles[name]: {"hosts": {name: self._variables(name)}} for name in self.hosts}
        document = {
            "all": {"vars": common},
            "controller": {
                "hosts": {
                    "localhost": {
                        "ansible_connection": "local",
                        "ansible_python_interpreter": sys.executable,
                    }
                }
            },
            "testbed": {
                "vars": of_hosts,
                "children": {"endpoints": {"children": groups}},
            },
        }
        self.inventory.parent.mkdir(exist_ok=True)
        self.inventory.write_text(yaml.safe_dump(document))

    def _variables(self, name: str) -> dict[str, Any]:
        network = f"/proc/{self.machines[name].pid}/ns/net"
        return {
            "ansible_host": LOGINS[name],
            "turntable_data_address": ADDRESSES[name],
            "turntable_data_mac": MACS[name],
            "ansible_ssh_common_args": "-F none -o IdentitiesOnly=yes "
            f"-o HostKeyAlias={name} -o StrictHostKeyChecking=yes "
            f"-o UserKnownHostsFile={self.directory}/known_hosts "
            f'-o ProxyCommand="nsenter --net={network} nc %h %p"',
        }

    def command(self, playbook: str, *arguments: str) -> list[str]:
        program = Path(sys.executable).parent / "ansible-playbook"
        return [str(program), "-i", str(self.inventory), f"playbooks/{playbook}.yml", *arguments]

    def play(self, playbook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(playbook, *arguments),
            cwd=REPOSITORY,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )

    def played(self, playbook: str, *arguments: str) -> str:
        """Its output; it must succeed."""
        done = self.play(playbook, *arguments)
        assert done.returncode == 0, done.stdout
        return done.stdout

    def module(self, name: str, *, check: bool = False, **arguments: Any) -> dict[str, Any]:
        """What the module answers on server0; `warned` has its warnings."""
        program = Path(sys.executable).parent / "ansible"
        words = [str(program), "-i", str(self.inventory), "server0", "-m", name]
        done = subprocess.run(
            [*words, "-a", json.dumps(arguments), *(["--check"] if check else [])],
            cwd=REPOSITORY,
            env={**os.environ, "ANSIBLE_STDOUT_CALLBACK": "minimal"}
            | {"ANSIBLE_CALLBACK_RESULT_FORMAT": "json"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        head, _, answer = done.stdout.partition("=>")
        return {**json.loads(answer), "failed": "FAILED" in head, "warned": sentences(done.stderr)}

    def fingerprints(self) -> dict[str, str]:
        """(Machine, part, line) by line, so that a difference is one of a few lines."""
        lines = {}
        for name in self.hosts:
            for part, value in self.machines[name].fingerprint().items():
                if isinstance(value, dict):
                    lines |= {f"{name} {part} {key}": str(text) for key, text in value.items()}
                else:
                    texts = value.splitlines() if isinstance(value, str) else map(str, value)
                    lines |= {f"{name} {part} {text.strip()}": "" for text in texts}
        return lines


def changes(output: str) -> dict[str, int]:
    """Host -> the number in Ansible's recap."""
    recap = re.findall(r"^(\w+) +: ok=.*changed=(\d+)", output, re.MULTILINE)
    return {host: int(number) for host, number in recap if host != "localhost"}


def sentences(output: str) -> str:
    """Without the line breaks that Ansible puts in."""
    return " ".join(output.split())


@pytest.fixture
def rack(tmp_path: Path) -> Iterator[Rack]:
    """Two machines and an inventory; nothing is provisioned."""
    yield from made_rack(tmp_path, set(MACS))


@pytest.fixture
def one(tmp_path: Path) -> Iterator[Rack]:
    """The same with server0 in the inventory alone, which takes less time."""
    yield from made_rack(tmp_path, {"server0"})


def made_rack(directory: Path, hosts: set[str]) -> Iterator[Rack]:
    if os.geteuid() != 0:
        pytest.skip("machines need namespaces and root: run make pytest")
    with ExitStack() as stack:
        made = {
            name: stack.enter_context(machines.machine(name, directory / name)) for name in MACS
        }
        machines.plug(made["client0"], made["server0"], (MACS["client0"], MACS["server0"]))
        subprocess.run(
            ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", directory / "key"], check=True
        )
        (directory / "open").mkdir()
        known = [f"{name} {let_in(it, directory)}" for name, it in made.items()]
        (directory / "known_hosts").write_text("\n".join(known) + "\n")
        make_build(directory / "build/bin")
        rack = Rack(made, directory, hosts)
        rack.write_inventory()
        yield rack


def make_build(programs: Path) -> None:
    """Programs of a build, as far as provisioning is concerned: nobody holds the testbed. Those of
    systems that need no switch are among them.
    """
    programs.mkdir(parents=True)
    of_systems = {
        program
        for system in map(systems.find, systems.names())
        if not system.needs_switch
        for role in system.roles
        for program in role.programs
    }
    for name in ("supervisor", "nodectl", *sorted(of_systems)):
        (programs / name).write_text(_HOLDER)
        (programs / name).chmod(0o755)


def let_in(made: Machine, directory: Path) -> str:
    """The key of its sshd, which lets in root and a user who may do everything with sudo."""
    made.run("useradd", "--create-home", "--shell", "/bin/bash", USER)
    made.write(f"/etc/sudoers.d/{USER}", f"{USER} ALL=(ALL) NOPASSWD: ALL\n", 0o440)
    made.run("mkdir", "-p", "/run/sshd", "/srv/sshd")
    made.run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", "/srv/sshd/host_key")
    made.write("/srv/sshd/authorized_keys", (directory / "key.pub").read_text())
    made.write(
        "/srv/sshd/config",
        _SSHD.format(directory="/srv/sshd", user=USER, address=LOGINS[made.name]),
    )
    sshd = made.inside("/usr/sbin/sshd", "-f", "/srv/sshd/config")
    subprocess.run(sshd, check=True)
    listens = f"import socket; socket.create_connection(('{LOGINS[made.name]}', 22), 1).recv(4)"
    limit = time.monotonic() + DEADLINE_S
    while subprocess.run(
        made.inside("/usr/bin/python3", "-c", listens), stderr=subprocess.DEVNULL, check=False
    ).returncode:
        assert time.monotonic() < limit, "sshd does not answer"
        time.sleep(0.05)
    return " ".join(made.read("/srv/sshd/host_key.pub").split()[:2])
