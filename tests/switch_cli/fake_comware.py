"""A switch that talks as Comware 7 does, behind a real SSH server on loopback.

No switch has been asked. How maps are shown is from a manual (HPE FlexFabric 5900, ACL and QoS);
how trust and scheduling of a port are shown is assumed. It keeps the maps, and both of each port.
"""

from __future__ import annotations

import re
import socket
import threading
from dataclasses import dataclass, field

import paramiko

NAME = "tor-1"
USER, PASSWORD = "admin", "not for the log"
PORTS = ("Ten-GigabitEthernet1/0/1", "Ten-GigabitEthernet1/0/2")
BANNER = "\r\n*** Copyright (c) 2010-2026 of a vendor ***\r\n\r\n"
PAGE_ROWS = 5
UNKNOWN = " ^\n % Unrecognized command found at '^' position."
WRONG = " ^\n % Wrong parameter found at '^' position."


def _defaults() -> dict[str, dict[int, int]]:
    """Of a switch as it is sold."""
    return {
        "dot1p-lp": {0: 2, 1: 0, 2: 1, 3: 3, 4: 4, 5: 5, 6: 6, 7: 7},
        "dscp-dot1p": {dscp: dscp // 8 for dscp in range(64)},
    }


@dataclass
class FakeComware:
    """`refused`: a line -> what is said in place of doing it. `ignored`: lines that are taken, and
    do nothing. `lost_after`: the connection ends when this line has come. `silent_after`: it is not
    answered. `paged`: screen-length disable has no effect. `dripping`: a byte at a time.
    """

    maps: dict[str, dict[int, int]] = field(default_factory=_defaults)
    trust: dict[str, str] = field(default_factory=lambda: dict.fromkeys(PORTS, "untrust"))
    scheduling: dict[str, str] = field(
        default_factory=lambda: dict.fromkeys(PORTS, "Weighted Round Robin queuing")
    )
    refused: dict[str, str] = field(default_factory=dict)
    ignored: tuple[str, ...] = ()
    lost_after: str = ""
    silent_after: str = ""
    paged: bool = False
    dripping: bool = False
    saved: bool = False
    received: list[str] = field(default_factory=list)
    view: str = ""  # "": the login's; "system", or what was entered

    @property
    def prompt(self) -> str:
        if not self.view:
            return f"<{NAME}>"
        short = "" if self.view == "system" else "-" + self.view.rpartition(" ")[2]
        return f"[{NAME}{short}]"

    def answer(self, line: str) -> str:
        if line in self.refused:
            return self.refused[line]
        if line in self.ignored:
            return ""
        for pattern, does in self._COMMANDS.items():
            if found := re.fullmatch(pattern, line):
                return does(self, *found.groups())
        return UNKNOWN

    def _screen_length(self) -> str:
        return ""

    def _system_view(self) -> str:
        if self.view:
            return UNKNOWN
        self.view = "system"
        return "System View: return to User View with Ctrl+Z."

    def _enter(self, view: str) -> str:
        if not self.view:
            return UNKNOWN
        if view.removeprefix("interface ") not in PORTS and view[14:] not in self.maps:
            return WRONG
        self.view = view
        return ""

    def _quit(self) -> str:
        self.view = "system"
        return ""

    def _return(self) -> str:
        if not self.view:
            return UNKNOWN
        self.view = ""
        return ""

    def _import(self, key: str, value: str) -> str:
        table = self.maps.get(self.view.removeprefix("qos map-table "))
        if table is None or int(key) not in table:
            return WRONG
        table[int(key)] = int(value)
        return ""

    def _trust(self, mode: str) -> str:
        self.trust[self.view.removeprefix("interface ")] = mode
        return ""

    def _untrust(self) -> str:
        return self._trust("untrust")

    def _strict(self) -> str:
        self.scheduling[self.view.removeprefix("interface ")] = "Strict Priority queuing"
        return ""

    def _weighted(self) -> str:
        self.scheduling[self.view.removeprefix("interface ")] = "Weighted Round Robin queuing"
        return ""

    def _show_map(self, name: str) -> str:
        rows = [f"   {key:<5}:    {value}" for key, value in self.maps[name].items()]
        head = f"MAP-TABLE NAME: {name}   TYPE: pre-define"
        return "\n".join([head, "IMPORT  :  EXPORT", *rows])

    def _show_trust(self, port: str) -> str:
        if port not in PORTS:
            return WRONG
        return (
            f"Interface: {port}\n Port priority trust information\n  Priority: 0\n"
            f"  Trust type: {self.trust[port]}"
        )

    def _show_scheduling(self, port: str) -> str:
        return f"Interface: {port}\n Output queue: {self.scheduling[port]}"

    def _save(self) -> str:
        self.saved = True
        return "Validating file. Please wait...\nSaved the current configuration successfully."

    _COMMANDS = {  # noqa: RUF012 - a field of a dataclass may be annotated only
        r"screen-length disable": _screen_length,
        r"system-view": _system_view,
        r"(qos map-table \S+|interface \S+)": _enter,
        r"quit": _quit,
        r"return": _return,
        r"import (\d+) export (\d)": _import,
        r"qos trust (dscp|dot1p)": _trust,
        r"undo qos trust": _untrust,
        r"qos sp": _strict,
        r"undo qos sp": _weighted,
        r"display qos map-table (\S+)": _show_map,
        r"display qos trust interface (\S+)": _show_trust,
        r"display qos sp interface (\S+)": _show_scheduling,
        r"save force": _save,
    }


class _Authentication(paramiko.ServerInterface):
    def check_auth_password(self, username: str, password: str) -> int:
        right = (username, password) == (USER, PASSWORD)
        return paramiko.AUTH_SUCCESSFUL if right else paramiko.AUTH_FAILED

    def get_allowed_auths(self, username: str) -> str:
        return "password"

    def check_channel_request(self, kind: str, chanid: int) -> int:
        return paramiko.OPEN_SUCCEEDED

    def check_channel_pty_request(self, *_: object) -> bool:
        return True

    def check_channel_shell_request(self, channel: paramiko.Channel) -> bool:
        return True


class SshServer:
    """Serves one switch, session after session, until the block ends."""

    def __init__(self, switch: FakeComware) -> None:
        self.switch = switch
        self.key = paramiko.ECDSAKey.generate()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._transports: list[paramiko.Transport] = []
        self._thread = threading.Thread(target=self._serve, daemon=True)

    def __enter__(self) -> SshServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for transport in self._transports:
            transport.close()
        self._thread.join()

    def known_hosts_line(self, key: paramiko.PKey | None = None) -> str:
        shown = key or self.key
        return f"[127.0.0.1]:{self.port} {shown.get_name()} {shown.get_base64()}\n"

    def _serve(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            transport = paramiko.Transport(connection)
            self._transports.append(transport)
            transport.add_server_key(self.key)
            try:
                transport.start_server(server=_Authentication())
            except (paramiko.SSHException, EOFError, OSError):
                continue
            channel = None
            while channel is None and transport.is_active():
                channel = transport.accept(0.1)
            if channel is not None:
                self._talk(channel)
            transport.close()

    def _talk(self, channel: paramiko.Channel) -> None:
        switch, buffered = self.switch, b""
        switch.view = ""
        self._say(channel, BANNER + switch.prompt)
        while chunk := channel.recv(4096):
            buffered += chunk
            while b"\n" in buffered:
                raw, buffered = buffered.split(b"\n", 1)
                line = raw.decode().strip()
                switch.received.append(line)
                if line == switch.lost_after:
                    return
                if line == switch.silent_after:
                    self._say(channel, f"{line}\r\n")
                    continue
                answer = switch.answer(line)
                self._say(channel, f"{line}\r\n")
                self._show(channel, answer)
                self._say(channel, switch.prompt)

    def _show(self, channel: paramiko.Channel, answer: str) -> None:
        rows = answer.splitlines()
        for number, row in enumerate(rows, 1):
            self._say(channel, f"{row}\r\n")
            if self.switch.paged and number % PAGE_ROWS == 0 and number < len(rows):
                self._say(channel, "---- More ----")
                assert channel.recv(1) == b" "
                self._say(channel, "\x1b[16D" + 16 * " " + "\x1b[16D")

    def _say(self, channel: paramiko.Channel, text: str) -> None:
        size = 1 if self.switch.dripping else len(text)
        for begin in range(0, len(text), size or 1):
            channel.sendall(text[begin : begin + size].encode())
