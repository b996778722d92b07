"""One change of a testbed at a time.

A killed playbook can leave its module running for a moment: whoever comes next must wait for it.
The lock is an abstract Unix socket: it leaves no file and is free as soon as its holder is gone,
however it went.
"""

from __future__ import annotations

import errno
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import TestbedError

_INTERVAL_S = 0.05


@contextmanager
def held(testbed: str, deadline_s: float) -> Iterator[None]:
    """Runs the body alone; an error if another one has the testbed for longer than `deadline_s`."""
    limit = time.monotonic() + deadline_s
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as lock:
        while not _take(lock, testbed):
            if time.monotonic() > limit:
                raise TestbedError(
                    f"testbed {testbed!r} is being changed by another process for more than "
                    f"{deadline_s:g} s; expected it to finish. Look for a playbook that hangs: "
                    f"ss --unix --processes | grep turntable-{testbed}"
                )
            time.sleep(_INTERVAL_S)  # waits: interval of a probe with a deadline
        yield


def _take(lock: socket.socket, testbed: str) -> bool:
    try:
        lock.bind(f"\0turntable-{testbed}")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise
    return True
