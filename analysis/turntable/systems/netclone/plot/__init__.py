"""Figures of NetClone's results."""

from turntable.systems.netclone.plot.clones import clones_by_load, idle_signal, redundant_by_load
from turntable.systems.netclone.plot.loads import latency, p99_by_load
from turntable.systems.netclone.plot.paper_scale import paper_scale

__all__ = [
    "clones_by_load",
    "idle_signal",
    "latency",
    "p99_by_load",
    "paper_scale",
    "redundant_by_load",
]
