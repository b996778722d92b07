"""Figures of Swan's results."""

from turntable.systems.swan.plot.chart import beside_the_sample, sensitivity_chart
from turntable.systems.swan.plot.ratios import ratios

__all__ = ["beside_the_sample", "ratios", "sensitivity_chart"]
