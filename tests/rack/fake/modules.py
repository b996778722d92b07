"""lsmod, insmod, rmmod and bf_kdrv_mod_load; nothing is loaded into this machine's kernel."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from .machine import Machine, here


def main(argv: list[str]) -> int:
    machine, program = here(), Path(argv[0]).name
    if program == "lsmod":
        return _list(machine)
    if len(argv) < 2:
        print(f"{program}: missing argument", file=sys.stderr)
        return 1
    if program == "rmmod":
        return _remove(machine, argv[1])
    path = Path(argv[1])
    if program == "bf_kdrv_mod_load":  # takes the install directory
        path = path / "lib" / "modules" / "bf_kdrv.ko"
    return _insert(machine, path)


def show_device(machine: Machine, there: bool) -> None:
    """Stands for /sys/class/bf, where a driver shows its device."""
    directory = machine.root / "sys" / "class" / "bf" / "bf0"
    if there:
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "device").write_text("0x0010\n")
    else:
        shutil.rmtree(directory, ignore_errors=True)


def _list(machine: Machine) -> int:
    print("Module                  Size  Used by")
    with machine.state("modules", []) as loaded:
        for name in loaded:
            print(f"{name:<22} 53248  0")
    return 0


def _insert(machine: Machine, path: Path) -> int:
    if not path.exists():
        print(
            f"insmod: ERROR: could not load module {path}: No such file or directory",
            file=sys.stderr,
        )
        return 1
    with machine.state("modules", []) as loaded:
        if path.stem in loaded:
            print(f"insmod: ERROR: could not insert module {path}: File exists", file=sys.stderr)
            return 1
        loaded.append(path.stem)
    show_device(machine, True)
    return 0


def _remove(machine: Machine, name: str) -> int:
    with machine.state("modules", []) as loaded:
        if name not in loaded:
            print(f"rmmod: ERROR: Module {name} is not currently loaded", file=sys.stderr)
            return 1
        loaded.remove(name)
        show_device(machine, bool(loaded))
    return 0
