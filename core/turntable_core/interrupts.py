"""Ctrl-C that ends a playbook, always.

Ansible answers SIGINT by raising KeyboardInterrupt wherever its main process happens to be, and by
ending the processes of its tasks. Both can go wrong, and a playbook of short tasks meets either
soon (seen with such a playbook: 13 interrupts of 80 without effect, one playbook of 60 that hung):

- Within a hook of the interpreter (after a fork, `__del__`, the end of a weak reference) whatever
  is raised is ignored: the playbook goes on as if nothing had been said.
- A task's process may die while it has the lock of the queue of results, for which the main process
  then waits.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable
from types import FrameType

from turntable_core.signals_between_tasks import hand_on

# What Ansible does between an interrupt and its end takes less than a tenth of that.
ENDING_S = 5.0
# What Ansible ends with after an interrupt.
INTERRUPTED = 99


class Interrupts:
    """Remembers SIGINT, which goes to the handler that was there before, and ends this process
    ENDING_S later if that did not.
    """

    def __init__(self, before_end: Callable[[], None]) -> None:
        """before_end: called if it has to be ended, which runs no handler of `atexit`."""
        self._before_end = before_end
        self._interrupted = False
        self._again: threading.Timer | None = None
        self._process = os.getpid()
        self._handler = signal.getsignal(signal.SIGINT)
        if callable(self._handler):  # else it is ignored or ends the process, and is not lost
            signal.signal(signal.SIGINT, self._handle)

    def raise_again(self) -> None:
        """KeyboardInterrupt, if there was one and the main thread goes on regardless."""
        if self._interrupted and threading.current_thread() is threading.main_thread():
            if self._again:
                self._again.cancel()
            raise KeyboardInterrupt

    def _handle(self, number: int, frame: FrameType | None) -> None:
        if os.getpid() != self._process:  # a fork for a task that has not begun yet
            os._exit(INTERRUPTED)
        self._interrupted = True
        timer = threading.Timer(ENDING_S, self._end)
        timer.daemon = True
        timer.start()
        self._again = hand_on(number, frame, self._handler)

    def _end(self) -> None:
        text = f"interrupted; Ansible did not end of itself within {ENDING_S:g} s, and was ended"
        print(text, file=sys.stderr, flush=True)
        self._before_end()
        os._exit(INTERRUPTED)
