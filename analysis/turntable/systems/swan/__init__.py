"""Analysis of Swan: the sensitivity profile of memcached against best-effort neighbours."""

from turntable.systems.swan.analysis import SwanAnalysis

ANALYSIS = SwanAnalysis()
