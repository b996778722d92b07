"""UDP ports for tests."""

from __future__ import annotations

import socket


def free_port() -> int:
    """A port that nobody uses at the moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]
