"""UDP ports for tests."""

from __future__ import annotations

import itertools
import os
import socket

# Below those that the kernel gives to sockets that ask for any (ip_local_port_range): nobody gets
# one between the test's choice and its use.
_FIRST, _COUNT = 20_000, 10_000
_numbers = itertools.count(os.getpid())


def free_port() -> int:
    """A port that nobody uses."""
    for number in itertools.islice(_numbers, _COUNT):
        port = _FIRST + number % _COUNT
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port
    raise RuntimeError(f"no UDP port from {_FIRST} to {_FIRST + _COUNT - 1} is free")
