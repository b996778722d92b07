"""A testbed of the tests' own: its id and networks let it stand beside others."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from turntable_testbed import fingerprint, namespaces, observe
from turntable_testbed.apply import Kernel
from turntable_testbed.plan import Step, plan
from turntable_testbed.topology import Topology

REPOSITORY = Path(__file__).parents[2]


@dataclass(frozen=True)
class Testbed:
    """Runs this repository's playbooks on a testbed of its own."""

    __test__ = False

    id: str
    data_network: str
    control_network: str
    has_switch: bool = True  # in `topology`

    def playbook(self, name: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self.command(name, *arguments),
            cwd=REPOSITORY,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=900,
            check=False,
        )

    def command(self, name: str, *arguments: str) -> list[str]:
        program = Path(sys.executable).parent / "ansible-playbook"
        return [str(program), f"playbooks/{name}.yml", *self.settings(), *arguments]

    def settings(self) -> list[str]:
        return [
            f"-eturntable_testbed_id={self.id}",
            f"-eturntable_data_network={self.data_network}",
            f"-eturntable_control_network={self.control_network}",
        ]

    def namespace(self, host: str) -> str:
        return f"{self.id}-{host}"

    def inside(self, host: str, *command: str) -> list[str]:
        """`command` as run in the namespace of `host`, by a tool that is not ours."""
        return ["ip", "netns", "exec", self.namespace(host), *command]

    def fingerprint(self) -> fingerprint.Fingerprint:
        return fingerprint.take(self.id)

    def topology(self) -> Topology:
        """Two hosts and a switch or a bridge: enough for what does not need a playbook."""
        data, control = (
            network.removesuffix("0/24") for network in (self.data_network, self.control_network)
        )

        def control_end(name: str, index: int) -> dict[str, Any]:
            return {
                "name": name,
                "namespace": self.namespace(name),
                "control_interface": f"{self.id}-ctl",
                "control_address": f"{control}{index}",
                "bridge_port": f"{self.id}-b{index}",
            }

        def endpoint(name: str, index: int, port: int) -> dict[str, Any]:
            return {
                **control_end(name, index),
                "data_interface": f"{self.id}-data",
                "data_address": f"{data}{index}",
                "data_mac": f"02:00:00:00:00:{index:02x}",
                "data_port": f"{self.id}-p{port}" if self.has_switch else f"{self.id}-d{index}",
            }

        switch = control_end("switch0", 2) | {
            "cpu_interface": f"{self.id}-cpu",
            "cpu_control_interface": f"{self.id}-cpuctl",
        }

        return Topology.from_dict(
            {
                "testbed": self.id,
                "data_network": self.data_network,
                "control_network": self.control_network,
                "mtu": 1400,
                "sysctls": {"net.ipv6.conf.all.disable_ipv6": 1},
                "controller": {
                    "namespace": self.namespace("ctl"),
                    "bridge": f"{self.id}-br",
                    "address": f"{control}1",
                    "data_bridge": None if self.has_switch else f"{self.id}-dbr",
                },
                "switch": switch if self.has_switch else None,
                "endpoints": [endpoint("client0", 11, 0), endpoint("server0", 21, 1)],
            }
        )

    def steps(self) -> list[Step]:
        """What separates the machine from `topology` now."""
        topology = self.topology()
        return plan(
            observe.observe(self.id, list(topology.sysctls)), topology.desired(), topology.testbed
        )

    def take(self, steps: list[Step]) -> None:
        with Kernel() as kernel:
            for step in steps:
                kernel.take(step)

    def remove(self) -> None:
        """Without the code under test, so that a broken one does not leave its ruins behind."""
        for path in Path("/run/netns").glob(f"{self.id}-*"):
            if namespaces.inode_of(path) is None:
                path.unlink()
                continue
            pids = subprocess.run(
                ["ip", "netns", "pids", path.name], capture_output=True, text=True, check=False
            )
            for pid in pids.stdout.split():
                os.kill(int(pid), 9)
            subprocess.run(["ip", "netns", "delete", path.name], check=False)
        for root in ("/run/turntable", "/var/lib/turntable"):
            subprocess.run(["rm", "-rf", f"{root}/{self.id}"], check=True)


@pytest.fixture
def testbed() -> Iterator[Testbed]:
    """A testbed that does not exist yet and will not afterwards."""
    if os.geteuid() != 0:
        pytest.skip("network namespaces need root: run make pytest")
    number = os.getpid() % 64
    testbed = Testbed(
        f"t{os.getpid() % 100000:05d}", f"198.18.{128 + number}.0/24", f"198.19.{128 + number}.0/24"
    )
    testbed.remove()
    yield testbed
    testbed.remove()


@pytest.fixture
def running(testbed: Testbed) -> Testbed:
    """The small topology of `Testbed.topology`, up."""
    testbed.take(testbed.steps())
    return testbed
