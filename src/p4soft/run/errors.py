"""The exception of everything that keeps a switch from running, but for a wrong P4 program."""

from __future__ import annotations


class RunError(Exception):
    """Printed as `p4soft: message`. `status` is the exit status: 1 failed, 2 wrong usage."""

    def __init__(self, message: str, status: int = 1) -> None:
        super().__init__(message)
        self.status = status
