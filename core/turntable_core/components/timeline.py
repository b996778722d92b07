"""What happens at instants of a measurement (turntable_core.timeline): the hosts' own supervisors
carry it out on the common clock.

Nodes are meant by the name of a host, or by NODE@HOST where only one of a host's is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from turntable_core import components
from turntable_core.components import supervisor, switch
from turntable_core.context import Context
from turntable_core.errors import InputError, TurntableError
from turntable_core.requests import Batches, Request, merged
from turntable_core.system import System
from turntable_core.testbed import Testbed
from turntable_core.timeline import Event


def check(events: Iterable[Event], system: System, testbed: Testbed, where: str) -> None:
    """Raises InputError for verbs and hosts that there are not. where: of the timeline."""
    known = {**_VERBS, **system.timeline_verbs()}
    for event in events:
        if event.verb not in known:
            raise InputError(where, "timeline", event.verb, f"one of {', '.join(known)}")
        if event.verb in _VERBS and (fault := _fault(event, testbed)):
            raise InputError(where, f"timeline.{event.verb}", event.value, fault)


def begin(context: Context) -> Batches:
    """Every host's supervisor is told its part, also that it has none."""
    parts: dict[str, list[dict[str, Any]]] = {host.name: [] for host in context.testbed.hosts}
    verbs = {**_VERBS, **context.system.timeline_verbs()}
    for event in context.plan.timeline:
        at_ns = context.start_at_ns + round(event.at_s * 1e9)
        for host, wanted in verbs[event.verb](event.value, context).items():
            sent = [_plain(request) for request in wanted]
            parts[host].append({"at_ns": at_ns, "label": event.label, "requests": sent})
    return {
        host: [Request(supervisor.NODE, "timeline", {"events": events})]
        for host, events in parts.items()
    }


def collect(context: Context) -> Batches:
    """What was done when; nothing where nothing was planned."""
    if not context.plan.timeline:
        return {}
    return {host.name: [Request(supervisor.NODE, "events")] for host in context.testbed.hosts}


Verb = Callable[[Any, Context], Batches]


def _kill(value: Any, context: Context) -> Batches:
    nodes = _spawned(value, context)
    return {host: [supervisor.kill(name) for name in names] for host, names in nodes.items()}


def _start(value: Any, context: Context) -> Batches:
    """As the run started it. A switch gets its tables too."""
    nodes = _spawned(value, context)
    batches = {
        host: [request for request in _spawns(context).get(host, []) if _name(request) in names]
        for host, names in nodes.items()
    }
    if context.testbed.switch and nodes.get(context.testbed.switch.name):
        return merged([batches, switch.configure(context)])
    return batches


def _impair(value: Mapping[str, Any], context: Context) -> Batches:
    """{host, direction: rx or tx as the switch sees it, rules}: docs/p4soft.md, Faults of links."""
    return switch.impair(context, value["host"], value["direction"], value["rules"])


def _heal(value: str, context: Context) -> Batches:
    """The link of a host has no faults any more."""
    return merged(switch.impair(context, value, direction, []) for direction in ("rx", "tx"))


_VERBS: Mapping[str, Verb] = {"kill": _kill, "start": _start, "impair": _impair, "heal": _heal}


def _fault(event: Event, testbed: Testbed) -> str | None:
    """What was expected of the value."""
    if event.verb == "impair":
        return _fault_of_impairment(event.value, testbed)
    if event.verb == "heal":
        return _fault_of_link(event.value, testbed)
    hosts = [host.name for host in testbed.hosts]
    if isinstance(event.value, str) and event.value.rpartition("@")[2] in hosts:
        return None
    return f"a host of this testbed, {', '.join(hosts)}, or NODE@HOST"


def _fault_of_impairment(value: Any, testbed: Testbed) -> str | None:
    if (
        not isinstance(value, Mapping)
        or value.keys() != {"host", "direction", "rules"}
        or value["direction"] not in ("rx", "tx")
        or not isinstance(value["rules"], list)
    ):
        return "{host: NAME, direction: rx or tx, rules: [...]} (docs/p4soft.md, Faults of links)"
    return _fault_of_link(value["host"], testbed)


def _fault_of_link(value: Any, testbed: Testbed) -> str | None:
    hosts = [host.name for host in testbed.data_hosts] if testbed.switch else []
    return None if value in hosts else f"a host with a link to the switch: {', '.join(hosts)}"


def _spawned(value: str, context: Context) -> dict[str, list[str]]:
    """Host -> names of the nodes that the run has started there and that `value` means."""
    node, _, host = str(value).rpartition("@")
    names = [_name(request) for request in _spawns(context).get(host, [])]
    meant = [name for name in names if node in ("", name)]
    if not meant:
        raise TurntableError(
            f"timeline: {value!r} means no node; expected one of {', '.join(names) or 'none'} "
            f"that run on {host} in this turn"
        )
    return {host: meant}


def _spawns(context: Context) -> Batches:
    """What the run sent to start all nodes of the turn."""
    batches = components.batches(context.system.nodes(context.parameters), "start", context)
    return {
        host: [request for request in sent if request.command == "spawn"]
        for host, sent in batches.items()
    }


def _name(request: Request) -> str:
    return request.args["name"]


def _plain(request: Request) -> dict[str, Any]:
    return {"node": request.node, "command": request.command, "args": dict(request.args)}
