"""The figures of reports and notebooks.

Each function takes cells of a run (`run.cells`, or some of them) and returns a Drawing: notebooks
show it, `drawing.figure` is the matplotlib figure, `drawing.save(path)` writes a file. Every figure
carries the run's name, n, the kind of interval and the fidelity class.
"""

from turntable.plot.diagnostics import iterations, overhead, partitions
from turntable.plot.drawing import Drawing
from turntable.plot.latency import latency
from turntable.plot.published import published
from turntable.plot.results import scaling, throughput
from turntable.plot.updates import updates

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
