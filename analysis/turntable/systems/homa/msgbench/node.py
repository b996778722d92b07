"""A node for the time of a command: started with a directory of its own, asked through nodectl."""

from __future__ import annotations

import contextlib
import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from turntable_core.errors import TurntableError

_READY_S = 10.0
_COMMAND_S = 30.0
_END_S = 5.0
_PROBE_S = 0.005


class NodeError(TurntableError):
    """What a node has against a command."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class Node:
    name: str
    directory: Path
    nodectl: Path
    process: subprocess.Popen[bytes]

    def ask(self, command: str, **arguments: Any) -> Any:
        """The result. Raises NodeError."""
        return self._ask(command, arguments, _COMMAND_S)

    def ask_within(self, command: str, deadline_s: float, **arguments: Any) -> Any:
        """The same of a command that takes a `deadline_s` itself."""
        return self._ask(command, {**arguments, "deadline_s": deadline_s}, deadline_s + _COMMAND_S)

    def _ask(self, command: str, arguments: Mapping[str, Any], deadline_s: float) -> Any:
        request = [{"node": self.name, "command": command, "args": arguments}]
        done = subprocess.run(
            [self.nodectl, "--directory", self.directory, "--deadline", str(deadline_s)],
            input=json.dumps(request),
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,  # Ctrl-C is for this program, which then asks what was measured
        )
        try:
            (answer,) = json.loads(done.stdout)
        except ValueError:
            raise NodeError("unreachable", f"{self.name}: {done.stderr.strip()}") from None
        if not answer["ok"]:
            raise NodeError(answer["error"]["code"], answer["error"]["message"])
        return answer["result"]


@contextlib.contextmanager
def running(program: str, build: Path, address: str, port: int) -> Iterator[Node]:
    """Ends with the context, and with this process however that ends. Raises TurntableError if it
    does not start.
    """
    binary, nodectl = build / "bin" / program, build / "bin" / "nodectl"
    for path in (binary, nodectl):
        if not path.is_file():
            raise TurntableError(
                f"{path} does not exist; build it with `make programs SYSTEM=homa`, or say where "
                "it is with --build"
            )
    with tempfile.TemporaryDirectory(prefix="msgbench-") as name:
        directory = Path(name)
        argv = ["setpriv", "--pdeathsig", "TERM", binary, "--directory", directory]
        argv += ["--address", address, "--port", str(port)]
        said = directory / "stderr"
        with said.open("wb") as stderr:
            process = subprocess.Popen(argv, stderr=stderr, start_new_session=True)
        try:
            _wait_ready(process, directory / f"{program}.sock", said)
            yield Node(program, directory, nodectl, process)
        finally:
            _end(process)


def _wait_ready(process: subprocess.Popen[bytes], control_socket: Path, said: Path) -> None:
    deadline = time.monotonic() + _READY_S
    while not _is_listened_to(control_socket):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_PROBE_S)
            raise TurntableError(said.read_text(errors="replace").strip())
        if time.monotonic() > deadline:
            raise TurntableError(f"{control_socket.stem}: not ready after {_READY_S:g} s")


def _is_listened_to(path: Path) -> bool:
    """A socket is there a moment before anybody listens on it."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(str(path))
        except OSError:
            return False
    return True


def _end(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_END_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
