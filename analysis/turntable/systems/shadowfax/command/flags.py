"""What the flags of both scripts mean here, and which ones there cannot be."""

from __future__ import annotations

import argparse
import os
from collections.abc import Mapping
from pathlib import Path

from turntable_core.errors import TurntableError

RDMA_DEVICES = Path("/sys/class/infiniband")
_FIRST_PROCESSORS = 8  # that the original gives to the interrupts

_NO_CLOUD = "there is no tier of cloud storage; expected no such flag: logs go to --logDisk"
# Flag -> why it is refused, and what to do.
_NOT_HERE: Mapping[str, str] = {
    "compile_blobs": _NO_CLOUD,
    "dfsKey": _NO_CLOUD,
    "compact": "servers compact their logs themselves; expected `server run --compact-above-mb N`",
    "compact_until": "see --compact",
    "compact_at": "see --compact",
}


def add_compile_flags(parser: argparse.ArgumentParser, **also: str) -> None:
    """also: name -> help, of flags of one script alone."""
    parser.add_argument("--compile-value", type=int, metavar="BYTES", help="of values; default 8")
    parser.add_argument("--compile-infrc", action="store_true", help="Infiniband")
    parser.add_argument("--compile-debug", action="store_true", help="for gdb: they are, always")
    for name, text in also.items():
        parser.add_argument(name, action="store_true", help=text)


def refuse_what_is_not_here(options: argparse.Namespace) -> None:
    """Raises TurntableError. Nothing that was asked for is left out without a word."""
    if getattr(options, "compile_infrc", False):
        raise TurntableError(f"--compile-infrc: {_no_infiniband()}")
    if getattr(options, "pinirq", False):
        raise TurntableError(f"--pinirq: {_no_pinning()}")
    for name, why in _NOT_HERE.items():
        if getattr(options, name, None):
            raise TurntableError(f"--{name.replace('_', '-')}: {why}")


def _no_infiniband() -> str:
    devices = sorted(each.name for each in RDMA_DEVICES.iterdir()) if RDMA_DEVICES.is_dir() else []
    there = ", ".join(devices) or f"no RDMA device on this machine ({RDMA_DEVICES} has none)"
    return f"there is {there}, and servers speak TCP alone; expected no such flag"


def _no_pinning() -> str:
    processors = len(os.sched_getaffinity(0))
    few = (
        f"; it has a use from {_FIRST_PROCESSORS + 1} processors on, this machine has {processors}"
        if processors <= _FIRST_PROCESSORS
        else ""
    )
    return (
        "interrupts are not this script's to move; expected no such flag, and the interface's "
        f"interrupts at processors of their own (irqbalance, /proc/irq/N/smp_affinity_list){few}"
    )
