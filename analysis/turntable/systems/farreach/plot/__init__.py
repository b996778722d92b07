"""The figures of reports and notebooks; turntable.plot says what they have in common."""

from collections.abc import Sequence

from turntable.plot import latency as _latency
from turntable.plot import overhead
from turntable.plot.drawing import Drawing
from turntable.results import CellResult
from turntable.systems.farreach.plot.bandwidth import bandwidth
from turntable.systems.farreach.plot.bars import bars
from turntable.systems.farreach.plot.dynamic import dynamic
from turntable.systems.farreach.plot.imported import imported
from turntable.systems.farreach.plot.iterations import iterations
from turntable.systems.farreach.plot.methods import line_styles
from turntable.systems.farreach.plot.partitions import partitions
from turntable.systems.farreach.plot.published import published
from turntable.systems.farreach.plot.results import scaling, throughput
from turntable.systems.farreach.plot.targets import latency_by_target
from turntable.systems.farreach.plot.updates import updates

__all__ = [
    "Drawing",
    "bandwidth",
    "bars",
    "dynamic",
    "imported",
    "iterations",
    "latency",
    "latency_by_target",
    "overhead",
    "partitions",
    "published",
    "scaling",
    "throughput",
    "updates",
]


def latency(cells: Sequence[CellResult]) -> Drawing | None:
    """Of a saturated closed loop, and therefore queueing."""
    style_of = line_styles(cells)
    return _latency(cells, "queueing latency", "in a saturated closed loop", style_of)
