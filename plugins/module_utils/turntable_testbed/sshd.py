"""An sshd of its own for each host of an embedded testbed: reached as a machine of a rack is.

It listens on the host's control address only and accepts only the controller's key. Nothing of the
machine's own /etc/ssh is read. Configuration, host key, log and process id are in `directory`.
"""

from __future__ import annotations

import os
import select
import shutil
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import namespaces
from .errors import TestbedError

# Names of OpenSSH's server processes: since 9.8 and 10.0 a connection is served by programs of
# their own.
PROGRAMS = ("sshd", "sshd-session", "sshd-auth")

_SEARCH_PATH = "/usr/sbin:/usr/local/sbin:/sbin"
# sshd refuses to start without it; the machine's own sshd has the same one.
_PRIVILEGE_SEPARATION_DIRECTORY = Path("/run/sshd")
_START_DEADLINE_S = 10.0
_INTERVAL_S = 0.01

_CONFIG = """\
# Written by testbed_up (plugins/module_utils/turntable_testbed/sshd.py).
AddressFamily inet
ListenAddress {address}
Port {port}
PidFile {directory}/pid
HostKey {directory}/host_key

AllowUsers {user}
AuthenticationMethods publickey
AuthorizedKeysFile {directory}/authorized_keys
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UsePAM {use_pam}

DisableForwarding yes
PermitUserRC no
PrintMotd no
UseDNS no
Subsystem sftp internal-sftp

# bash reads ~/.bashrc for every command of an ssh connection, unless it believes to be run by a
# shell. What a user keeps there for a terminal can cost more than the command.
SetEnv SHLVL=1

# The controller opens many sessions at once: of one connection, and from several playbooks.
MaxSessions 100
MaxStartups 100
"""


@dataclass(frozen=True)
class Server:
    """The sshd of one host; `user` is who may log in."""

    host: str
    namespace: str
    address: str
    port: int
    user: str
    directory: Path

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Server:
        return cls(**{**value, "directory": Path(value["directory"])})

    @property
    def configuration(self) -> Path:
        return self.directory / "sshd_config"

    @property
    def host_key(self) -> Path:
        return self.directory / "host_key"

    def public_key(self) -> str:
        """`ssh-ed25519 AAAA…`, without the comment."""
        words = self.host_key.with_suffix(".pub").read_text(encoding="ascii").split()
        return " ".join(words[:2])


def converge(servers: list[Server], authorized_key: Path, check_mode: bool) -> list[str]:
    """Every server runs with its configuration; returns what was done, or in check mode would be.

    authorized_key: file with the public key that may log in; need not exist yet in check mode.
    """
    steps = []
    for server in servers:
        wanted = _files(server, authorized_key)
        different = [path for path, text in wanted.items() if _text(path) != text]
        process = _process(server)
        restart = process is not None and server.configuration in different
        if not server.host_key.exists():
            steps.append(f"{server.host}: make a host key")
        steps += [f"{server.host}: write {path}" for path in different]
        if process is None or restart:
            verb = "restart" if restart else "start"
            steps.append(f"{server.host}: {verb} sshd on {server.address}:{server.port}")
        if not check_mode:
            _make_files(server, {path: wanted[path] for path in different})
            if restart:
                _end(process)
            if process is None or restart:
                _start(server)
    return steps


def _files(server: Server, authorized_key: Path) -> dict[Path, str]:
    configuration = _CONFIG.format(
        address=server.address,
        port=server.port,
        directory=server.directory,
        user=server.user,
        use_pam="yes" if _is_locked(server.user) else "no",
    )
    return {
        server.configuration: configuration,
        server.directory / "authorized_keys": _text(authorized_key) or "",
    }


def _make_files(server: Server, texts: dict[Path, str]) -> None:
    server.directory.mkdir(mode=0o755, parents=True, exist_ok=True)
    if not server.host_key.exists():
        _run(
            "ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", server.host, "-f", server.host_key
        )
    for path, text in texts.items():
        path.write_text(text, encoding="utf-8")


def _start(server: Server) -> None:
    _PRIVILEGE_SEPARATION_DIRECTORY.mkdir(mode=0o755, exist_ok=True)
    log = server.directory / "log"

    def start_and_wait() -> None:
        _run(_program(), "-f", server.configuration, "-E", log, log=log)
        limit = time.monotonic() + _START_DEADLINE_S
        while not _answers(server):
            if time.monotonic() > limit:
                raise TestbedError(
                    f"host {server.host}: sshd does not answer on {server.address}:{server.port} "
                    f"after {_START_DEADLINE_S:g} s; expected its greeting. Its log {log} ends "
                    f"with: {_tail(log)}"
                )
            time.sleep(_INTERVAL_S)  # waits: interval of a probe with a deadline

    namespaces.call_inside(namespaces.path_of(server.namespace), start_and_wait)


def _answers(server: Server) -> bool:
    try:
        with socket.create_connection((server.address, server.port), _START_DEADLINE_S) as probe:
            return probe.recv(4) == b"SSH-"
    except OSError:
        return False


def _process(server: Server) -> int | None:
    """Process id of the server, if it runs in its host's namespace."""
    text = (_text(server.directory / "pid") or "").strip()
    if not text.isdigit() or program_of(int(text)) not in PROGRAMS:
        return None
    here = namespaces.inode_of(Path(f"/proc/{text}/ns/net"))
    return int(text) if here == namespaces.inode_of(namespaces.path_of(server.namespace)) else None


def program_of(pid: int) -> str | None:
    """Name of the program that a process runs; None if it has ended."""
    try:
        # An upgraded package leaves "/usr/sbin/sshd (deleted)".
        return Path(Path(f"/proc/{pid}/exe").readlink().name.split(" ", 1)[0]).name
    except OSError:
        return None


def _end(pid: int) -> None:
    """Ends a listening server; open connections go on."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        signal.pidfd_send_signal(handle, signal.SIGTERM)
        select.select([handle], [], [], _START_DEADLINE_S)
    finally:
        os.close(handle)


def _program() -> str:
    program = shutil.which("sshd", path=_SEARCH_PATH)
    if program is None:
        raise TestbedError(
            f"the program sshd is not in {_SEARCH_PATH}; expected Debian's openssh-server. Run: "
            "make setup"
        )
    return program


def _run(*arguments: str | Path, log: Path | None = None) -> None:
    """Runs a program; its output, or the end of `log`, explains a failure."""
    done = subprocess.run(
        [str(argument) for argument in arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        cwd="/",
        env={"PATH": f"{_SEARCH_PATH}:/usr/local/bin:/usr/bin:/bin"},
        check=False,
    )
    if done.returncode != 0:
        raise TestbedError(
            f"{' '.join(map(str, arguments))} ended with status {done.returncode}: "
            f"{done.stderr.strip() or (_tail(log) if log else '')}"
        )


def _is_locked(user: str) -> bool:
    """Whether the account has no usable password: without PAM, sshd refuses its keys as well."""
    for line in Path("/etc/shadow").read_text(encoding="utf-8").splitlines():
        name, password = line.split(":")[:2]
        if name == user:
            return password.startswith("!")
    return False


def _text(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None


def _tail(log: Path) -> str:
    return "; ".join((_text(log) or "nothing").splitlines()[-3:])
