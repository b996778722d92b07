"""A namespace with the links that an example's tests expect, and `p4soft run` in it."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from .examples import CPU_PORT, Example

REPOSITORY = Path(__file__).resolve().parents[2]
END_DEADLINE_S = 20
MTU = 9000


class SwitchError(Exception):
    """The switch did not come up; why."""


class Links:
    """veth pairs in a network namespace, which is removed on exit."""

    def __init__(self, ports: dict[int, tuple[str, str]]) -> None:
        self.ports = ports
        self.namespace = f"ptf{os.getpid()}-{secrets.token_hex(3)}"

    def __enter__(self) -> Self:
        _ip("netns", "add", self.namespace)
        try:
            self._run("sysctl", "-qw", "net.ipv6.conf.all.disable_ipv6=1")
            self._run("sysctl", "-qw", "net.ipv6.conf.default.disable_ipv6=1")
            self._run("ip", "link", "set", "lo", "up")
            for ends in self.ports.values():
                self._run("ip", "link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
                for end in ends:
                    self._run("ip", "link", "set", end, "mtu", str(MTU), "up")
                    self._run("ethtool", "-K", end, "tx", "off")
        except BaseException:
            _ip("netns", "del", self.namespace)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        _ip("netns", "del", self.namespace)

    def inside(self, *command: str | Path) -> list[str]:
        """A command as it is run in the namespace."""
        return ["ip", "netns", "exec", self.namespace, *map(str, command)]

    def _run(self, *command: str) -> None:
        subprocess.run(self.inside(*command), check=True, capture_output=True)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], check=True, capture_output=True)


class Switch:
    """`p4soft run` of an example, until exit. Raises SwitchError."""

    def __init__(self, example: Example, links: Links, directory: Path) -> None:
        ports = [
            word
            for port, (interface, _) in links.ports.items()
            for word in ("--cpu-port" if port == CPU_PORT else "--port", f"{port}={interface}")
        ]
        self._command = links.inside(
            sys.executable, "-m", "p4soft", "run", example.program,
            "-I", example.include, "-D", "__TARGET_TOFINO__=1", "--p4runtime", "off",
            "--pipes", str(example.pipes), *ports,
        )  # fmt: skip
        self._log = directory / f"{example.name}.switch.log"

    def __enter__(self) -> Self:
        with self._log.open("w") as errors:
            self._process = subprocess.Popen(
                self._command,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
                env=os.environ | {"PYTHONPATH": str(REPOSITORY / "src")},
            )
        assert self._process.stdout is not None
        for line in self._process.stdout:
            if line.startswith("forwarding"):
                return self
        self._process.wait()
        said = self._log.read_text().splitlines() or ["nothing"]
        raise SwitchError(f"p4soft run: {next((x for x in said if 'error' in x), said[-1])}")

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._process.send_signal(signal.SIGINT)
        self._process.communicate(timeout=END_DEADLINE_S)
