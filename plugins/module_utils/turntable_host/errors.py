"""Errors of this package: their texts are what the user reads."""

from __future__ import annotations


class HostError(Exception):
    """Says what is wrong, where, what was expected and what to do."""


class GoneError(HostError):
    """The setting's thing (a NIC, an interrupt) does not exist on this host, or not any more."""


class NoProgramError(HostError):
    """A program of the host by which settings are read is not installed."""


class LeftError(HostError):
    """A directory was not removed, because of what others have put into it since."""
