"""What the fake machine is and what has happened to it: files below one directory, shared by all
its programs.
"""

from __future__ import annotations

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

# Each is one way in which a rack goes wrong.
FAULTS = (
    "never_ready",
    "crash_after_start",
    "grpc_refused",
    "port_never_up",
    "port_already_exists",
    "readback_differs",
    "truncated_output",
    "module_missing",
    "wrong_version",
    "foreign_switchd",
    "sigterm_ignored",
    # Of BF Runtime alone.
    "unavailable_once",
    "stale_owner",
    "duplicate_client_id",
    "other_schema",
    "register_list_length",
)

# Front ports -> what the board knows of them. The map is irregular, as on real boards: nothing
# may be computed from it.
BOARD = {
    "1/0": {"mac": "23/0", "dev_port": 132, "place": "3/ 4"},
    "9/0": {"mac": " 0/0", "dev_port": 28, "place": "0/28"},
    "10/0": {"mac": " 1/0", "dev_port": 20, "place": "0/20"},
    "11/0": {"mac": " 3/0", "dev_port": 12, "place": "0/12"},
    "12/0": {"mac": " 2/0", "dev_port": 36, "place": "0/36"},
    "17/0": {"mac": " 5/0", "dev_port": 44, "place": "0/44"},
    "33/0": {"mac": "32/0", "dev_port": 64, "place": "0/64"},
}
# What the other ends of the cables are set to.
CABLES = {
    "1/0": {"speed": "100G", "fec": "NONE"},
    "9/0": {"speed": "100G", "fec": "RS"},
    "10/0": {"speed": "100G", "fec": "RS"},
    "11/0": {"speed": "25G", "fec": "NONE"},
    "12/0": {"speed": "25G", "fec": "NONE"},
    "33/0": {"speed": "10G", "fec": "NONE"},  # the processor's NIC, on the board
}

SETTINGS = {
    "version": "9.13.4",
    "faults": [],
    "line_delay_s": 0.02,  # before each line of the log
    "link_delay_s": 0.2,  # from enabling a port to its link
    "conf_failure": "exit",  # after a conf that cannot be read: exit, crash or hang
    "needs_root": False,
    "compiler_status": 0,
    "compiler_leaves_no_binary": False,
    "modules": ["bf_kdrv"],
    "board": BOARD,
    "pipes": 2,
    "build": str(Path(__file__).resolve().parents[3] / "build"),
    "stale_client_id": 4711,  # whom fault stale_owner leaves behind, and for how long
    "stale_for_s": 5.0,
    "duplicate_id": 20,  # whose id fault duplicate_client_id takes
    "other_program": "netclone",  # that runs with fault other_schema
    "cables": CABLES,
}


class Machine:
    """Below `root`: fake.json (settings), sde/ (the tree), bin/ (of the system), proc/, sys/,
    ports.json, modules.json.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.settings: dict[str, Any] = SETTINGS | json.loads((root / "fake.json").read_text())

    @property
    def install(self) -> Path:
        return self.root / "sde" / "install"

    def has(self, fault: str) -> bool:
        return fault in self.settings["faults"]

    def version(self) -> str:
        return "9.2.0" if self.has("wrong_version") else str(self.settings["version"])

    @contextmanager
    def state(self, name: str, initial: Any) -> Iterator[Any]:
        """A file of state, to change in place; nobody else changes it meanwhile."""
        path = self.root / f"{name}.json"
        with (self.root / f"{name}.lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            value = json.loads(path.read_text()) if path.exists() else initial
            yield value
            path.with_suffix(".new").write_text(json.dumps(value, indent=1))
            path.with_suffix(".new").replace(path)


def here() -> Machine:
    """The machine that the running program is installed on; its launcher says so."""
    return Machine(Path(os.environ["FAKE_SWITCH"]))
