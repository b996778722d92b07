"""Loads the kernel module that gives bf_switchd its device."""

import os

from .common import Refused, output_of
from .common import environment as environment_of


def run(install, module, environment, check):
    env = environment_of(environment)
    if loaded(module, env):
        return {"changed": False}
    path = os.path.join(install, "lib/modules", module + ".ko")
    if not os.path.isfile(path):
        raise Refused(
            "kernel module %s is not loaded and %s is missing; expected an SDE built for the ASIC"
            % (module, path)
        )
    if check:
        return {"changed": True}
    status, said = output_of(["insmod", path, "intr_mode=msi"], env)
    if not loaded(module, env):
        raise Refused(
            "insmod %s: exit status %d, %s; expected a module built for the running kernel %s"
            % (path, status, said.strip(), os.uname().release)
        )
    return {"changed": True}


def loaded(module, env):
    listed = output_of(["lsmod"], env)[1].splitlines()[1:]
    return module in [line.split()[0] for line in listed if line.split()]
