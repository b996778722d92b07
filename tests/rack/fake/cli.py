"""The command line at port 9999: bfshell's nodes ucli and pm."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator

from .ports import AN, FECS, LOOPBACKS, Port, PortError, Ports

COLUMNS = (
    *("PORT ", "MAC ", "D_P", "P/PT", "SPEED  ", "FEC ", "AN", "KR", "RDY", "ADM", "OPR"),
    *("LPBK    ", "FRAMES RX       ", "FRAMES TX       ", "E"),
)
HEADER = "|".join(COLUMNS)
RULE = "+".join("-" * len(column) for column in COLUMNS)
ROWS_PER_HEADER = 40
USAGE = {
    "port-add": "Usage : port-add <ports> <speed> <fec>",
    "port-del": "Usage : port-del <ports>",
    "port-enb": "Usage : port-enb <ports>",
    "port-dis": "Usage : port-dis <ports>",
    "an-set": "Usage : an-set <ports> <0 | 1 | 2>",
    "port-fec-set": "Usage : port-fec-set <ports> <fec>",
    "port-loopback": "Usage : port-loopback <ports> <mode>",
}
# One user of ucli at a time, on the whole machine.
_ucli = threading.Lock()


class Cli:
    """Of one connection."""

    def __init__(self, connection: socket.socket, ports: Ports, most: int | None) -> None:
        """most: characters, after which it goes away."""
        self._connection, self._ports, self._left = connection, ports, most
        self._nodes: list[str] = []

    def serve(self) -> None:
        try:
            self._write(self._prompt())
            for line in self._connection.makefile("r", newline="\n"):
                self._write(line.rstrip("\r\n") + "\r\n")
                if not self._run(line.split()):
                    return
                self._write(self._prompt())
        except OSError:
            return
        finally:
            self._leave()
            with contextlib.suppress(OSError):
                self._connection.shutdown(socket.SHUT_RDWR)
            self._connection.close()

    def _prompt(self) -> str:
        return f"{'.'.join(self._nodes)}> " if self._nodes else "bfshell> "

    def _write(self, text: str) -> None:
        self._connection.sendall(text[: self._left].encode())
        if self._left is not None:
            self._left -= len(text)
            if self._left <= 0:
                raise BrokenPipeError

    def _leave(self) -> None:
        if self._nodes:
            self._nodes = []
            _ucli.release()

    def _run(self, words: list[str]) -> bool:
        """Whether the session goes on."""
        if not words:
            return True
        if not self._nodes:
            return self._shell(words)
        if words == ["exit"]:
            self._leave()
        elif words == [".."]:
            if len(self._nodes) > 1:
                self._nodes.pop()
        elif words == ["pm"]:
            self._nodes = ["bf-sde", "pm"]
        else:
            command = words[1:] if words[0] == "pm" else words
            if len(self._nodes) == 1 and words[0] != "pm":
                self._write(f"unknown command '{words[0]}'\r\n")
            else:
                for text in self._pm(command):
                    self._write(f"{text}\r\n")
        return True

    def _shell(self, words: list[str]) -> bool:
        if words[0] in ("exit", "quit"):
            return False
        if words == ["ucli"]:
            _ucli.acquire()
            self._nodes = ["bf-sde"]
        elif words[0] != "help":
            self._write(f"% Invalid input: {words[0]}\r\n")
        return True

    def _pm(self, words: list[str]) -> Iterator[str]:
        command, arguments = words[0], words[1:]
        if command == "show":
            yield from self._show(arguments)
            return
        if command not in USAGE:
            yield f"unknown command '{command}'"
            return
        expected = USAGE[command].count("<")
        change = self._change(command, arguments) if len(arguments) == expected else None
        try:
            if change is None:
                raise PortError("Usage")
            names, failed = list(self._ports.names(arguments[0])), None
            done = 0
            for name in names:
                try:
                    change(name)
                    done += 1
                except PortError as error:
                    failed = error
            if failed and not done:
                raise failed
        except PortError as error:
            text = str(error)
            what = {"port-add": "Add", "port-del": "Delete"}.get(command, "Set")
            yield USAGE[command] if text == "Usage" else f"{what} failed {text}"

    def _change(self, command: str, words: list[str]) -> Callable[[str], None] | None:
        ports = self._ports
        if command == "port-add":
            return lambda name: ports.add(name, words[1], words[2])
        if command == "port-del":
            return ports.delete
        if command in ("port-enb", "port-dis"):
            return lambda name: ports.enable(name, command == "port-enb")
        attribute, values = {
            "an-set": ("an", AN),
            "port-fec-set": ("fec", {fec: fec for fec in FECS}),
            "port-loopback": ("loopback", LOOPBACKS),
        }[command]
        value = words[1] if command != "port-fec-set" else words[1].upper()
        if value not in values:
            return None
        return lambda name: ports.set(name, attribute, values[value])

    def _show(self, arguments: list[str]) -> Iterator[str]:
        rows = self._ports.rows(added_only="-a" not in arguments)
        if "-p" in arguments:
            chosen = set(self._ports.names(arguments[arguments.index("-p") + 1]))
            rows = [(name, port) for name, port in rows if name in chosen]
        for number, (name, port) in enumerate(rows):
            if number % ROWS_PER_HEADER == 0:
                yield from (RULE, HEADER, RULE)
            yield self._row(name, port)

    def _row(self, name: str, port: Port | None) -> str:
        place = self._ports.board[name]
        up = port is not None and self._ports.is_up(port)
        frames = 1000 if up else 0
        cells = [
            f"{name:<5}",
            place["mac"],
            f"{place['dev_port']:>3}",
            place["place"],
            f"{port.speed if port else '-----':<7}",
            {"NONE": "NONE", "FC": " FC ", "RS": " RS "}[port.fec] if port else "----",
            port.an if port else "--",
            "Au" if port else "--",
            "YES" if self._ports.has_cable(name) else "NO ",
            "ENB" if port and port.enabled_at is not None else "DIS",
            "UP " if up else "DWN",
            "  NONE  " if not port or port.loopback == "NONE" else f"{port.loopback:<8}",
            f"{frames:>16}",
            f"{frames:>16}",
            " ",
        ]
        return "|".join(cells)
