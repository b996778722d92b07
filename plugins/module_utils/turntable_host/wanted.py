"""What the module is told -> settings with their wanted values, in the order of their making."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from . import ethtool, interrupts, kernel, network
from .files import (
    CopiedFile,
    Directory,
    Mask,
    ScratchDirectory,
    TextFile,
    to_be_masked,
    with_parents,
)
from .packages import INSTALLED, Package, with_dependencies
from .setting import Setting, Value

_LIMITS = "/etc/security/limits.d/90-turntable.conf"
# A wildcard means everybody but root.
_WHO = ("*", "root")

Pairs = list[tuple[Setting, Value]]


def wanted_settings(given: Mapping[str, Any], check: bool) -> Iterator[tuple[Pairs, bool]]:
    """(settings, whether others write them), one after the other: each may need the one before.

    given: options of the module.
    """
    units = to_be_masked(given.get("masked_services", ()))
    yield [(Mask(name), "/dev/null") for name in units], False
    names = with_dependencies(given.get("packages", ()), may_fetch=not check)
    yield [(Package(name), INSTALLED) for name in names], False
    services = [interrupts.Service(name) for name in given.get("stopped_services", ())]
    yield [(service, "stopped") for service in services], False
    yield list(_of_kernel(given)), False
    if "nic" in given:
        yield from ((pairs, False) for pairs in _of_nic(given["nic"]))
    yield list(_directories(given)), False
    yield [(CopiedFile(path), it) for path, it in given.get("copied_files", {}).items()], True


def check_nic(given: Mapping[str, Any]) -> None:
    """Before anything is changed: it is there, and is the one that is meant."""
    nic = given.get("nic")
    if nic:
        network.link(nic["name"])
        if nic["mac"]:
            network.require_mac(nic["name"], nic["mac"])


def _of_kernel(given: Mapping[str, Any]) -> Iterator[tuple[Setting, Value]]:
    for name, value in given.get("sysctls", {}).items():
        yield kernel.Sysctl(name), " ".join(str(value).split())
    if given.get("limits"):
        yield TextFile(_LIMITS), limits_text(given["limits"])
    for size, count in given.get("huge_pages", {}).items():
        yield kernel.HugePages(str(size)), int(count)
    if "transparent_huge_pages" in given:
        yield kernel.TransparentHugePages("enabled"), given["transparent_huge_pages"]
    if "cpu_governor" in given:
        for processor in kernel.governed_processors():
            yield kernel.Governor(processor), given["cpu_governor"]


def _of_nic(nic: Mapping[str, Any]) -> Iterator[Pairs]:
    """Channels first: a change of them resets what else the driver keeps."""
    name = nic["name"]
    for kind, key, words in (
        (ethtool.Channels, "channels", ethtool.words_of),
        (ethtool.Features, "features", ethtool.features_of),
        (ethtool.Coalescing, "coalescing", ethtool.words_of),
        (ethtool.Pause, "pause", ethtool.words_of),
    ):
        if nic[key]:
            yield [(kind(name), words(nic[key]))]
    if nic["mtu"]:
        yield [(network.Mtu(name), nic["mtu"])]
    if nic["address"]:
        yield [(network.LinkState(name), "up")]
        yield [(network.Address(f"{name} {nic['address']}"), network.PRESENT)]
    neighbours = (nic["neighbours"] or {}).items()
    yield [(network.Neighbour(f"{name} {address}"), mac) for address, mac in neighbours]
    if nic["interrupt_cpus"]:
        numbers = interrupts.interrupts_of(name)
        served = interrupts.spread(numbers, nic["interrupt_cpus"])
        yield [(interrupts.Interrupt(number), cpu) for number, cpu in served.items()]


def _directories(given: Mapping[str, Any]) -> Iterator[tuple[Setting, Value]]:
    for kind, key in ((Directory, "directories"), (ScratchDirectory, "scratch_directories")):
        for path, mode in given.get(key, {}).items():
            *above, (_, its_mode) = with_parents(path, mode)
            for directory, mode_above in above:
                yield Directory(directory), mode_above
            yield kind(path), its_mode


def limits_text(limits: Mapping[str, int | str]) -> str:
    """A file of limits.d(5); soft and hard limits are the same."""
    lines = [f"{who} - {item} {value}" for item, value in limits.items() for who in _WHO]
    return "\n".join(("# Written by Turntable (playbooks/provision.yml).", *lines, ""))
