"""The port manager: a port is absent, added, enabled, and up once its cable's other end agrees."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from .machine import Machine

SPEEDS = {"1G": 1, "10G": 1, "25G": 1, "40G": 4, "50G": 2, "100G": 4}  # -> lanes
FECS = ("NONE", "FC", "RS")
AN = {"0": "Au", "1": "En", "2": "Ds"}
LOOPBACKS = {
    "clear": "NONE",
    "mac-near": "Mac-near",
    "mac-far": "Mac-far",
    "pcs-near": "Pcs-near",
    "serdes-near": "Ser-near",
}
ALREADY_EXISTS = "Already exists (4)"
INVALID = "Invalid arguments (3)"
NOT_FOUND = "Object not found (6)"


class PortError(Exception):
    """With the driver's error text and code."""


@dataclass
class Port:
    name: str
    speed: str
    fec: str
    an: str = "Au"
    loopback: str = "NONE"
    enabled_at: float | None = None
    dev_port: int = -1


class Ports:
    """Of one bf_switchd: they are gone when it ends."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._lock = threading.Lock()
        self._ports: dict[str, Port] = {}
        if machine.has("port_already_exists"):
            # Somebody's leftover: not shown before one tries to add it.
            self._hidden = set(machine.settings["board"])
        else:
            self._hidden = set()

    @property
    def board(self) -> dict[str, dict[str, Any]]:
        return self._machine.settings["board"]

    def names(self, text: str) -> Iterator[str]:
        """Ports that `text` means: 1/0, 1/-, -/-, 3-6/0."""
        match = re.fullmatch(r"(-|\d+|\d+-\d+)/(-|\d)", text)
        if not match:
            raise PortError("Usage")
        connector, channel = match.groups()
        for name in self.board:
            its_connector, its_channel = name.split("/")
            if channel not in ("-", its_channel) or not _within(int(its_connector), connector):
                continue
            yield name

    def add(self, name: str, speed: str, fec: str) -> None:
        speed = speed.upper() if speed.upper().endswith("G") else f"{speed}G"
        if speed not in SPEEDS or fec.upper() not in FECS or fec not in (fec.upper(), fec.lower()):
            raise PortError(INVALID)
        with self._lock:
            if name in self._ports or name in self._hidden:
                self._hidden.discard(name)
                self._ports.setdefault(name, self._new(name, "10G", "NONE"))
                raise PortError(ALREADY_EXISTS)
            self._ports[name] = self._new(name, speed, fec.upper())
            if self._machine.has("readback_differs"):
                self._ports[name].fec = "NONE" if fec.upper() == "RS" else "RS"

    def _new(self, name: str, speed: str, fec: str) -> Port:
        return Port(name, speed, fec, dev_port=self.board[name]["dev_port"])

    def added(self) -> list[Port]:
        with self._lock:
            return list(self._ports.values())

    def delete(self, name: str) -> None:
        with self._lock:
            if self._ports.pop(name, None) is None:
                raise PortError(NOT_FOUND)

    def enable(self, name: str, on: bool) -> None:
        """Of a port that was never added: nothing, and nothing is said."""
        with self._lock:
            port = self._ports.get(name)
            if port and on and port.enabled_at is None:
                port.enabled_at = time.monotonic()
            elif port and not on:
                port.enabled_at = None

    def set(self, name: str, attribute: str, value: str) -> None:
        with self._lock:
            port = self._ports.get(name)
            if port is None:
                raise PortError(NOT_FOUND)
            if attribute in ("fec", "loopback") and port.enabled_at is not None:
                raise PortError("In use (24)")
            setattr(port, attribute, value)

    def rows(self, added_only: bool = True) -> list[tuple[str, Port | None]]:
        with self._lock:
            return [
                (name, self._ports.get(name))
                for name in self.board
                if name in self._ports or not added_only
            ]

    def has_cable(self, name: str) -> bool:
        return name in self._machine.settings["cables"]

    def is_up(self, port: Port) -> bool:
        if port.enabled_at is None or self._machine.has("port_never_up"):
            return False
        if port.loopback != "NONE":
            return True
        cable = self._machine.settings["cables"].get(port.name)
        agree = cable is not None and (port.speed, port.fec) == (cable["speed"], cable["fec"])
        waited = time.monotonic() - port.enabled_at
        return agree and waited >= self._machine.settings["link_delay_s"]


def _within(number: int, text: str) -> bool:
    if text == "-":
        return True
    first, _, last = text.partition("-")
    return int(first) <= number <= int(last or first)
