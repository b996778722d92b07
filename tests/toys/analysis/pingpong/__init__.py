"""Analysis of pingpong: round trips by connections."""

from turntable.systems.pingpong.analysis import PingPongAnalysis

ANALYSIS = PingPongAnalysis()
