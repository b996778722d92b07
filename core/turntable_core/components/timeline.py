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
from turntable_core.errors import InputError
from turntable_core.plan import Cell, Plan
from turntable_core.requests import Batches, Request, merged
from turntable_core.switch import CRASH, LINK_FAULTS, driver_of
from turntable_core.system import System
from turntable_core.testbed import Testbed
from turntable_core.timeline import HEAL, IMPAIR, KILL, START, Event


def check(events: Iterable[Event], cells: Iterable[Cell], system: System, testbed: Testbed) -> None:
    """Raises InputError for verbs and hosts that there are not, and for what would come too late
    in one of the cells.
    """
    known = {**_VERBS, **system.timeline_verbs()}
    every = [cell.parameters for cell in cells]
    shortest = min(map(system.windows, every), key=lambda w: w.loaded_s)
    for event in events:
        if event.verb not in known:
            raise InputError(event.where, "timeline", event.verb, f"one of {', '.join(known)}")
        of_core = event.verb in _VERBS
        faults = (
            [_fault(event, testbed)]
            if of_core
            else [system.timeline_fault(event, parameters) for parameters in every]
        )
        if fault := next(filter(None, faults), None):
            raise InputError(event.where, f"timeline.{event.verb}", event.value, fault)
        if event.at_s > shortest.loaded_s:
            expected = (
                f"at most {shortest.loaded_s:g}: seconds after the common start instant, that is "
                f"warm-up ({shortest.warmup_s:g} s), then the window ({shortest.measure_s:g} s)"
            )
            raise InputError(event.where, "timeline.at_s", event.at_s, expected)


def check_nodes(plan: Plan, testbed: Testbed) -> None:
    """Raises InputError for nodes that are killed where none runs, or started where one does."""
    for turn in {turn.cell.id: turn for turn in plan.turns}.values():
        context = Context(testbed, plan, turn)
        dead: set[tuple[str, str]] = set()
        for event in plan.timeline:
            if event.verb not in (KILL, START):
                continue
            nodes = _nodes_of(event, context)
            if wrong := nodes & dead if event.verb == KILL else nodes - dead:
                expected = f"another instant: {_states(wrong, runs=event.verb == START)} then"
                raise InputError(event.where, f"timeline.{event.verb}", event.value, expected)
            dead = dead | nodes if event.verb == KILL else dead - nodes


def begin(context: Context) -> Batches:
    """Every host's supervisor is told its part, also that it has none."""
    parts: dict[str, list[dict[str, Any]]] = {host.name: [] for host in context.testbed.hosts}
    verbs = {**_VERBS, **context.system.timeline_verbs()}
    for event in context.plan.timeline:
        at_ns = event.at_ns(context.start_at_ns)
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


def undo(context: Context) -> Batches:
    """After an iteration: no link is impaired. Nodes are started afresh by another way
    (playbooks/tasks/iteration.yml).
    """
    hosts = {event.value["host"] for event in context.plan.timeline if event.verb == IMPAIR}
    if not hosts:
        return {}
    ended = {context.testbed.switch.name: [Request(supervisor.NODE, "timeline", {"events": []})]}
    return merged([ended, *(_heal(host, context) for host in sorted(hosts))])


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


_VERBS: Mapping[str, Verb] = {KILL: _kill, START: _start, IMPAIR: _impair, HEAL: _heal}


def _fault(event: Event, testbed: Testbed) -> str | None:
    """What was expected of the value."""
    if event.verb in (IMPAIR, HEAL) and (refusal := _refusal(LINK_FAULTS, testbed)):
        return refusal
    if event.verb == IMPAIR:
        return _fault_of_impairment(event.value, testbed)
    if event.verb == HEAL:
        return _fault_of_link(event.value, testbed)
    hosts = [host.name for host in testbed.hosts]
    if isinstance(event.value, str) and event.value.rpartition("@")[2] in hosts:
        return _refusal(CRASH, testbed) if _is_of_switch(event.value, testbed) else None
    return f"a host of this testbed, {', '.join(hosts)}, or NODE@HOST"


def _is_of_switch(value: str, testbed: Testbed) -> bool:
    """The switch, and not another node of its host."""
    node, _, host = value.rpartition("@")
    if testbed.switch is None or host != testbed.switch.name:
        return False
    return node in ("", *driver_of(testbed.switch).programs)


def _refusal(fault: str, testbed: Testbed) -> str | None:
    """Of a fault that the switch cannot have: CRASH or LINK_FAULTS."""
    if testbed.switch is None or not (why := driver_of(testbed.switch).cannot.get(fault)):
        return None
    return (
        f"no such event where turntable_switch_target is {testbed.switch.target}: {why}. Take it "
        "out, or choose an inventory whose turntable_switch_target is soft"
    )


def _fault_of_impairment(value: Any, testbed: Testbed) -> str | None:
    if (
        not isinstance(value, Mapping)
        or value.keys() != {"host", "direction", "rules"}
        or value["direction"] not in ("rx", "tx")
        or not isinstance(value["rules"], list)
    ):
        return "{host: NAME, direction: rx or tx, rules: [...]} (docs/p4soft.md, Faults of links)"
    for match in (rule["match"] for rule in value["rules"] if "mask" in rule.get("match", ())):
        if len(match["mask"]) != len(match["value"]):
            return f"a mask as long as its value, not {match['mask']!r} for {match['value']!r}"
    return _fault_of_link(value["host"], testbed)


def _fault_of_link(value: Any, testbed: Testbed) -> str | None:
    hosts = [host.name for host in testbed.data_hosts] if testbed.switch else []
    return None if value in hosts else f"a host with a link to the switch: {', '.join(hosts)}"


def _nodes_of(event: Event, context: Context) -> set[tuple[str, str]]:
    """Hosts with names of the nodes that an event means."""
    try:
        meant = _spawned(event.value, context)
    except InputError as error:
        key = f"timeline.{event.verb}"
        raise InputError(event.where, key, event.value, error.expected) from None
    return {(host, name) for host, names in meant.items() for name in names}


def _states(nodes: Iterable[tuple[str, str]], runs: bool) -> str:
    """`sender of sender0 does not run`."""
    names = ", ".join(f"{name} of {host}" for host, name in sorted(nodes))
    return f"{names} {'runs' if runs else 'does not run'}"


def _spawned(value: str, context: Context) -> dict[str, list[str]]:
    """Host -> names of the nodes that the run has started there and that `value` means."""
    node, _, host = str(value).rpartition("@")
    names = [_name(request) for request in _spawns(context).get(host, [])]
    meant = [name for name in names if node in ("", name)]
    if not meant:
        expected = f"one of {', '.join(names) or 'none'}: nodes that the run starts on {host}"
        raise InputError("timeline", "node", value, expected)
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
