"""What happens while an iteration is measured: faults and changes of load at given instants.

An experiment says it in its file (docs/experiments.md, Timeline):

    timeline:
      - {at_s: 5, kill: switch0}
      - {at_s: 8, start: switch0}
      - {at_s: 4, rate: 20000}            # a verb of the system

turntable_core.components.timeline has the verbs, and sends what they mean to the supervisors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

AT = "at_s"
KILL, START, IMPAIR, HEAL = "kill", "start", "impair", "heal"


@dataclass(frozen=True)
class Event:
    at_s: float  # after the common start instant
    verb: str
    value: Any
    # File and line that say it, for messages; a plan does not keep it.
    where: str = field(default="", compare=False)

    @property
    def label(self) -> str:
        return f"{self.verb} {_words(self.value)}"

    def at_ns(self, start_ns: int) -> int:
        """CLOCK_REALTIME. start_ns: the common start instant."""
        return start_ns + round(self.at_s * 1e9)


def _words(value: Any) -> str:
    """For people: server0 rx drop every 100."""
    if isinstance(value, list):
        return ", ".join(_words(item) for item in value)
    if not isinstance(value, Mapping):
        return str(value)
    # What is one word by itself needs no name before it, as a host.
    named = [
        (name, item) if isinstance(item, int | float) else ("", item)
        for name, item in value.items()
    ]
    return " ".join(f"{name} {_words(item)}".strip() for name, item in named)


def read(
    document: Iterable[Mapping[str, Any]], where: Callable[[int], str] = lambda _: ""
) -> tuple[Event, ...]:
    """The `timeline` of an experiment or of a plan, by time. where: of the entry of this index."""
    events = []
    for index, entry in enumerate(document):
        ((verb, value),) = ((key, value) for key, value in entry.items() if key != AT)
        events.append(Event(entry[AT], verb, value, where(index)))
    return tuple(sorted(events, key=lambda event: event.at_s))


def to_json(events: Iterable[Event]) -> list[dict[str, Any]]:
    return [{AT: event.at_s, event.verb: event.value} for event in events]


def unheard(
    events: Iterable[Event], told: Iterable[tuple[int, str]], start_ns: int
) -> Iterator[Event]:
    """What no host told of. told: instants and labels, an event's as often as hosts took part.

    An older version may have worded a label otherwise: what has the words of no event here is
    known by instant and verb.
    """
    planned = {(event.at_ns(start_ns), event.label): event for event in events}
    known = set(told)
    otherwise = Counter((at_ns, label.partition(" ")[0]) for at_ns, label in known - planned.keys())
    for (at_ns, label), event in planned.items():
        if (at_ns, label) in known:
            continue
        otherwise[at_ns, event.verb] -= 1
        if otherwise[at_ns, event.verb] < 0:
            yield event


def restarts_nodes(events: Iterable[Event]) -> bool:
    """Whether nodes are missing after an iteration, or are not as the run has configured them."""
    return any(event.verb in (KILL, START) for event in events)


def impairs_links(events: Iterable[Event]) -> bool:
    return any(event.verb == IMPAIR for event in events)
