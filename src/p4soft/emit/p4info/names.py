"""Ids and aliases of P4Info, as the Tofino compiler gives them: by the names alone, so that they
are the same after a change elsewhere in the program.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import IntEnum

from p4soft.errors import P4Error
from p4soft.frontend import syntax


class Prefix(IntEnum):
    """The first byte of an id (P4Ids.Prefix of p4info.proto)."""

    ACTION = 0x01
    TABLE = 0x02
    VALUE_SET = 0x03
    CONTROLLER_HEADER = 0x04
    ACTION_PROFILE = 0x11
    COUNTER = 0x12
    DIRECT_COUNTER = 0x13
    METER = 0x14
    DIRECT_METER = 0x15
    REGISTER = 0x16
    DIGEST = 0x17


# Bits of an id behind its prefix.
_MASK = 0xFFFFFF


def one_at_a_time(name: str) -> int:
    """Bob Jenkins' hash of that name: 32 bits."""
    value = 0
    for byte in name.encode():
        value = (value + byte) & 0xFFFFFFFF
        value = (value + (value << 10)) & 0xFFFFFFFF
        value ^= value >> 6
    value = (value + (value << 3)) & 0xFFFFFFFF
    value ^= value >> 11
    return (value + (value << 15)) & 0xFFFFFFFF


@dataclass(frozen=True)
class Symbol:
    prefix: Prefix
    name: str


@dataclass
class Names:
    """All that P4Info names, with what @id says; ids and aliases once all of them are there."""

    ids: dict[Symbol, int] = field(default_factory=dict)
    _unnumbered: set[Symbol] = field(default_factory=set)
    _ends: Counter[str] = field(default_factory=Counter)

    def add(self, symbol: Symbol, annotations: list[syntax.Annotation]) -> None:
        """Once is enough. Raises P4Error for an @id that is none or is taken."""
        if symbol in self.ids or symbol in self._unnumbered:
            return
        self._ends.update(_ends(symbol.name))
        wanted = given_id(annotations)
        if wanted is None:
            self._unnumbered.add(symbol)
            return
        position, number = wanted
        if number >> 24 not in (0, symbol.prefix):
            raise P4Error(
                position,
                f"@id({number:#x}) has the first byte {number >> 24:#x}; "
                f"that of this kind of object is {symbol.prefix:#x}, or leave it zero",
            )
        number |= symbol.prefix << 24
        if number in self.ids.values():
            raise P4Error(position, f"@id({number:#x}) is that of another object already")
        self.ids[symbol] = number

    def number(self) -> None:
        """Gives the rest their ids: the hash of the name, or the next that is free."""
        taken = set(self.ids.values())
        for symbol in sorted(self._unnumbered, key=lambda s: (s.prefix, s.name)):
            number = one_at_a_time(symbol.name)
            while (symbol.prefix << 24 | number & _MASK) in taken:
                number += 1
            self.ids[symbol] = symbol.prefix << 24 | number & _MASK
            taken.add(self.ids[symbol])
        self._unnumbered.clear()

    def alias(self, name: str) -> str:
        """The shortest end of the name, in whole parts, that no other name has; or all of it."""
        return next((end for end in _ends(name) if self._ends[end] < 2), name)


def _ends(name: str) -> Iterable[str]:
    """The last part of a name, the last two, and so on."""
    parts = name.split(".")
    return (".".join(parts[i:]) for i in range(len(parts) - 1, -1, -1))


def given_id(annotations: list[syntax.Annotation]) -> tuple[syntax.Position, int] | None:
    """What @id(NUMBER) says, and where. Raises P4Error where it is no number of 32 bits."""
    annotation = syntax.annotation(annotations, "id")
    if annotation is None:
        return None
    written = "".join(token.text for token in annotation.arguments)
    try:
        number = int(written.replace("_", ""), 0)
    except ValueError:
        number = -1
    if not 0 < number < 1 << 32:
        raise P4Error(annotation.position, f"@id({written}): expected a number from 1 to 2^32 - 1")
    return annotation.position, number


def field_ids(annotations: list[list[syntax.Annotation]]) -> list[int]:
    """Of the parts of a table's key, of parameters and the like: @id, else from 1 on, in order.

    annotations: those of each part. Raises P4Error where two have the same @id.
    """
    given = [given_id(each) for each in annotations]
    taken: set[int] = set()
    for wanted in given:
        if wanted is not None and wanted[1] in taken:
            raise P4Error(wanted[0], f"@id({wanted[1]}) is that of another field already")
        if wanted is not None:
            taken.add(wanted[1])
    ids = []
    number = 1
    for wanted in given:
        if wanted is not None:
            number += 1
            ids.append(wanted[1])
            continue
        while number in taken:
            number += 1
        taken.add(number)
        ids.append(number)
    return ids
