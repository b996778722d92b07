"""What a verdict cannot say of imported results, since the artifact's files do not hold it."""

from __future__ import annotations

from collections.abc import Mapping

from turntable.verdict import Case, Finding, Rule
from turntable_systems.farreach import popularity
from turntable_systems.farreach.methods import caches
from turntable_systems.farreach.offered import is_open

_SERVERS = "the artifact's files hold no counters of servers"
_TRACES = "the artifact's files hold no traces"
_SWITCH = "the artifact's files hold no counters of the switch"
_CLIENTS = "the artifact's files hold no losses or errors"
_HOSTS = "the artifact's files hold no counters of hosts"
_TIMES = "the artifact's files hold no instants"
_NODES = "the artifact's files hold nothing about caches, copies and snapshots"

_LACKING: Mapping[str, str] = {
    **dict.fromkeys(("bottleneck", "lost capacity", "rates"), _SERVERS),
    **dict.fromkeys(("offered", "delivered", "hit share", "composition", "settled"), _TRACES),
    **dict.fromkeys(("changes",), _TRACES),
    **dict.fromkeys(("cached keys", "copies", "snapshots"), _NODES),
    **dict.fromkeys(("errors", "retries", "unanswered", "socket drops"), _CLIENTS),
    **dict.fromkeys(("switch drops", "switch stalls", "switch starved"), _SWITCH),
    **dict.fromkeys(("NIC drops", "steal", "clients starved"), _HOSTS),
    **dict.fromkeys(("changes together", "late start", "late end", "client stalls"), _TIMES),
    **dict.fromkeys(("sent late", "idle path", "withheld"), _TIMES),
}
_OF_CHANGES = frozenset({"changes", "changes together"})
_OF_OPEN_LOOPS = frozenset({"offered", "delivered", "sent late", "idle path", "withheld"})
_OF_CACHES = frozenset({"cached keys", "copies", "snapshots", "hit share"})
_OF_CLOSED_LOOPS = frozenset({"bottleneck", "settled"})


def where_known(name: str, rule: Rule) -> Rule:
    """The rule, where there is what it asks for."""
    if name not in _LACKING:
        return rule

    def limited(case: Case) -> Finding:
        if not _is_imported(case):
            return rule(case)
        return Finding(not_checked=_LACKING[name]) if _is_meant(name, case) else Finding()

    return limited


def _is_imported(case: Case) -> bool:
    """Of such turns nothing is predicted, whether anything of them was measured or not."""
    return case.prediction is not None and case.prediction.is_unknown


def _is_meant(name: str, case: Case) -> bool:
    if name in _OF_CHANGES:
        return popularity.changes(case.parameters)
    if name in _OF_CACHES:
        return caches(case.parameters)
    if name in _OF_OPEN_LOOPS:
        return is_open(case.parameters)
    return name not in _OF_CLOSED_LOOPS or not is_open(case.parameters)
