"""What the doctor found out about one topic."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

OK = "ok"
NOTE = "note"  # worth knowing; a run can start all the same
PROBLEM = "problem"  # a run cannot start, or could not be believed


@dataclass(frozen=True)
class Finding:
    level: str
    topic: str
    text: str
    advice: str = ""  # what to do about it
    command: str = ""  # that does it, to be copied


def of_hosts(hosts: Iterable[str], every: Iterable[str]) -> str:
    """`all hosts`, or their names."""
    named = list(hosts)
    return "all hosts" if len(named) > 1 and set(named) == set(every) else ", ".join(named)
