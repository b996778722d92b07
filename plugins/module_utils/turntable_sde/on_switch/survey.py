"""What there is on the switch, before anything is changed."""

import os
import platform

from .common import describe, is_open, output_of, read, switchds
from .common import environment as environment_of

MODULES = ("bf_kdrv", "bf_kpkt", "bf_knet", "bf_fpga")


def run(sde, install, environment, sysfs, huge_pages_file, ports, directory):
    env = environment_of(environment)
    compiler = first_of(install, "bin/bf-p4c", "bin/p4c")
    status, listed = output_of(["lsmod"], env)
    loaded = [line.split()[0] for line in listed.splitlines()[1:] if line.split()]
    return {
        "python": platform.python_version(),
        "user": os.geteuid(),
        "sde": os.path.isdir(sde),
        "install": os.path.isdir(install),
        "switchd": os.path.isfile(os.path.join(install, "bin/bf_switchd")),
        "bfshell": os.path.isfile(os.path.join(install, "bin/bfshell")),
        "compiler": compiler,
        "version": version_of(sde, compiler, env),
        "lsmod": status,
        "modules": [name for name in loaded if name in MODULES],
        "device": os.path.exists(os.path.join(sysfs, "bf0", "device")),
        "huge_pages": int(read(huge_pages_file, "0").strip() or 0),
        "switchds": [
            dict(its, text=describe(its), ours=is_ours(its, directory)) for its in switchds()
        ],
        "open_ports": [port for port in ports if is_open(port)],
    }


def first_of(directory, *names):
    paths = [os.path.join(directory, name) for name in names]
    return next((path for path in paths if os.access(path, os.X_OK)), None)


def version_of(sde, compiler, env):
    """Of the SDE, by its file VERSION or by its compiler; None if neither says so."""
    import re

    texts = [read(os.path.join(sde, "VERSION"))]
    if compiler:
        texts.append(output_of([compiler, "--version"], env)[1])
    for text in texts + [os.path.basename(os.path.normpath(sde))]:
        found = re.search(r"\b(\d+\.\d+\.\d+)\b", text)
        if found:
            return found.group(1)
    return None


def is_ours(its, directory):
    """Whether role switchd has started it; its record says so."""
    import json

    record = json.loads(read(os.path.join(directory, "switchd.json"), "{}"))
    return (record.get("pid"), record.get("started")) == (its["pid"], its["started"])
