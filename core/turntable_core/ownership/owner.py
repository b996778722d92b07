"""Whose run it is: shown to whoever finds the testbed in use, and what a lease belongs to."""

from __future__ import annotations

import getpass
import json
import os
import socket
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Owner:
    user: str
    controller: str  # host name of the machine on which the playbook runs
    pid: int  # the playbook there
    run: str
    experiment: str
    since_ns: int  # CLOCK_REALTIME of the controller

    def text(self) -> str:
        """As a supervisor keeps it."""
        return json.dumps(asdict(self), sort_keys=True)

    def __str__(self) -> str:
        return f"{self.user}@{self.controller}, run {self.run} ({self.experiment})"


def new_owner(run: str, experiment: str) -> Owner:
    """For an action plugin: Ansible runs those in a child process of the playbook."""
    return Owner(
        user=os.environ.get("SUDO_USER") or getpass.getuser(),
        controller=socket.gethostname(),
        pid=os.getppid(),
        run=run,
        experiment=experiment,
        since_ns=time.time_ns(),
    )


def describe(owner: Mapping[str, Any] | None) -> str:
    """What is known of another run's owner, whichever version wrote it."""
    try:
        return str(Owner(**(owner or {})))
    except TypeError:
        return f"somebody who did not say who they are ({json.dumps(owner)})"
