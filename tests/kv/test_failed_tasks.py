"""A relay that breaks off in the cache-controller is counted and told, not lost in silence."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import socket
import struct
import time
from pathlib import Path

from turntable_bench.handshake import MAC_BYTES, MAGIC, NONCE_BYTES, SECRET

from .conftest import ADDRESS
from .nodes import running

DEADLINE_S = 60
HOT = 0x02
# The answer to HOT names an admission beside each key, and no message may have more than 64 MiB
# (src/messages/message.h): so many keys fit the question, but not its answer.
KEYS = 2_600_000
A_KEY = b"\xff" * 16 + struct.pack(">BIH", 0, 0, 0)  # of no partition, so that no server is asked


def test_a_task_that_fails_is_counted_and_says_why(build_dir: Path, tmp_path: Path) -> None:
    with socket.create_server((ADDRESS, 0)) as agent:
        agent.settimeout(DEADLINE_S)
        with running(
            build_dir / "bin/cache-controller", tmp_path, "--address", ADDRESS, "--port", "0"
        ) as controller:
            port = agent.getsockname()[1]
            controller.call(
                "configure", method="netcache", scale=4, agent_address=ADDRESS, agent_port=port
            )
            assert controller.call("stats")["failed_tasks"] == 0
            channel, _ = agent.accept()
            with channel:
                channel.settimeout(DEADLINE_S)
                _admit(channel)
                channel.sendall(_hot(KEYS))
                end = time.monotonic() + DEADLINE_S
                while (stats := controller.call("stats"))["failed_tasks"] == 0:
                    assert time.monotonic() < end, stats
                    time.sleep(0.05)  # waits: interval of a probe with a deadline
            assert stats["failed_tasks"] == 1
            told = r"HOT of 70\d{6} bytes; at most 67108864 can be sent"
            assert re.fullmatch(told, stats["last_failed_task"])


def _hot(keys: int) -> bytes:
    """Without a text and numbers, for no store."""
    body = struct.pack(">BIIHII", HOT, 1, 0, 0, 0, keys) + A_KEY * keys
    return struct.pack(">I", len(body)) + body


def _admit(channel: socket.socket) -> None:
    """The listening end of the handshake (src/net/handshake.h), for whoever connects."""
    ours = secrets.token_bytes(NONCE_BYTES)
    channel.sendall(MAGIC + ours)
    stream = channel.makefile("rb")
    theirs = stream.read(len(MAGIC) + NONCE_BYTES)[len(MAGIC) :]
    length = stream.read(1)
    identity = length + stream.read(length[0] + 16 + 8 + 4)
    stream.read(MAC_BYTES)
    proof = hmac.new(SECRET.encode(), b"listener" + ours + theirs + identity, hashlib.sha256)
    channel.sendall(proof.digest())
