"""run_switchd.sh and run_bfshell.sh."""

from __future__ import annotations

import os
import socket
import sys
import time
from pathlib import Path

from .machine import Machine, here

WAIT_S = 300


def main(argv: list[str]) -> int:
    machine = here()
    for name in ("SDE", "SDE_INSTALL"):
        if name not in os.environ:
            print(f"Error: {name} is not set: not found")
            return 1
    run = _switchd if Path(argv[0]).name == "run_switchd.sh" else _bfshell
    return run(machine, argv[1:])


def _switchd(machine: Machine, argv: list[str]) -> int:
    own, _, rest = " ".join(argv).partition(" -- ")
    words, conf = own.split(), None
    while words:
        word = words.pop(0)
        if word == "-p":
            conf = machine.install / "share/p4/targets/tofino" / f"{words.pop(0)}.conf"
        elif word == "-c":
            conf = Path(words.pop(0))
        else:
            rest += f" {word}"
    if conf is None or not conf.exists():
        print(f"File {conf} not found")
        return 1
    program = str(machine.install / "bin/bf_switchd")
    sudo = str(machine.root / "bin/sudo")
    required = [program, "--install-dir", str(machine.install), "--conf-file", str(conf)]
    os.execv(sudo, [sudo, "env", *required, "--status-port", "7777", *rest.split()])
    raise AssertionError("exec comes back with an error alone")


def _bfshell(machine: Machine, argv: list[str]) -> int:
    if "--no-status-srv" in argv:
        argv.remove("--no-status-srv")
    else:
        deadline = time.monotonic() + WAIT_S
        while not _ready():
            if time.monotonic() > deadline:
                print("bf_switchd is not ready")
                return 1
            time.sleep(1)
    program = str(machine.install / "bin/bfshell")
    sys.stdout.flush()
    os.execv(program, [program, *argv])
    raise AssertionError("exec comes back with an error alone")


def _ready() -> bool:
    try:
        with socket.create_connection(("127.0.0.1", 7777), timeout=5) as connection:
            connection.sendall(b"0")
            return connection.recv(1) == b"1"
    except OSError:
        return False
