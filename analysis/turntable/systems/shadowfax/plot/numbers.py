"""Numbers at logarithmic axes: as they are, not as powers."""

from __future__ import annotations

from matplotlib.axis import Axis
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter


def write(axis: Axis) -> None:
    """1, 2 and 5 of every decade: an axis of less than a decade has some, too."""
    axis.set_major_locator(LogLocator(base=10, subs=(1, 2, 5)))
    write_powers(axis)


def write_powers(axis: Axis) -> None:
    """At the powers of the axis alone."""
    axis.set_major_formatter(FuncFormatter(lambda value, _: _text(value)))
    axis.set_minor_formatter(NullFormatter())


def _text(value: float) -> str:
    return f"{value:,.0f}" if value >= 1 else f"{value:g}"
