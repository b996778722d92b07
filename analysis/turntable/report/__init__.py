"""The report of a run: one HTML page that needs no other file, made from the run's files alone.

Cells of the run -> figures (turntable.plot, as inline SVG) and provenance -> page (template)
"""

from turntable.report.page import render, write_page

__all__ = ["render", "write_page"]
