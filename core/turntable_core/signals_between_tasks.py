"""A signal that comes while Ansible begins a task.

For an instant its list of tasks' processes holds one that it has closed. Its own handler asks that
one whether it lives, which raises ValueError, as does all that Ansible does to end after that: the
playbook would say "this is probably a bug" and end with status 250.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

# That instant is shorter.
AGAIN_S = 0.01

Handler = Callable[[int, FrameType | None], None]


def hand_on(number: int, frame: FrameType | None, handler: Handler) -> threading.Timer | None:
    """Calls Ansible's handler; where it cannot do its work yet, this process gets the signal again
    a moment later: what is returned does that.
    """
    before = signal.getsignal(number)
    try:
        handler(number, frame)
    except ValueError:
        signal.signal(number, before)  # Ansible's handler begins with taking it away
        timer = threading.Timer(AGAIN_S, os.kill, (os.getpid(), number))
        timer.daemon = True
        timer.start()
        return timer
    return None
