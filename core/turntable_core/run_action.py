"""Base of the action plugins of a run: arguments, errors as results, and the nodes."""

from __future__ import annotations

import ctypes
import errno
import os
import signal
from pathlib import Path
from typing import Any, ClassVar

from ansible.plugins.action import ActionBase
from ansible.utils.vars import load_extra_vars

from turntable_core.connections import HostConnections
from turntable_core.context import Context
from turntable_core.errors import PhaseError, TurntableError
from turntable_core.node_calls import NodeCalls
from turntable_core.overrides import ExtraVars
from turntable_core.ownership import run_claim, run_secret
from turntable_core.run_directory import RunDirectory
from turntable_inventory.read import place_of

_PR_SET_PDEATHSIG = 1  # linux/prctl.h

# The disk of the results is at fault, not this program.
_STORAGE_ERRORS = {errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO}


class RunAction(ActionBase):
    """Subclasses set ARGUMENTS (an Ansible argument spec) and define `perform`."""

    TRANSFERS_FILES = False
    _requires_connection = False
    ARGUMENTS: ClassVar[dict[str, dict[str, Any]]] = {}

    def perform(self, arguments: dict[str, Any], task_vars: dict[str, Any]) -> dict[str, Any]:
        """The result of the task. A TurntableError becomes a failed task with its text."""
        raise NotImplementedError

    def run(
        self, tmp: str | None = None, task_vars: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        del tmp
        _end_with_playbook()
        super().run(task_vars=task_vars)
        _, arguments = self.validate_argument_spec(self.ARGUMENTS)
        try:
            return self.perform(arguments, task_vars or {})
        except PhaseError as error:
            return failure(str(error)) | {"failure_class": error.failure_class}
        except TurntableError as error:
            return failure(str(error))
        except OSError as error:
            if error.errno not in _STORAGE_ERRORS:
                raise
            return failure(_storage_message(error, arguments)) | {"failure_class": "environment"}

    def extra_vars(self) -> ExtraVars:
        """With the file and line of those from -e @FILE."""
        values = load_extra_vars(self._loader)
        places = {str(name): place_of(name, value) for name, value in values.items()}
        in_files = {
            name: f"extra variable, {place}" for name, place in places.items() if ":" in place
        }
        return ExtraVars(dict(values), in_files)

    def connections(self, task_vars: dict[str, Any]) -> HostConnections:
        return HostConnections(self._play_context, task_vars["hostvars"], self._task.get_name())

    def node_calls(self, context: Context, task_vars: dict[str, Any]) -> NodeCalls:
        return NodeCalls(self.connections(task_vars), context.testbed, context.owner)


def _end_with_playbook() -> None:
    """Has the kernel send SIGTERM when the playbook that forked this process is killed.

    Ansible's handler passes it on to the commands of this task. Otherwise they would go on, and
    renew the leases, until the phase ends.
    """
    playbook = os.getppid()
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != playbook:  # it was killed before the line above
        os._exit(1)


def _storage_message(error: OSError, arguments: dict[str, Any]) -> str:
    run = (arguments.get("at") or arguments).get("run")
    again = f" with -e run={Path(run).name}" if run else ""
    return (
        f"{error.filename or 'a file of the results'}: {error.strerror}. Free some space, then run "
        f"the same command again{again}: what has been measured is kept"
    )


def failure(message: str) -> dict[str, Any]:
    """A failed task whose message says it all: the callback shows nothing else."""
    return {"failed": True, "msg": message, "self_explanatory": True}


# Which run, turn (round of a cell) and iteration a task is about; the latter two may be left out.
AT_ARGUMENT = {
    "at": {
        "type": "dict",
        "required": True,
        "options": {
            "run": {"type": "path", "required": True},
            "cell": {"type": "str"},
            "round": {"type": "int"},
            "iteration": {"type": "int"},
        },
    }
}

# Which attempts are of this play, and what it measures again.
PLAY_ARGUMENTS = {
    "repeats": {"type": "int", "default": 0},
    "earlier_attempts": {"type": "int", "default": 0},
    "only": {"type": "str"},
}


def read_context(at: dict[str, Any]) -> Context:
    """The context that an `at` argument names."""
    run = RunDirectory(Path(at["run"]))
    plan = run.plan()
    turn = iteration = None
    if at["cell"] is not None:
        turn = plan.turn(at["cell"], at["round"])
    if at["iteration"] is not None:
        iteration = turn.iterations[at["iteration"]]
    return Context(
        run.testbed(),
        plan,
        turn,
        iteration,
        owner=run_claim.owner_of(run.path),
        secret=run_secret.of(run.path),
        created_at=run.created_at,
    )
