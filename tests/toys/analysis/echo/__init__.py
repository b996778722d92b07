"""Analysis of echo: latency and what was delivered, by offered load."""

from turntable.systems.echo.analysis import EchoAnalysis

ANALYSIS = EchoAnalysis()
