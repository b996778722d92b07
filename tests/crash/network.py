"""Hosts of a rack as network namespaces: one client, two servers and the switch between them.

Made by the code that makes the embedded testbed; ids and networks follow from this process, so
that several racks may stand side by side.
"""

from __future__ import annotations

import itertools
import os
import socket
import subprocess
from pathlib import Path
from typing import Any

from turntable_core.testbed import DataHost, SwitchHost, Testbed
from turntable_testbed import namespaces, observe
from turntable_testbed.apply import Kernel
from turntable_testbed.plan import plan
from turntable_testbed.topology import Topology

SWITCH, CLIENT, SERVERS = "switch0", "client0", ("server0", "server1")
INDEX = {SWITCH: 2, CLIENT: 11, "server0": 21, "server1": 22}  # place in both networks
PORT = {CLIENT: 0, "server0": 2, "server1": 3}
CPU, CPU_PORT = "cpu", 64  # the agent's link
MTU = 1500
SYSCTLS = {
    "net.ipv6.conf.all.disable_ipv6": 1,
    "net.ipv6.conf.default.disable_ipv6": 1,
    "net.ipv4.conf.all.rp_filter": 0,
    "net.ipv4.conf.default.rp_filter": 0,
}

_numbers = itertools.count()


def udp_socket(namespace: str) -> socket.socket:
    """A socket of a host; this process stays where it is."""
    return namespaces.call_inside(
        namespaces.path_of(namespace), lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    )


class Network:
    """The namespaces, up from its construction to `remove`."""

    def __init__(self, build_dir: Path, directory: Path) -> None:
        number = (os.getpid() + next(_numbers)) % 64
        self.id = f"r{os.getpid() % 10000:04d}{number:02d}"
        self._data, self._control = f"198.18.{64 + number}.", f"198.19.{64 + number}."
        self._build_dir, self._directory = build_dir, directory
        self.testbed = self._testbed()
        self.remove()
        topology = self._topology()
        observed = observe.observe(self.id, list(topology.sysctls))
        with Kernel() as kernel:
            for step in plan(observed, topology.desired(), self.id):
                kernel.take(step)

    def namespace(self, host: str) -> str:
        return f"{self.id}-{host}"

    def directory(self, host: str) -> Path:
        """Where nodes of this host have their sockets, logs and stores."""
        return self._directory / host

    def remove(self) -> None:
        for path in Path("/run/netns").glob(f"{self.id}-*"):
            subprocess.run(["ip", "netns", "delete", path.name], check=False)

    def _topology(self) -> Topology:
        return Topology.from_dict(
            {
                "testbed": self.id,
                "data_network": f"{self._data}0/24",
                "control_network": f"{self._control}0/24",
                "mtu": MTU,
                "sysctls": SYSCTLS,
                "controller": {
                    "namespace": self.namespace("ctl"),
                    "bridge": f"{self.id}-br",
                    "address": f"{self._control}1",
                },
                "switch": self._control_end(SWITCH)
                | {
                    "cpu_interface": f"{self.id}-cpu",
                    "cpu_control_interface": f"{self.id}-cpuctl",
                },
                "endpoints": [self._endpoint(host) for host in PORT],
            }
        )

    def _control_end(self, host: str) -> dict[str, Any]:
        return {
            "name": host,
            "namespace": self.namespace(host),
            "control_interface": f"{self.id}-ctl",
            "control_address": f"{self._control}{INDEX[host]}",
            "bridge_port": f"{self.id}-b{INDEX[host]}",
        }

    def _endpoint(self, host: str) -> dict[str, Any]:
        return self._control_end(host) | {
            "data_interface": f"{self.id}-data",
            "data_address": f"{self._data}{INDEX[host]}",
            "data_mac": _mac(host),
            "data_port": f"{self.id}-p{PORT[host]}",
        }

    def _testbed(self) -> Testbed:
        """As runs see it."""
        return Testbed(
            id=self.id,
            fidelity_class="embedded",
            lease_s=10,
            switch=SwitchHost(
                **self._host(SWITCH),
                target="softswitch",
                p4_dir=str(self._build_dir / "lib" / "p4"),
                cpu_port=CPU_PORT,
                cpu_interface=f"{self.id}-cpu",
                port_driver="af_packet",
                cpu_control_interface=f"{self.id}-cpuctl",
                control_address=f"{self._control}{INDEX[SWITCH]}",
            ),
            roles={
                "clients": (self._data_host(CLIENT),),
                "servers": tuple(self._data_host(host) for host in SERVERS),
            },
        )

    def _data_host(self, host: str) -> DataHost:
        return DataHost(
            **self._host(host),
            address=f"{self._data}{INDEX[host]}",
            mac=_mac(host),
            switch_port=PORT[host],
            switch_interface=f"{self.id}-p{PORT[host]}",
            control_address=f"{self._control}{INDEX[host]}",
        )

    def _host(self, host: str) -> dict[str, Any]:
        directory = str(self.directory(host))
        return {
            "name": host,
            "bin_dir": str(self._build_dir / "bin"),
            "run_dir": directory,
            "state_dir": directory,
            "node_nice": 0,
        }


def _mac(host: str) -> str:
    return f"02:00:00:00:00:{INDEX[host]:02x}"
