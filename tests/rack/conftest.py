"""A fake switch machine in a network namespace of its own, and roles applied to it."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from .fake.machine import BOARD, CABLES, Machine
from .fake.make import make

REPOSITORY = Path(__file__).parents[2]
BUILD = REPOSITORY / "build"
PORTS = {"status": 7777, "cli": 9999, "bfrt": 50052}
# As the fake's cables are, and one port that loops.
WANTED = [
    {"name": "9/0", "dev_port": 28, "speed": "100G", "fec": "rs", "autoneg": "disabled"},
    {"name": "11/0", "dev_port": 12, "speed": "25G", "fec": "none", "autoneg": "disabled"},
    {"name": "17/0", "speed": "100G", "fec": "none", "loopback": "mac-near"},
]
CLI = {"switch_ports_way": "cli"}
# A program that softswitch has too. The fake compiler takes any text.
PROGRAM = "control Simple() { apply { } }\n"


@dataclass
class Rack:
    """`root` has the fake machine, a program below p4/, an inventory, and what roles leave."""

    root: Path
    namespace: str
    machine: Machine

    def fake(self, *faults: str, **settings: Any) -> None:
        self.machine = make(self.root / "fake", settings | {"faults": faults})

    @property
    def environment(self) -> dict[str, str]:
        return {
            "SDE": str(self.root / "fake/sde"),
            "SDE_INSTALL": str(self.machine.install),
            "PATH": f"{self.root / 'fake/bin'}:{os.environ['PATH']}",
        }

    @property
    def directory(self) -> Path:
        return self.root / "run"

    @property
    def log(self) -> str:
        return (self.directory / "switchd.log").read_text()

    def inside(self, *command: str) -> list[str]:
        return ["nsenter", f"--net=/run/netns/{self.namespace}", *command]

    def execute(self, *command: str, **options: Any) -> subprocess.CompletedProcess[str]:
        given: dict[str, Any] = {"capture_output": True, "text": True, "timeout": 120}
        environment = os.environ | self.environment
        return subprocess.run(
            self.inside(*command), check=False, env=environment, **(given | options)
        )

    def role(
        self,
        name: str,
        *options: str,
        tasks: str = "main",
        in_its_network: bool = False,
        **variables: Any,
    ) -> subprocess.CompletedProcess[str]:
        """Applies a role with these variables on top of what it needs here. in_its_network: the
        controller is in the switch's own network.
        """
        return self._play([(name, tasks)], options, in_its_network, variables)

    def _play(
        self,
        roles: list[tuple[str, str]],
        options: tuple[str, ...] = (),
        in_its_network: bool = False,
        variables: dict[str, Any] | None = None,
    ) -> subprocess.CompletedProcess[str]:
        """roles: names, and files of their tasks. Outputs of failed tasks are looked at whole."""
        tasks = [
            {"ansible.builtin.import_role": {"name": name, "tasks_from": file}}
            for name, file in roles
        ]
        values = self.variables() | (variables or {})
        play = [{"name": "Test", "hosts": "switch0", "vars": values, "tasks": tasks}]
        playbook = self.root / "play.yml"
        playbook.write_text(yaml.safe_dump(play))
        program = Path(sys.executable).parent / "ansible-playbook"
        command = [str(program), "-i", str(self.root / "hosts.yml"), str(playbook), *options]
        if in_its_network:
            command = self.inside(*command)
        return subprocess.run(
            command,
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
            env=os.environ | {"ANSIBLE_STDOUT_CALLBACK": "ansible.builtin.default"},
        )

    def variables(self) -> dict[str, Any]:
        install, environment = str(self.machine.install), self.environment
        return {
            "turntable_testbed_id": "rack",
            "turntable_repository_dir": str(REPOSITORY),
            "sde_preflight_sde": str(self.root / "fake/sde"),
            "sde_preflight_install": install,
            "sde_preflight_version": "9.13.4",
            "sde_preflight_environment": environment,
            "sde_preflight_directory": str(self.directory),
            "sde_preflight_sysfs": str(self.root / "fake/sys/class/bf"),
            "sde_preflight_huge_pages_file": str(self.root / "fake/proc/nr_hugepages"),
            "p4_program_name": "nocache",
            "p4_program_source": str(self.root / "p4/nocache/nocache.p4"),
            "p4_program_compiler": f"{install}/bin/bf-p4c",
            "p4_program_version": "9.13.4",
            "p4_program_environment": environment,
            "p4_program_root": str(self.root / "compiled"),
            "p4_program_reports": str(self.root / "reports"),
            "switchd_install": install,
            "switchd_program": "nocache",
            "switchd_conf": str(self.conf),
            "switchd_environment": environment,
            "switchd_directory": str(self.directory),
            "switchd_ready_deadline_s": 20,
            "switch_ports_wanted": WANTED,
            "switch_ports_up_deadline_s": 10,
            "switch_ports_program": "nocache",
            "switch_ports_pipes": 2,
            "switch_program_name": "nocache",
            "switch_program_descriptors": str(BUILD / "lib/bfrt/bfruntime.desc"),
            "switch_ports_descriptors": str(BUILD / "lib/bfrt/bfruntime.desc"),
        }

    @property
    def conf(self) -> Path:
        found = sorted(self.root.glob("compiled/nocache-*/output/nocache.conf"))
        return found[0] if found else self.root / "no.conf"

    def start(self) -> None:
        """The program is compiled and bf_switchd started, in one play."""
        conf = {"switchd_conf": "{{ p4_program_compiled.conf }}"}
        done = self._play([("p4_program", "main"), ("switchd", "main")], variables=conf)
        assert done.returncode == 0, done.stdout

    def chip(self, command: str, **arguments: Any) -> Any:
        """What softswitch itself says, which is in the chip's place."""
        [directory] = (path.parent for path in self.root.glob("fake/chip-*/softswitch.sock"))
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(10)
            control.connect(str(directory / "softswitch.sock"))
            control.sendall(
                json.dumps({"id": 1, "command": command, "args": arguments}).encode() + b"\n"
            )
            return json.loads(control.makefile().readline())["result"]

    def switchds(self) -> list[int]:
        """Ids of all bf_switchd in the machine's network."""
        return [pid for pid in _processes(self.namespace) if _name(pid) == "bf_switchd"]

    def ports_open(self) -> list[int]:
        listening = self.execute("ss", "--no-header", "--tcp", "--listening", "--numeric").stdout
        return [port for port in PORTS.values() if re.search(rf":{port}\s", listening)]


def changed(done: subprocess.CompletedProcess[str]) -> int:
    """Of switch0's recap; the playbook must have succeeded."""
    assert done.returncode == 0, done.stdout + done.stderr
    found = re.search(r"switch0 .*changed=(\d+)", done.stdout)
    assert found, done.stdout
    return int(found.group(1))


@pytest.fixture
def rack() -> Iterator[Rack]:
    with machine_of("rack") as made:
        yield made


@pytest.fixture(scope="module")
def running_rack() -> Iterator[Rack]:
    """With a bf_switchd that is ready; its tests leave it so."""
    with machine_of("run") as made:
        made.start()
        yield made


@contextmanager
def machine_of(name: str) -> Iterator[Rack]:
    root = Path(tempfile.mkdtemp(prefix="turntable-rack-"))
    namespace = f"{name}-{os.getpid()}"
    subprocess.run(["ip", "netns", "add", namespace], check=True)
    # The switch's end of each cable, and the other one.
    cables = [BOARD[port]["dev_port"] for port in CABLES]
    commands = ["link set lo up"] + [
        line.format(port)
        for port in cables
        for line in (
            "link add c-p{0} type veth peer name far-{0}",
            "link set c-p{0} up",
            "link set far-{0} up",
        )
    ]
    batch = ["ip", "-n", namespace, "-batch", "-"]
    subprocess.run(batch, input="\n".join(commands), text=True, check=True)
    made = Rack(root, namespace, make(root / "fake"))
    host = {
        "ansible_connection": "netns",
        "ansible_netns_name": namespace,
        "ansible_python_interpreter": sys.executable,
    }
    (root / "hosts.yml").write_text(yaml.safe_dump({"all": {"hosts": {"switch0": host}}}))
    (root / "p4/nocache").mkdir(parents=True)
    (root / "p4/nocache/nocache.p4").write_text(PROGRAM)
    yield made
    for pid in _processes(namespace):
        os.kill(pid, signal.SIGKILL)
    subprocess.run(["ip", "netns", "delete", namespace], check=True)
    shutil.rmtree(root)


def _processes(namespace: str) -> list[int]:
    command = ["ip", "netns", "pids", namespace]
    listed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return [int(pid) for pid in listed.split()]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except FileNotFoundError:
        return ""


def record_of(rack: Rack) -> dict[str, Any]:
    return json.loads((rack.directory / "switchd.json").read_text())
