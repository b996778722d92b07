"""Analysis of FarReach and its baselines NetCache and NoCache, by the partitions of a rotation."""

from turntable.systems.farreach.analysis import FarReachAnalysis

ANALYSIS = FarReachAnalysis()
