"""The one error of this package: its text is what the user reads."""

from __future__ import annotations


class TestbedError(Exception):
    """Says what is wrong, where, what was expected and what to do."""

    __test__ = False  # not a test class, whatever pytest thinks of its name
