"""Analysis of Homa: slowdown by size of the message, beside simulation and paper."""

from turntable.systems.homa.analysis import HomaAnalysis

ANALYSIS = HomaAnalysis()
