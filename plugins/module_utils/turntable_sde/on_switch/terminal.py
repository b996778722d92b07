"""Types commands into the CLI of bf_switchd, one at a time, each after the prompt that ends the
last one's output.
"""

import socket
import time

from .common import Refused

# How prompts end, by the node of the CLI.
SHELL, UCLI = "bfshell> ", "bf-sde"


class Terminal:
    """A dialogue over `send(bytes)` and `receive(seconds) -> bytes`, b"" when the other end has
    closed.
    """

    def __init__(self, send, receive, deadline_s):
        self._send, self._receive, self._deadline_s = send, receive, deadline_s
        self._unread = ""

    def command(self, line, prompt):
        """What is said until the prompt, without the echo of the line."""
        self._send((line + "\n").encode())
        said = self.until(prompt, line).replace("\r\n", "\n").lstrip("\n")
        first, _, rest = said.partition("\n")
        return rest if first.strip() == line else said

    def until(self, prompt, line="connecting"):
        end = time.monotonic() + self._deadline_s
        while not self._at(prompt):
            left = end - time.monotonic()
            if left <= 0:
                raise Refused(
                    "the CLI gave no prompt %r within %s s after %r; expected one. Has "
                    "somebody left a bfshell open in ucli? It holds a lock. The last it said: %r"
                    % (prompt, self._deadline_s, line, self._unread[-200:])
                )
            data = self._receive(left)
            if data == b"":
                raise Refused(
                    "the CLI closed the session after %r; expected prompt %r. Its output is "
                    "cut short: %r" % (line, prompt, self._unread[-200:])
                )
            if data:
                self._unread += data.decode(errors="replace")
        said, self._unread = self._unread, ""
        return said.rpartition("\n")[0] if "\n" in said else ""

    def _at(self, prompt):
        last = self._unread.rpartition("\n")[2]
        return last.startswith(prompt) and last.endswith("> ")


def talk(terminal, commands):
    """What was said to each of these commands of `pm`."""
    terminal.until(SHELL)
    terminal.command("ucli", UCLI)
    terminal.command("pm", UCLI)
    said = [terminal.command(command, UCLI) for command in commands]
    terminal.command("exit", SHELL)
    return said


def run(commands, port, deadline_s, check):
    """On the switch itself: it is the CLI's client, as bfshell is. None: there is no CLI, and
    nothing is to be changed.
    """
    try:
        connection = socket.create_connection(("127.0.0.1", port), timeout=5)
    except OSError as error:
        if check:
            return None
        raise Refused("the CLI at port %d: %s; expected a bf_switchd that is ready" % (port, error))

    def receive(seconds):
        connection.settimeout(seconds)
        try:
            return connection.recv(65536)
        except socket.timeout:
            return None

    with connection:
        return talk(Terminal(connection.sendall, receive, deadline_s), commands)
