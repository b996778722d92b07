"""Keys move from one server to another while clients use them.

An experiment's timeline says when: `{at_s: 4, migrate: {from: 0, to: 1}}`. How many is a parameter,
`move_share`: of the first range that the server owns.
"""

from __future__ import annotations

from turntable_core.timeline import Event

VERB = "migrate"


def fault(event: Event) -> str | None:
    """What was expected instead; None: nothing."""
    value = event.value
    numbers = [value.get(name) for name in ("from", "to")] if isinstance(value, dict) else []
    known = isinstance(value, dict) and set(value) == {"from", "to"}
    if known and all(_is_number(number) for number in numbers) and numbers[0] != numbers[1]:
        return None
    return "numbers of two servers, such as {from: 0, to: 1}"


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
