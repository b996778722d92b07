"""Findings as text for a terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

from turntable_core.doctor.finding import NOTE, OK, PROBLEM, Finding

_COLORS = {OK: "green", NOTE: "yellow", PROBLEM: "red"}
_NARROWEST, _WIDEST = 60, 110


def render(
    title: str, findings: Sequence[Finding], width: int, paint: Callable[[str, str], str]
) -> str:
    """paint(text, color) colors a text where the terminal can."""
    width = fit(width)
    topics = max(len(finding.topic) for finding in findings)
    lines = [title, ""]
    previous = None
    for finding in findings:
        topic = "" if finding.topic == previous else finding.topic
        previous = finding.topic
        lines += _lines(finding, topic.ljust(topics), width, paint)
    return "\n".join(lines) + "\n"


def conclusion(findings: Sequence[Finding], width: int) -> str:
    problems = [finding for finding in findings if finding.level == PROBLEM]
    if not problems:
        return "A run can start now."
    topics = ", ".join(dict.fromkeys(finding.topic for finding in problems))
    text = (
        f"A run cannot start now: {topics}. Mend the problems above from top to bottom; "
        "a later one often follows from an earlier one."
    )
    return "\n".join(_wrap(text, fit(width)))


def fit(width: int) -> int:
    return max(_NARROWEST, min(width, _WIDEST))


def _lines(finding: Finding, topic: str, width: int, paint: Callable[[str, str], str]) -> list[str]:
    level = finding.level.ljust(len(PROBLEM))
    indent = " " * (len(level) + len(topic) + 4)
    text = _wrap(finding.text, width - len(indent))
    lines = [f"{paint(level, _COLORS[finding.level])}  {topic}  {text[0]}"]
    lines += [indent + line for line in text[1:]]
    if finding.advice:
        first, *more = _wrap(finding.advice, width - len(indent) - 3)
        lines += [f"{indent}-> {first}", *(f"{indent}   {line}" for line in more)]
    if finding.command:  # on one line, however long: a broken one cannot be copied
        lines.append(f"  {finding.command}")
    return lines


def _wrap(text: str, width: int) -> list[str]:
    """Paths and options stay whole: they are there to be copied."""
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]
