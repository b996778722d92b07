"""The report of a run: one HTML page that needs no other file, made from the run's files alone.

contents (what the page says) -> figures (inline SVG) and provenance -> page (template)
"""

from turntable.report.contents import read_contents
from turntable.report.page import write_report

__all__ = ["read_contents", "write_report"]
