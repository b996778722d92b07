"""All kinds of settings, for entries of a record."""

from __future__ import annotations

from pathlib import Path

from .errors import HostError
from .ethtool import Channels, Coalescing, Features, Pause
from .files import CopiedFile, Directory, Mask, ScratchDirectory, TextFile
from .interrupts import Interrupt, Service
from .kernel import Governor, HugePages, Sysctl, TransparentHugePages
from .network import Address, LinkState, Mtu, Neighbour
from .packages import Package
from .setting import Setting

KINDS = {
    kind.kind: kind
    for kind in (
        *(Address, Channels, Coalescing, CopiedFile, Directory, Features, Governor, HugePages),
        *(Interrupt, LinkState, Mask, Mtu, Neighbour, Package, Pause, ScratchDirectory, Service),
        *(Sysctl, TextFile, TransparentHugePages),
    )
}


def setting_of(kind: str, name: str, kept_in: Path, purge: bool = False) -> Setting:
    """kept_in: of files that were replaced. purge: directories go with what is in them."""
    if kind not in KINDS:
        raise HostError(
            f"the record has a setting of kind {kind!r}; expected one of {', '.join(KINDS)}. "
            "A newer Turntable wrote it: unprovision with that one"
        )
    if purge and KINDS[kind] is Directory:
        return ScratchDirectory(name)
    if KINDS[kind] is CopiedFile:
        return CopiedFile(name, kept_in)
    return KINDS[kind](name)
