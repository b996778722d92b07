"""What goes wrong between us and a switch; messages name the switch."""

from __future__ import annotations


class SwitchCliError(Exception):
    """There is no conversation with the switch, or no more, or it does not say what is expected."""


class RefusedError(SwitchCliError):
    """The switch has answered a line with an error, and goes on talking."""
