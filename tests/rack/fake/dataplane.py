"""What stands in for the chip: softswitch with the program of the conf, bfrt-server before it."""

from __future__ import annotations

import json
import re
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from .machine import Machine
from .ports import Ports

DEADLINE_S = 20
INTERVAL_S = 0.05
CPU_PORT = 64  # the first lane of the Ethernet CPU port


class DataplaneError(Exception):
    """It cannot be started, or does not get ready."""


class Dataplane:
    """Ends with the process whose main thread makes it, however that ends."""

    def __init__(self, machine: Machine, program: str, ports: Ports) -> None:
        self._machine, self._ports = machine, ports
        self._build = Path(machine.settings["build"])
        self._program = self._build / "lib" / "p4" / f"{program}.so"
        # A switch that was killed leaves its directory: nobody else uses it.
        self._directory = Path(tempfile.mkdtemp(prefix="chip-", dir=machine.root))
        self._processes: list[subprocess.Popen[bytes]] = []
        self.interfaces = interfaces_of_ports()

    def start(self) -> str:
        """Returns the address of bfrt-server: the loopback, for this machine's own use."""
        if not self._program.is_file():
            raise DataplaneError(f"{self._program} is missing; run: make build")
        if not self.interfaces:
            raise DataplaneError("no interface NAME-pDEV_PORT for softswitch in this network")
        port_map = self._directory / "ports.json"
        board = self._machine.settings["board"]
        port_map.write_text(json.dumps({name: of["dev_port"] for name, of in board.items()}))
        pipes = 4 if self._machine.has("register_list_length") else self._machine.settings["pipes"]
        options = {CPU_PORT: "--cpu-port"}
        ports = [
            f"{options.get(port, '--port')}={port}={name}" for port, name in self.interfaces.items()
        ]
        self._run("softswitch", "--program", str(self._program), *ports)
        self._run("bfrt-server", "--port", "0", "--pipes", str(pipes), "--ports", "absent",
                  "--port-map", str(port_map))  # fmt: skip
        end = time.monotonic() + DEADLINE_S
        while (stats := self._stats()) is None:
            ended = [one.args for one in self._processes if one.poll() is not None]
            if ended or time.monotonic() > end:
                raise DataplaneError(f"{ended or 'bfrt-server'} does not serve")
            time.sleep(INTERVAL_S)  # waits: interval of a probe with a deadline
        threading.Thread(target=self._follow_links, daemon=True).start()
        return f"127.0.0.1:{stats['port']}"

    def counters(self) -> dict[int, dict[str, Any]]:
        """What softswitch has counted at its ports, by dev_port."""
        return {port["port"]: port for port in self._command("softswitch", "port_stats")["ports"]}

    def stop(self) -> None:
        for process in self._processes:
            process.kill()
        shutil.rmtree(self._directory, ignore_errors=True)

    def _run(self, name: str, *arguments: str) -> None:
        program = str(self._build / "bin" / name)
        end_with_parent = ["setpriv", "--pdeathsig", "KILL"]
        argv = [*end_with_parent, program, "--directory", str(self._directory), *arguments]
        self._processes.append(subprocess.Popen(argv))

    def _stats(self) -> dict[str, Any] | None:
        """Of bfrt-server, once it has the switch."""
        try:
            stats = self._command("bfrt-server", "stats")
        except OSError:
            return None
        return stats if stats.get("program") is not None else None

    def _command(self, node: str, command: str, **arguments: Any) -> dict[str, Any]:
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(DEADLINE_S)
            control.connect(str(self._directory / f"{node}.sock"))
            request = {"id": 1, "command": command, "args": arguments}
            control.sendall(json.dumps(request).encode() + b"\n")
            answer = json.loads(control.makefile().readline())
        if "result" not in answer:
            raise DataplaneError(f"{node} {command}: {answer}")
        result: dict[str, Any] = answer["result"]
        return result

    def _follow_links(self) -> None:
        """Packets pass where the port manager says that the link is up, and nowhere else."""
        told: dict[int, bool] = dict.fromkeys(self.interfaces, False)
        while True:
            up = {port.dev_port for port in self._ports.added() if self._ports.is_up(port)}
            for number in self.interfaces:
                if told[number] != (number in up):
                    self._command("softswitch", "port_enable", port=number, enabled=number in up)
                    told[number] = number in up
            time.sleep(INTERVAL_S)  # waits: the rate at which a port manager looks


def interfaces_of_ports() -> dict[int, str]:
    """dev_port -> the interface NAME-pDEV_PORT of this process's network, NAME-cpu for the
    processor's.
    """
    found = {}
    for _, name in socket.if_nameindex():
        if match := re.fullmatch(r".+-p(\d+)", name):
            found[int(match.group(1))] = name
        elif name.endswith("-cpu"):
            found[CPU_PORT] = name
    return found
