"""A conversation with a switch over SSH: a line is sent, and its answer read up to the prompt."""

from __future__ import annotations

import contextlib
import re
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import paramiko

from turntable_switch_cli.dialogue import Dialogue, plain
from turntable_switch_cli.errors import RefusedError, SwitchCliError

# No answer is wrapped or, where the switch believes it, paged.
_COLUMNS, _ROWS = 500, 1000
_CHUNK_BYTES = 65536
_SHOWN_CHARACTERS = 200  # of an answer, in a message


@dataclass(frozen=True)
class Access:
    """How a switch is reached. Without a password and a key, keys of the agent are tried."""

    switch: str  # its name in the inventory
    address: str
    port: int
    user: str
    known_hosts: Path
    password: str | None = field(default=None, repr=False)
    private_key_file: str | None = None

    @property
    def where(self) -> str:
        return f"{self.switch} ({self.user}@{self.address}, port {self.port})"


class Session:
    """deadline_s: of one line, from its sending to its answer's end, and of each step to log in."""

    def __init__(
        self, channel: paramiko.Channel, dialogue: Dialogue, switch: str, deadline_s: float
    ) -> None:
        self._channel = channel
        self._dialogue = dialogue
        self._switch = switch
        self._deadline_s = deadline_s
        self._name: str | None = None
        self._read("the login", since_login=True)
        for line in dialogue.prepare:
            self.ask(line)

    def ask(self, line: str) -> str:
        """The answer, without the line's echo and the prompt.

        Raises RefusedError if it is an error, SwitchCliError if it does not come.
        """
        self._send(f"{line}\n", f"'{line}'")
        answer = self._read(f"'{line}'").lstrip("\n").removeprefix(line).strip("\n")
        if error := self._dialogue.error_in(answer):
            raise RefusedError(f"{self._switch}: '{line}' was refused: {error}")
        return answer

    def _read(self, after: str, since_login: bool = False) -> str:
        said, pages = "", ""
        end = time.monotonic() + self._deadline_s
        while True:
            said += self._chunk(after, pages + said, end)
            if since_login:
                self._name = self._dialogue.name_in(said)
            if self._name:
                answer = self._dialogue.without_prompt(said, self._name)
                if answer is not None:
                    return pages + answer
            page = self._dialogue.without_pager(said)
            if page is not None:
                pages, said = pages + page, ""
                self._send(self._dialogue.pager_key, after)

    def _send(self, text: str, after: str) -> None:
        try:
            self._channel.sendall(text.encode())
        except OSError as error:
            raise self._lost(after) from error

    def _chunk(self, after: str, so_far: str, end: float) -> str:
        try:
            self._channel.settimeout(max(end - time.monotonic(), 0.001))
            chunk = self._channel.recv(_CHUNK_BYTES)
        except TimeoutError:
            last = plain(so_far)[-_SHOWN_CHARACTERS:].strip() or "nothing"
            raise SwitchCliError(
                f"{self._switch}: no prompt within {self._deadline_s:g} s of {after}; it said "
                f"last: {last!r}. Expected a prompt as {self._dialogue.first_prompt} "
                "(dialogue.yml of the vendor)"
            ) from None
        except OSError as error:
            raise self._lost(after) from error
        if not chunk:
            raise self._lost(after)
        return chunk.decode(errors="replace")

    def _lost(self, after: str) -> SwitchCliError:
        return SwitchCliError(f"{self._switch}: the connection was lost after {after}")


@contextlib.contextmanager
def session_with(access: Access, dialogue: Dialogue, deadline_s: float) -> Iterator[Session]:
    """Raises SwitchCliError if there is no way in."""
    with paramiko.SSHClient() as client:
        _load_known_hosts(client, access)
        client.set_missing_host_key_policy(paramiko.RejectPolicy())
        _log_in(client, access, deadline_s)
        try:
            channel = client.invoke_shell(width=_COLUMNS, height=_ROWS)
        except paramiko.SSHException as error:
            raise SwitchCliError(
                f"{access.where}: the switch gives no command line ({error}); expected one for "
                "this account"
            ) from None
        yield Session(channel, dialogue, access.switch, deadline_s)


def _load_known_hosts(client: paramiko.SSHClient, access: Access) -> None:
    try:
        client.load_host_keys(str(access.known_hosts))
    except OSError as error:
        raise SwitchCliError(
            f"{access.switch}: {access.known_hosts} cannot be read ({error.strerror}); expected "
            f"the switch's host key there. {_advice(access)}"
        ) from error


def _log_in(client: paramiko.SSHClient, access: Access, deadline_s: float) -> None:
    by_agent = access.password is None and access.private_key_file is None
    if access.private_key_file and not Path(access.private_key_file).is_file():
        raise SwitchCliError(
            f"{access.switch}: switch_qos_private_key_file is {access.private_key_file!r}; "
            "expected a file with a private key on the controller"
        )
    try:
        client.connect(
            access.address,
            access.port,
            access.user,
            access.password,
            key_filename=access.private_key_file,
            allow_agent=by_agent,
            look_for_keys=False,
            timeout=deadline_s,
            banner_timeout=deadline_s,
            auth_timeout=deadline_s,
            channel_timeout=deadline_s,
        )
    except paramiko.BadHostKeyException as error:
        raise SwitchCliError(
            f"{access.where}: it shows the host key {error.key.fingerprint}, and "
            f"{access.known_hosts} has {error.expected_key.fingerprint}; expected the same. If the "
            "switch has a new key, replace the line there"
        ) from None
    except paramiko.AuthenticationException as error:
        raise SwitchCliError(
            f"{access.where}: the switch does not let this user in ({error}); expected "
            "switch_qos_user with switch_qos_password or switch_qos_private_key_file of an "
            "account that may configure it"
        ) from None
    except (paramiko.SSHException, OSError) as error:
        raise SwitchCliError(_why_not_reached(access, error)) from None


def _why_not_reached(access: Access, error: Exception) -> str:
    if re.search(r"not found in known_hosts", str(error)):
        return (
            f"{access.where}: its host key is not in {access.known_hosts}; expected a line for it. "
            f"{_advice(access)}"
        )
    what = "no answer in time" if isinstance(error, socket.timeout) else str(error)
    return (
        f"{access.where}: cannot be reached ({what}); expected an SSH server there "
        "(Comware: ssh server enable)"
    )


def _advice(access: Access) -> str:
    port = "" if access.port == 22 else f"-p {access.port} "
    return (
        f"Compare its fingerprint with the switch's own, then: ssh-keyscan {port}{access.address} "
        f">> {access.known_hosts}"
    )
