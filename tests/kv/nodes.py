"""Starts nodes and talks to their control sockets (docs/architecture.md §2)."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from turntable_bench.handshake import secret_option


class NodeError(Exception):
    """A node answered a command with an error."""

    def __init__(self, error: dict[str, str]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]


_WITH_CONTROL_LINKS = {"kvserver", "kvclient", "switch-agent", "cache-controller"}


def command_line(program: Path, directory: Path, *options: str) -> list[str | Path]:
    """Starts `program` in the run directory; one that has control links is told the secret."""
    line: list[str | Path] = [program, "--directory", directory, *options]
    return [*line, *secret_option(directory)] if program.name in _WITH_CONTROL_LINKS else line


class Node:
    """A running node program."""

    def __init__(self, program: Path, directory: Path, *options: str) -> None:
        self._socket_path = directory / f"{program.name}.sock"
        self.process = subprocess.Popen(command_line(program, directory, *options))

    def call(self, command: str, /, **args: Any) -> Any:
        """Sends one command and returns its result; raises NodeError."""
        with socket.socket(socket.AF_UNIX) as channel:
            channel.settimeout(60)
            channel.connect(str(self._socket_path))
            request = {"id": 1, "command": command, "args": args}
            channel.sendall(json.dumps(request).encode() + b"\n")
            answer = json.loads(channel.makefile().readline())
        if not answer["ok"]:
            raise NodeError(answer["error"])
        return answer["result"]

    def wait_ready(self, deadline_s: float = 20) -> None:
        """Returns when the node answers; fails when it has ended or is silent."""
        end = time.monotonic() + deadline_s
        while True:
            try:
                self.call("ping")
                return
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise
                time.sleep(0.01)

    def end(self) -> None:
        """SIGTERM, and SIGKILL if that is not enough."""
        self.process.terminate()
        try:
            self.process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise


@contextlib.contextmanager
def running(program: Path, directory: Path, *options: str) -> Iterator[Node]:
    """A node for the time of the context; it must end in order afterwards."""
    node = Node(program, directory, *options)
    try:
        node.wait_ready()
        yield node
    finally:
        node.end()
    assert node.process.returncode == 0
