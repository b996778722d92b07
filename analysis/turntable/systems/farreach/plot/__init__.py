"""The figures of reports and notebooks; turntable.plot says what they have in common."""

from collections.abc import Sequence

from turntable.plot import latency as _latency
from turntable.plot import overhead
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.farreach.plot.iterations import iterations
from turntable.systems.farreach.plot.partitions import partitions
from turntable.systems.farreach.plot.published import published
from turntable.systems.farreach.plot.results import scaling, throughput
from turntable.systems.farreach.plot.updates import updates

__all__ = [
    "Drawing",
    "iterations",
    "latency",
    "overhead",
    "partitions",
    "published",
    "scaling",
    "throughput",
    "updates",
]


def latency(cells: Sequence[CellResult]) -> Drawing | None:
    """Of a saturated closed loop, and therefore queueing."""
    return _latency(cells, "queueing latency", "in a saturated closed loop")
