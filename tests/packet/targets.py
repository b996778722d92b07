"""What a packet test runs against: frames in, frames out, control commands (architecture.md §5).

A test knows nothing but `Target`. `memory` runs the translated program inside one process
(build/bin/p4run); `softswitch` drives the real switch over veth. A rack's target would translate
the same commands to BfRt.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

Frame = tuple[int, bytes]  # port, bytes of the frame without its checksum


class CommandFailedError(Exception):
    """A control command was answered with an error."""

    def __init__(self, error: dict[str, str]) -> None:
        super().__init__(f"{error['code']}: {error['message']}")
        self.code = error["code"]
        self.message = error["message"]


class Target(Protocol):
    def send(self, port: int, frame: bytes) -> list[Frame]:
        """All frames that leave the switch because of this one, in no particular order."""

    def command(self, name: str, **arguments: Any) -> Any:
        """One control command's result; raises CommandFailedError."""

    def close(self) -> None:
        """Ends what runs for this target."""


def result_of(answer: dict[str, Any]) -> Any:
    if not answer["ok"]:
        raise CommandFailedError(answer["error"])
    return answer["result"]


def trace_options(trace: str | None) -> list[str]:
    """Of p4run and softswitch; None: no trace."""
    return [] if trace is None else ["--trace", trace]


class MemoryTarget:
    """p4run: JSON lines over pipes. With a filter for `trace` it writes traces to standard error,
    which pytest shows where a test fails.
    """

    def __init__(
        self, runner: Path, program: Path, trace: str | None = None, options: Sequence[str] = ()
    ) -> None:
        self._process = subprocess.Popen(
            [runner, "--program", program, *trace_options(trace), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def command(self, name: str, **arguments: Any) -> Any:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"id": 1, "command": name, "args": arguments}
        with contextlib.suppress(BrokenPipeError):  # then it answers nothing either
            self._process.stdin.write(json.dumps(request) + "\n")
            self._process.stdin.flush()
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"p4run ended with status {self._process.wait()} in '{name}'")
        return result_of(json.loads(line))

    def send(self, port: int, frame: bytes, now_ns: int = 0) -> list[Frame]:
        """now_ns: the switch's clock, which meters read."""
        frames = self.command("inject", port=port, data=frame.hex(), now_ns=now_ns)["frames"]
        return [(out["port"], bytes.fromhex(out["data"])) for out in frames]

    def kill(self) -> None:
        self._process.kill()

    def close(self) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        status = self._process.wait(timeout=20)
        self._process.stdout.close()
        assert status == 0
