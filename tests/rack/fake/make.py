#!/usr/bin/env python3
"""Makes the tree of a fake switch machine, or changes its settings.

    python tests/rack/fake/make.py DIRECTORY [--fault NAME]... [--set KEY=JSON]...

What is set holds for programs started from then on. The tree is made anew each time; ports,
modules and logs stay.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parent
sys.path.insert(0, str(PACKAGE.parent))

from fake.machine import FAULTS, SETTINGS, Machine  # noqa: E402  the package is not installed

# Program, relative to the tree -> module of this package, and what it is called there.
PROGRAMS = {
    "sde/install/bin/bf_switchd": "switchd",
    "sde/install/bin/bfshell": "bfshell",
    "sde/install/bin/bf-p4c": "compiler",
    "sde/install/bin/bf_kdrv_mod_load": "modules",
    "bin/lsmod": "modules",
    "bin/insmod": "modules",
    "bin/rmmod": "modules",
    "bin/sudo": "sudo",
    "sde/run_switchd.sh": "wrappers",
    "sde/run_bfshell.sh": "wrappers",
}
LAUNCHER = """#!{python}
import os, sys
os.environ["FAKE_SWITCH"] = {root!r}
sys.path[:0] = {paths!r}
from fake.{module} import main
sys.exit(main(sys.argv))
"""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--fault", action="append", default=[], choices=FAULTS)
    parser.add_argument("--set", action="append", default=[], metavar="KEY=JSON")
    arguments = parser.parse_args()
    settings = dict(text.split("=", 1) for text in arguments.set)
    unknown = [key for key in settings if key not in SETTINGS]
    if unknown:
        parser.error(f"--set {unknown[0]}: expected one of {', '.join(SETTINGS)}")
    values = {key: json.loads(value) for key, value in settings.items()}
    make(arguments.directory.resolve(), values | {"faults": arguments.fault})
    print(arguments.directory / "sde")
    return 0


def make(root: Path, settings: dict[str, object] | None = None) -> Machine:
    root.mkdir(parents=True, exist_ok=True)
    (root / "fake.json").write_text(json.dumps(settings or {}, indent=1))
    for name, module in PROGRAMS.items():
        program = root / name
        program.parent.mkdir(parents=True, exist_ok=True)
        launcher = LAUNCHER.format(
            # bf_switchd speaks gRPC: its Python is this one, with what is installed there.
            python=sys.executable if module == "switchd" else os.path.realpath(sys.executable),
            root=str(root),
            paths=[str(PACKAGE.parent), str(PACKAGE.parents[2] / "core")],
            module=module,
        )
        # A program that runs keeps its own.
        new = program.with_name(program.name + ".new")
        new.write_text(launcher)
        new.chmod(0o755)
        new.replace(program)
    machine = Machine(root)
    modules = machine.install / "lib" / "modules"
    modules.mkdir(parents=True, exist_ok=True)
    for name in ("bf_kdrv", "bf_kpkt"):
        (modules / f"{name}.ko").touch()
    (machine.install / "share/p4/targets/tofino").mkdir(parents=True, exist_ok=True)
    (root / "sde" / "VERSION").write_text(machine.version() + "\n")
    (root / "proc").mkdir(exist_ok=True)
    huge_pages = root / "proc" / "nr_hugepages"
    if not huge_pages.exists():
        huge_pages.write_text("196\n")
    loaded = [] if machine.has("module_missing") else machine.settings["modules"]
    (root / "modules.json").write_text(json.dumps(loaded))
    from fake import modules as kernel  # noqa: PLC0415  the path is set above

    kernel.show_device(machine, bool(loaded))
    return machine


if __name__ == "__main__":
    sys.exit(main())
