"""Source positions, the one exception that a wrong or unsupported program raises, and warnings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Position:
    """A place in a source file; line and column count from 1."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}:{self.column}"


class P4Error(Exception):
    """The program cannot be translated. Printed as `file:line:column: error: message`."""

    def __init__(self, position: Position, message: str) -> None:
        super().__init__(f"{position}: error: {message}")
        self.position = position
        self.message = message


def unsupported(position: Position, construct: str, supported: str) -> P4Error:
    """The error for valid P4 that p4soft does not translate."""
    return P4Error(position, f"{construct} is not supported by p4soft; supported: {supported}")


# Of a program in the older language: what it is, and what to do.
P4_14 = (
    "P4_14, and p4soft translates P4_16: expected a program that includes <core.p4> and <tna.p4> "
    "(`p4test --std p4-14 --pp OUT.p4` of p4c rewrites one; its architecture remains to be ported)"
)


@dataclass(frozen=True, slots=True)
class P4Warning:
    """The program is translated, but hardly means what it says. Printed as
    `file:line:column: warning: message`.
    """

    position: Position
    message: str

    def __str__(self) -> str:
        return f"{self.position}: warning: {self.message}"
