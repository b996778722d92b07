"""The figures of reports and notebooks that every system has.

Each function takes cells of a run (`run.cells`, or some of them) and returns a Drawing: notebooks
show it, `drawing.figure` is the matplotlib figure, `drawing.save(path)` writes a file. Every figure
carries the run's name, n, the kind of interval and the fidelity class.
"""

from turntable.plot.drawing import Drawing
from turntable.plot.latency import latency
from turntable.plot.overhead import overhead
from turntable.plot.seconds import seconds

__all__ = ["Drawing", "latency", "overhead", "seconds"]
