"""Which of a table's entries wins where several match: `priority = N`, `largest_priority_wins` and
`priority_delta` (P4-16 specification, 14.2.1.4). As the Tofino compiler has it, the control plane
sees the place of an entry in this order as its priority.
"""

from __future__ import annotations

from p4soft.errors import P4Error
from p4soft.frontend import syntax

LARGEST_WINS = "largest_priority_wins"
DELTA = "priority_delta"


def has_priorities(table: syntax.Table) -> bool:
    """Of exact keys no two entries match alike, and of lpm keys the longest prefix wins."""
    return any(key.matches not in ("exact", "lpm") for key in table.keys)


def check_priorities(table: syntax.Table) -> None:
    """Priorities are where they have a meaning."""
    entries = table.entries or []
    given = [entry for entry in entries if entry.priority is not None]
    if not given:
        return
    position = given[0].position
    if table.constant_entries:
        raise P4Error(
            position,
            "const entries have no priorities: the first that matches wins; leave them out, or "
            "leave out 'const' before 'entries'",
        )
    if not has_priorities(table):
        kinds = " and ".join(sorted({key.matches for key in table.keys}))
        raise P4Error(position, f"entries of a table with {kinds} keys have no priorities")
    if entries[0].priority is None:
        raise P4Error(
            entries[0].position, "the first entry has no priority, and later ones have; give it one"
        )


def in_order(table: syntax.Table) -> list[syntax.TableEntry]:
    """The one that wins first; values of properties and priorities are known. An entry without a
    priority has that of the entry before it, less the delta where the largest wins, and else more.
    """
    entries = table.entries or []
    if not entries or entries[0].priority is None:
        return entries
    sign = -1 if _value(table, LARGEST_WINS, True) else 1
    step = sign * _value(table, DELTA, 1)
    priorities: list[int] = []
    for entry in entries:
        if entry.priority is not None:
            priorities.append(entry.priority.value)
        else:
            priorities.append(priorities[-1] + step)
        if priorities[-1] < 0:
            raise P4Error(
                entry.position,
                f"the priority of this entry is {priorities[-1]}; expected 0 or more",
            )
    order = sorted(range(len(entries)), key=lambda number: sign * priorities[number])
    return [entries[number] for number in order]  # of equal ones the first


def _value(table: syntax.Table, name: str, default: int) -> int:
    item = table.property(name)
    return default if item is None else item.value.value
