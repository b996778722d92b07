"""The loopback of the switch from the controller, through the connection that Ansible has anyway.

BF Runtime asks nobody who he is, so bf_switchd lets only its own machine in. Each connection to a
socket that the user of the playbook alone may open goes through a process of its own.
"""

from __future__ import annotations

import shlex
import socket
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from turntable_sde.call import COMMAND, PROGRAMS


class RelayError(Exception):
    """This connection has no way to a port of the host."""


class Relay:
    """`address` is gRPC's; processes end with the block."""

    def __init__(self, command: Sequence[str]) -> None:
        """command: what carries a connection over its standard input and output."""
        self._command = list(command)
        self._directory = tempfile.TemporaryDirectory(prefix="turntable-relay-")
        self._path = Path(self._directory.name) / "socket"
        self._processes: list[subprocess.Popen[bytes]] = []

    @property
    def address(self) -> str:
        return f"unix:{self._path}"

    def __enter__(self) -> Relay:
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self._path))
        self._listener.listen()
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)  # wakes who accepts
        self._listener.close()
        for process in self._processes:
            process.terminate()
            process.wait()
        self._directory.cleanup()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with connection:
                self._processes.append(
                    subprocess.Popen(
                        self._command,
                        stdin=connection,
                        stdout=connection,
                        stderr=subprocess.DEVNULL,
                    )
                )


def carrying(port: int) -> str:
    """For a shell on the switch: carries a connection to this port of its loopback."""
    program = f"{(PROGRAMS / 'carry.py').read_text()}\nrun({port})\n"
    return COMMAND.replace('exec "$python" -;', f'exec "$python" -c {shlex.quote(program)};')


def command_to(connection: Any, port: int) -> list[str]:
    """connection: Ansible's; its options are public. A program on the switch, not `ssh -W`: an sshd
    may refuse to forward.
    """
    carry = carrying(port)
    kind = connection.ansible_name.rpartition(".")[2]
    if kind == "local":
        return ["/bin/sh", "-c", carry]
    if kind == "netns":
        namespace = f"--net=/run/netns/{connection.get_option('namespace')}"
        return ["nsenter", namespace, "/bin/sh", "-c", carry]
    if kind != "ssh":
        raise RelayError(
            f"connection {kind} carries no other connections; expected ssh. Say "
            "switch_ports_grpc_address, or switch_ports_way: cli"
        )
    option = connection.get_option
    # A process of its own: a shared one lives on when this ends. The first of two values counts.
    command = [option("ssh_executable"), "-o", "ControlPath=none", "-o", "BatchMode=yes"]
    if not option("host_key_checking"):
        command += ["-o", "StrictHostKeyChecking=no"]
    for name in ("ssh_args", "ssh_common_args", "ssh_extra_args"):
        command += shlex.split(option(name) or "")
    for flag, name in (("-p", "port"), ("-l", "remote_user"), ("-i", "private_key_file")):
        if option(name):
            command += [flag, str(option(name))]
    return [*command, option("host"), f"/bin/sh -c {shlex.quote(carry)}"]
