"""Shadowfax: analysis of throughput, round trips and sums (docs/shadowfax.md)."""

from turntable.systems.shadowfax.analysis import ShadowfaxAnalysis

ANALYSIS = ShadowfaxAnalysis()
