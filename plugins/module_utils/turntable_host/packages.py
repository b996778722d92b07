"""Debian packages, through apt-get and dpkg-query."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable

from .commands import run
from .errors import HostError
from .setting import Setting, Value

_QUIET = {"DEBIAN_FRONTEND": "noninteractive", "NEEDRESTART_MODE": "l"}
# Another one that installs packages just now is waited for.
_APT = ["apt-get", "--yes", "--quiet", "--option", "DPkg::Lock::Timeout=120"]
_INSTALL = [*_APT, "--no-install-recommends", "--no-upgrade", "install"]
INSTALLED = "installed"
_REMOVED = "config-files"


class Package(Setting):
    """The value is dpkg's state: installed, or config-files of one that was removed."""

    kind = "package"
    lasts = True
    # What an interrupted apt-get leaves.
    between = ("half-installed", "unpacked", "half-configured", "triggers-awaited")

    def read(self) -> Value:
        return states([self.name]).get(self.name)

    def write(self, value: Value) -> None:
        self.write_all([(self, value)])

    @classmethod
    def write_all(cls, values: Iterable[tuple[Setting, Value]]) -> None:
        names: dict[str, list[str]] = {"install": [], "remove": [], "purge": []}
        for setting, value in values:
            verb = {INSTALLED: "install", _REMOVED: "remove"}.get(value, "purge")
            names[verb].append(setting.name)
        if names["install"]:
            run([*_INSTALL, *names["install"]], _QUIET)
        unwanted = [*names["remove"], *names["purge"]]
        if not unwanted:
            return
        others = sorted(set(would_remove(unwanted)) - set(unwanted))
        if others:
            raise HostError(
                f"{', '.join(others)} need it, and were installed since; remove them first: "
                f"apt-get purge {' '.join(others)}"
            )
        for verb in ("remove", "purge"):
            if names[verb]:
                run([*_APT, verb, *names[verb]], _QUIET)


def states(names: Iterable[str]) -> dict[str, str]:
    """Package -> dpkg's state of it; without those that the host does not have."""
    show = ["dpkg-query", "--show", "--showformat=${Package} ${db:Status-Status}\\n", *names]
    # Its status is 1 when one of them is unknown.
    done = subprocess.run(show, capture_output=True, text=True, check=False)
    pairs = (line.split() for line in done.stdout.splitlines())
    return {pair[0]: pair[1] for pair in pairs if len(pair) == 2 and pair[1] != "not-installed"}


def with_dependencies(names: Iterable[str], may_fetch: bool) -> list[str]:
    """Names, and what would be installed beside. May fetch the lists of packages if one of them is
    not known: a fresh machine has none.
    """
    names = list(dict.fromkeys(names))
    there = states(names)
    missing = [name for name in names if there.get(name) != INSTALLED]
    if not missing:
        return names
    try:
        beside = would_install(missing)
    except HostError:
        if not may_fetch:
            return names
        run(["apt-get", "--quiet", "update"], _QUIET)
        beside = would_install(missing)
    return list(dict.fromkeys([*names, *beside]))


def would_install(names: Iterable[str]) -> list[str]:
    """In apt's order."""
    try:
        output = run([*_INSTALL, "--simulate", *names], _QUIET)
    except HostError as error:
        unknown = re.findall(r"Unable to locate package (\S+)", str(error))
        unknown += re.findall(r"Package '?(\S+?)'? has no installation candidate", str(error))
        if not unknown:
            raise
        raise HostError(
            f"packages {', '.join(unknown)}: apt knows none of these names on this host; expected "
            "names of its release. Correct turntable_host_packages, or build on a machine of the "
            "same release"
        ) from None
    # What is upgraded has its version between the name and the parenthesis.
    return re.findall(r"^Inst (\S+) \(", output, re.MULTILINE)


def would_remove(names: Iterable[str]) -> list[str]:
    output = run([*_APT, "--simulate", "purge", *names], _QUIET)
    return re.findall(r"^(?:Purg|Remv) (\S+)", output, re.MULTILINE)
