"""Keys move from one server to another while clients use them.

An experiment's timeline says when: `{at_s: 4, migrate: {from: 0, to: 1}}`. How many is a parameter,
`move_share`: of the first range that the server owns; for how long hot ones are sought before is
another, `sample_s`, and whether the source sends where they are on its device, `indirection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.timeline import Event

VERB = "migrate"


def fault(event: Event, parameters: Mapping[str, Any]) -> str | None:
    """What was expected instead; None: nothing."""
    value = event.value
    numbers = [value.get(name) for name in ("from", "to")] if isinstance(value, dict) else []
    known = isinstance(value, dict) and set(value) == {"from", "to"}
    if not known or not all(map(_is_number, numbers)) or numbers[0] == numbers[1]:
        return "numbers of two servers, such as {from: 0, to: 1}"
    if not parameters["cluster"]:
        return "an experiment in which keys may move: with cluster: true (-e cluster=true)"
    servers = parameters["servers"]
    if max(numbers) >= servers:
        return f"numbers of servers below {servers}, of which a cell has so many (servers)"
    return None


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
