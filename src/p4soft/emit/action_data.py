"""Data of tables' actions: how they lie in entries (src/dataplane/table.h)."""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.symbols import ActionSymbol
from p4soft.frontend import syntax


def data_words(symbol: ActionSymbol) -> list[int]:
    """For each parameter, the first of its 64-bit words; and at the end, how many there are."""
    words = [0]
    for parameter in symbol.data:
        words.append(words[-1] + (2 if (types.width_of(parameter.type) or 0) > 64 else 1))
    return words


def most_words(table: syntax.Table) -> int:
    """Of the data of its actions."""
    return max(data_words(reference.symbol)[-1] for reference in table.actions)
