"""Analysis of NetClone: latency against load, clones, and what simulations of it promise."""

from turntable.systems.netclone.analysis import NetCloneAnalysis

ANALYSIS = NetCloneAnalysis()
