"""Errors a user sees, and the classes under which a failed attempt is recorded."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class TurntableError(Exception):
    """Something the user can mend. The text says what, where, what was expected, and what to do."""


MISSING = object()  # the value of a key that is not there


class InputError(TurntableError):
    """A bad value in a spec, an inventory or an extra variable."""

    def __init__(self, where: str, key: str, value: object, expected: str) -> None:
        fault = "is missing" if value is MISSING else f"{value!r} is not accepted"
        between = " " if value is MISSING else ": "
        super().__init__(f"{where}: {key}{between}{fault}; expected {expected}")
        self.where, self.key, self.value, self.expected = where, key, value, expected


class PhaseError(TurntableError):
    """A phase of a turn failed on at least one host. `failure_class` is recorded in the journal."""

    def __init__(self, failure_class: str, message: str) -> None:
        super().__init__(message)
        self.failure_class = failure_class


# The class of what a testbed cannot do, however often it is tried: it is not tried again, and what
# needs it is not available (journal.REFUSED).
UNSUPPORTED = "unsupported"

# How an attempt can fail. A class says where to look first; docs/experiments.md explains each.
FAILURE_CLASSES = (
    "timeout",
    "unreachable",
    "node_lost",
    "command_error",
    "environment",
    "internal",
    UNSUPPORTED,
)


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """` (did you mean x?)` when a known word is close, otherwise an empty text."""
    close = difflib.get_close_matches(str(word), sorted(known), n=1, cutoff=0.6)
    return f" (did you mean {close[0]!r}?)" if close else ""
