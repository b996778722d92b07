"""Runs commands in a network namespace of this machine."""

from __future__ import annotations

DOCUMENTATION = r"""
name: netns
short_description: Run commands in a network namespace of this machine
description:
  - The host is a network namespace. Commands enter it with nsenter; files are those of this
    machine, so transfers are local copies.
  - Only the network is another one. The file system is not remounted, unlike with C(ip netns exec),
    so what a command mounts stays mounted; for the same reason C(/sys/class/net) shows this
    machine's own devices.
  - Needs root. A command costs a few ms.
author: Turntable
options:
  namespace:
    description: Name of the network namespace, a file of C(/run/netns).
    type: str
    required: true
    vars:
      - name: inventory_hostname
      - name: ansible_netns_name
  executable:
    description: Program that enters the namespace, understood as C(nsenter) of util-linux.
    type: str
    default: nsenter
    vars:
      - name: ansible_netns_executable
  inventories:
    description: What C(-i) names, for the command that a message advises.
    type: list
    elements: str
    default: []
    vars:
      - name: ansible_inventory_sources
"""

import os
import shlex
from pathlib import Path

from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.parsing.dataloader import DataLoader
from ansible.plugins.connection.local import Connection as LocalConnection
from ansible.utils.vars import load_extra_vars

from turntable_testbed.names import DIRECTORY, inode_of


class Connection(LocalConnection):
    """The local connection, with every command in a namespace.

    Instances share nothing: each thread of an action plugin may use one of its own.
    """

    transport = "netns"
    has_pipelining = True

    def _connect(self) -> Connection:
        self._require_namespace()
        return super()._connect()

    def exec_command(
        self, cmd: str, in_data: bytes | None = None, sudoable: bool = True
    ) -> tuple[int, bytes, bytes]:
        """Runs a shell command line in the namespace; see ConnectionBase for the contract."""
        path = self._require_namespace()
        enter = [self.get_option("executable"), f"--net={path}", "--", "/bin/sh", "-c", cmd]
        # exec: the shell that the local connection starts becomes nsenter, none waits for it.
        line = f"exec {shlex.join(enter)}"
        return super().exec_command(line, in_data=in_data, sudoable=sudoable)

    def _require_namespace(self) -> Path:
        path = DIRECTORY / self.get_option("namespace")
        if inode_of(path) is None:
            raise AnsibleConnectionFailure(
                f"network namespace {path.name!r} does not exist (expected {path}): "
                f"bring the testbed up: {_testbed_up(self.get_option('inventories'))}"
            )
        if os.geteuid() != 0:
            raise AnsibleConnectionFailure(
                f"entering network namespace {path.name!r} needs root: "
                "run ansible-playbook as root or with sudo"
            )
        return path


def _testbed_up(inventories: list[str]) -> str:
    """The command for these inventories and the given variables of the testbed; a path below the
    working directory is shown from there.
    """
    from turntable_core.catalogue import of_testbed  # noqa: PLC0415  # rarely needed

    chosen = [] if inventories == constants.DEFAULT_HOST_LIST else inventories
    here = f"{Path.cwd()}/"
    named = [f"-i {shlex.quote(source.removeprefix(here))}" for source in chosen]
    given = of_testbed(load_extra_vars(DataLoader()))
    return " ".join(["ansible-playbook", *named, "playbooks/testbed_up.yml", *given])
