"""The switch's counter of outcomes (p4/netclone/outcome_numbers.p4) -> SwitchCounts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from turntable.raw import RawAnswer, switch_results
from turntable.systems.netclone.measurement import SwitchCounts
from turntable_systems.netclone import methods
from turntable_systems.netclone.p4_numbers import Outcome
from turntable_systems.netclone.switch_tables import (
    FORWARDED_OUTCOMES,
    OUTCOMES,
    REFUSED_OUTCOMES,
    REQUEST_OUTCOMES,
)

_NOT_CLONED = {
    "first busy": Outcome.FIRST_BUSY,
    "second busy": Outcome.SECOND_BUSY,
    "both busy, to the first": Outcome.TO_FIRST,
    "both busy, to the second": Outcome.TO_SECOND,
}


def read_switch(answers: Sequence[RawAnswer], parameters: Mapping[str, Any]) -> SwitchCounts | None:
    """None where the switch only forwards."""
    packets = packets_of(answers)
    if packets is None or not methods.by_switch(parameters):
        return None

    def total(outcomes: Iterable[int]) -> int:
        return sum(packets.get(outcome, 0) for outcome in outcomes)

    return SwitchCounts(
        requests=total(REQUEST_OUTCOMES),
        cloned=packets.get(Outcome.CLONED, 0),
        not_cloned={name: packets.get(outcome, 0) for name, outcome in _NOT_CLONED.items()},
        came_round=packets.get(Outcome.CAME_ROUND, 0),
        responses=total((*FORWARDED_OUTCOMES, Outcome.SLOWER)),
        filtered=packets.get(Outcome.SLOWER, 0),
        overwritten=packets.get(Outcome.FASTER_OVERWROTE, 0),
        unknown=total(REFUSED_OUTCOMES),
    )


def packets_of(answers: Iterable[RawAnswer]) -> dict[int, int] | None:
    """By outcome."""
    for result in switch_results(answers, "counter_read"):
        if result["table"] == OUTCOMES:
            return {row["index"]: row["$COUNTER_SPEC_PKTS"] for row in result["counters"]}
    return None


def dropped(answers: Iterable[RawAnswer]) -> int:
    """What the program itself ended, as it should: slower answers, and what hosts' kernels send
    beside (ARP, IPv6).
    """
    packets = packets_of(answers) or {}
    return sum(packets.get(outcome, 0) for outcome in (Outcome.SLOWER, Outcome.NOT_IPV4))
