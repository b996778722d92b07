"""A signal that comes while Ansible begins a task.

For an instant its list of tasks' processes holds one that it has closed. Its own handler asks that
one whether it lives, which raises ValueError, as does all that Ansible does to end after that: the
playbook would say "this is probably a bug" and end with status 250. A moment later the list holds
one that has begun, but is not known to have: the handler passes it over, and it would go on alone.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from multiprocessing.process import BaseProcess
from types import FrameType

# Those instants are shorter.
AGAIN_S = 0.01

Handler = Callable[[int, FrameType | None], None]


def hand_on(number: int, frame: FrameType | None, handler: Handler) -> threading.Timer | None:
    """Calls Ansible's handler; where it cannot do its work yet, this process gets the signal again
    a moment later: what is returned does that.
    """
    if _begins_a_process(frame):
        return _again(number)
    before = signal.getsignal(number)
    try:
        handler(number, frame)
    except ValueError:
        signal.signal(number, before)  # Ansible's handler begins with taking it away
        return _again(number)
    return None


def _begins_a_process(frame: FrameType | None) -> bool:
    while frame is not None and frame.f_code is not BaseProcess.start.__code__:
        frame = frame.f_back
    return frame is not None


def _again(number: int) -> threading.Timer:
    timer = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
    timer.daemon = True
    timer.start()
    return timer
