"""The secret of a run, and the connecting end of the handshake that proves it
(src/net/handshake.h).
"""

from __future__ import annotations

import hashlib
import hmac
import itertools
import secrets
import socket
import struct
import time
from pathlib import Path

MAGIC, NONCE_BYTES, MAC_BYTES = b"TTC1", 32, 32

SECRET = secrets.token_hex(32)
"""Of the nodes that this process starts."""

_connections = itertools.count(1)


def secret_option(directory: Path) -> tuple[str, str]:
    """The option of a node that has control links, with SECRET in a file of `directory`."""
    file = directory / "secret"
    if not file.exists():
        file.touch(mode=0o600)
        file.write_text(SECRET)
    return "--secret", str(file)


def prove(channel: socket.socket, secret: str, node: str) -> None:
    """Proves to the listener that `node` belongs to the run, and has it prove the same.

    Raises ConnectionError when either does not.
    """
    challenge = _read(channel, len(MAGIC) + NONCE_BYTES)
    if not challenge.startswith(MAGIC):
        raise ConnectionError("the listener speaks another protocol")
    nonces = challenge[len(MAGIC) :], secrets.token_bytes(NONCE_BYTES)
    identity = struct.pack(
        f">B{len(node)}s16sQI", len(node), node.encode(), bytes(16),
        time.clock_gettime_ns(time.CLOCK_BOOTTIME), next(_connections),
    )  # fmt: skip
    channel.sendall(MAGIC + nonces[1] + identity + _mac(secret, b"connector", *nonces, identity))
    if not hmac.compare_digest(
        _read(channel, MAC_BYTES), _mac(secret, b"listener", *nonces, identity)
    ):
        raise ConnectionError("the listener does not know the secret")


def _mac(secret: str, *texts: bytes) -> bytes:
    return hmac.new(secret.encode(), b"".join(texts), hashlib.sha256).digest()


def _read(channel: socket.socket, size: int) -> bytes:
    data = b""
    while len(data) < size:
        more = channel.recv(size - len(data))
        if not more:
            raise ConnectionError("the listener closed the connection before its proof")
        data += more
    return data
