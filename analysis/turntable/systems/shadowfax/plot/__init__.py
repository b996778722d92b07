"""Figures of Shadowfax's results."""

from turntable.systems.shadowfax.plot.beside import beside
from turntable.systems.shadowfax.plot.loads import by_load
from turntable.systems.shadowfax.plot.migration import migration
from turntable.systems.shadowfax.plot.sweeps import (
    by_batch,
    by_memory,
    by_threads,
    by_value_size,
    fill,
)

__all__ = [
    "beside",
    "by_batch",
    "by_load",
    "by_memory",
    "by_threads",
    "by_value_size",
    "fill",
    "migration",
]
