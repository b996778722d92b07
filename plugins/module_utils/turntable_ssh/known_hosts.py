"""Which key a host is known by. Only ed25519 keys, the type that every OpenSSH since 6.5 has."""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

KEY_TYPE = "ssh-ed25519"
_SSH_PORT = 22


class HostKeyError(Exception):
    """Hosts that cannot be known: silent, changed, or given a key that is none."""


@dataclass(frozen=True)
class Host:
    """`key` is set if it is known beforehand: `ssh-ed25519 AAAA…`, perhaps with a comment."""

    name: str
    address: str
    port: int = _SSH_PORT
    key: str | None = None

    @property
    def pattern(self) -> str:
        """How known_hosts calls it (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT)."""
        return self.address if self.port == _SSH_PORT else f"[{self.address}]:{self.port}"


@dataclass(frozen=True)
class Decision:
    """The key a host is known by; `source` is given, known, new or changed."""

    host: Host
    key: str
    source: str


def decide(
    hosts: Iterable[Host], known: dict[str, str], shown: dict[str, str], accept_changed: set[str]
) -> list[Decision]:
    """known: what the file says; shown: what the hosts answered, both by pattern.

    accept_changed: names of hosts that may have another key than before.
    """
    decisions, problems = [], []
    for host in hosts:
        try:
            decisions.append(_decide(host, known, shown, host.name in accept_changed))
        except HostKeyError as error:
            problems.append(str(error))
    if problems:
        raise HostKeyError("\n".join(problems))
    return decisions


def _decide(
    host: Host, known: dict[str, str], shown: dict[str, str], accept_changed: bool
) -> Decision:
    if host.key:
        return Decision(host, _key_of(host), "given")
    key, before = shown.get(host.pattern), known.get(host.pattern)
    if key is None:
        raise HostKeyError(
            f"host {host.name}: no {KEY_TYPE} key from {host.address} port {host.port}; expected "
            f"an sshd that shows one. Is the host up? See: ssh-keyscan -p {host.port} "
            f"{host.address}"
        )
    if before in (None, key):
        return Decision(host, key, "new" if before is None else "known")
    if not accept_changed:
        raise HostKeyError(
            f"host {host.name}: its key is {fingerprint(key)}; expected {fingerprint(before)} as "
            "before. If it was installed anew, and only then, run this again with "
            f"-e ssh_access_accept_changed={host.name}; otherwise another machine answers there"
        )
    return Decision(host, key, "changed")


def _key_of(host: Host) -> str:
    words = host.key.split()
    if len(words) < 2 or words[0] != KEY_TYPE or not _is_base64(words[1]):
        raise HostKeyError(
            f"host {host.name}: turntable_ssh_host_key {host.key!r} is no key; expected a line as "
            f"in its /etc/ssh/ssh_host_ed25519_key.pub: {KEY_TYPE} AAAA…"
        )
    return " ".join(words[:2])


def _is_base64(text: str) -> bool:
    try:
        return bool(base64.b64decode(text, validate=True))
    except binascii.Error:
        return False


def parse(text: str) -> dict[str, str]:
    """Pattern -> key of the lines of a known_hosts file that this module writes, or of
    ssh-keyscan.
    """
    lines = (line.split() for line in text.splitlines() if not line.startswith("#"))
    return {
        words[0]: " ".join(words[1:3])
        for words in lines
        if len(words) >= 3 and words[1] == KEY_TYPE
    }


def render(decisions: Iterable[Decision]) -> str:
    return "".join(f"{decision.host.pattern} {decision.key}\n" for decision in decisions)


def fingerprint(key: str) -> str:
    """As `ssh-keygen -l` prints it."""
    digest = hashlib.sha256(base64.b64decode(key.split()[1])).digest()
    return "SHA256:" + base64.b64encode(digest).decode().rstrip("=")


def scan_batches(hosts: Iterable[Host]) -> list[tuple[int, list[str]]]:
    """(port, addresses): ssh-keyscan asks many hosts at once, but on one port."""
    batches: dict[int, list[str]] = {}
    for host in hosts:
        batches.setdefault(host.port, []).append(host.address)
    return list(batches.items())
