"""The target `bfrt`: softswitch, controlled through BF Runtime only.

    test -> bfrt-driver -> gRPC -> bfrt-server -> softswitch

The commands are those of the target `softswitch`, so what passes there and here shows that driver
and server carry them. Only the counts of ports, by which frames are awaited, are asked of
softswitch itself.
"""

from __future__ import annotations

import json
import select
import socket
import subprocess
import time
from pathlib import Path
from typing import Any

from .live_switch import DEADLINE_S, SoftswitchTarget
from .targets import result_of

ADDRESS = "127.0.0.1"


class Node:
    """A process with a control socket, which answers."""

    def __init__(self, name: str, directory: Path, argv: list[Any]) -> None:
        self._name = name
        self._process = subprocess.Popen([*argv, "--directory", directory, "--name", name])
        try:
            self._connect(directory / f"{name}.sock")
        except BaseException:
            self.close()
            raise

    def _connect(self, path: Path) -> None:
        end = time.monotonic() + DEADLINE_S
        while True:
            control = socket.socket(socket.AF_UNIX)
            control.settimeout(DEADLINE_S)
            try:
                control.connect(str(path))
            except OSError:
                control.close()
                if self._process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.01)
                continue
            self._control = control
            self._answers = control.makefile()
            return

    def command(self, name: str, **arguments: Any) -> Any:
        self.ask(name, **arguments)
        return self.answer()

    def ask(self, name: str, **arguments: Any) -> None:
        request = {"id": 1, "command": name, "args": arguments}
        self._control.sendall(json.dumps(request).encode() + b"\n")

    def has_answered(self, within_s: float) -> bool:
        return bool(select.select([self._control], [], [], within_s)[0])

    def answer(self) -> Any:
        return result_of(json.loads(self._answers.readline()))

    def end(self) -> int:
        """Its exit status."""
        if hasattr(self, "_control"):
            self._answers.close()
            self._control.close()
        self._process.terminate()
        return self._process.wait(timeout=DEADLINE_S)

    def close(self) -> None:
        self.end()


class BfrtTarget(SoftswitchTarget):
    """As SoftswitchTarget; `pipes`: values that bfrt-server gives for a cell of a register."""

    def __init__(
        self, build_dir: Path, program: Path, directory: Path, ports: list[int], pipes: int = 2
    ) -> None:
        self._build_dir = build_dir
        self._program = program
        self._directory = directory
        self._pipes = pipes
        self._nodes: list[Node] = []
        super().__init__(build_dir / "bin" / "softswitch", program, directory, ports)

    def _start(self) -> None:
        super()._start()
        try:
            self._start_nodes()
        except BaseException:
            self.close()
            raise

    def _start_nodes(self) -> None:
        self._start_server(port=0)
        name = self._program.stem
        self.driver = Node(
            "bfrt-driver",
            self._directory,
            [self._build_dir / "bin" / "bfrt-driver", "--switch", self.address, "--program", name,
             "--schema", self._program.with_suffix(".bfrt.json"), "--pipe", str(self._pipes - 1)],
        )  # fmt: skip
        self._nodes.append(self.driver)

    def _start_server(self, port: int) -> None:
        self._server = Node(
            "bfrt-server",
            self._directory,
            [self._build_dir / "bin" / "bfrt-server", "--address", ADDRESS, "--port", str(port),
             "--pipes", str(self._pipes)],
        )  # fmt: skip
        self._nodes.append(self._server)
        self._port = self._server.command("stats")["port"]
        self.address = f"{ADDRESS}:{self._port}"

    def start_switch(self) -> None:
        """Another softswitch behind the same server, after kill_switch."""
        super()._start()

    def stop_server(self) -> None:
        self._nodes.remove(self._server)
        self._server.close()

    def restart_server(self) -> None:
        """Another one at the same port."""
        self.stop_server()
        self._start_server(self._port)

    def softswitch(self, name: str, **arguments: Any) -> Any:
        """A command past the driver, for what a test compares with."""
        return super().command(name, **arguments)

    def command(self, name: str, **arguments: Any) -> Any:
        if name == "port_stats":
            return self.softswitch(name)
        return self.driver.command(name, **arguments)

    def kill_and_start(self) -> None:
        self._close_nodes()
        super().kill_and_start()

    def _close_nodes(self) -> None:
        for node in reversed(self._nodes):
            node.close()
        self._nodes = []

    def close(self) -> None:
        self._close_nodes()
        super().close()
