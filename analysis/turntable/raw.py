"""Fields of the raw statistics that every system has (docs/raw-format.md): hosts and the switch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable.measurement import Event, HostLoad, Punctuality
from turntable_core.switch import not_measured, switch_nodes

BEGIN, COLLECT = "begin", "collect"


@dataclass(frozen=True)
class RawAnswer:
    """What a node of `host` answered to `command` in a phase of the attempt."""

    host: str
    phase: str
    node: str
    command: str
    result: Mapping[str, Any]


def results(answers: Iterable[RawAnswer], node: str, command: str) -> list[Mapping[str, Any]]:
    return [answer.result for answer in answers if (answer.node, answer.command) == (node, command)]


def results_of_several(
    answers: Iterable[RawAnswer], program: str, command: str
) -> list[Mapping[str, Any]]:
    """Of the nodes PROGRAM-… of all hosts, where a host has several of a program."""
    return [
        answer.result
        for answer in answers
        if answer.node.startswith(f"{program}-") and answer.command == command
    ]


def switch_results(answers: Iterable[RawAnswer], command: str) -> list[Mapping[str, Any]]:
    """Of the switch's node, whose name depends on the switch's driver."""
    nodes = switch_nodes()
    return [a.result for a in answers if a.node in nodes and a.command == command]


def switch_not_measured(answers: Iterable[RawAnswer]) -> dict[str, str]:
    """What the switch of these answers does not measure -> why not."""
    return not_measured({answer.node for answer in answers})


def errors(who: str, rows: Sequence[Mapping[str, Any]], names: Iterable[str]) -> dict[str, int]:
    """Counts that are not zero, by `who` and name, summed over the rows."""
    counts = {f"{who} {name}": sum(row[name] for row in rows) for name in names}
    return {name: count for name, count in counts.items() if count}


def of_threads(stats: Sequence[Mapping[str, Any]], field: str) -> float | None:
    """The largest of all load generators' threads; None if one does not have it."""
    values = [thread.get(field) for machine in stats for thread in machine["threads"]]
    return None if None in values else max(values)


def threads(stats: Sequence[Mapping[str, Any]]) -> Punctuality:
    """Of load generators. stats: of each machine."""
    waits = [
        thread["wait_ns"] / thread["measured_ns"]
        for machine in stats
        for thread in machine["threads"]
        if thread.get("wait_ns") is not None and thread["measured_ns"]
    ]
    return Punctuality(of_threads(stats, "read_late_max_us"), max(waits, default=None))


def wait_share(threads: Iterable[Mapping[str, Any]]) -> float | None:
    """Of the time, the worst of these threads was ready to run, without a processor; None where the
    kernel does not count it.
    """
    shares = [
        thread["scheduling"]["waited_ns"] / thread["measured_ns"]
        for thread in threads
        if thread.get("scheduling") and thread["measured_ns"]
    ]
    return max(shares, default=None)


def switch_thread(answers: Iterable[RawAnswer]) -> Punctuality:
    for info in switch_results(answers, "info"):
        thread = info.get("pipeline_thread") or {}
        # Without elapsed_ns the counts are those since the switch started: no measurement's.
        if elapsed_ns := thread.get("elapsed_ns"):
            wait_ns = thread["wait_ns"]
            return Punctuality(
                thread["late_max_ns"] / 1e3, None if wait_ns is None else wait_ns / elapsed_ns
            )
    return Punctuality()


def switch_drops(
    answers: Iterable[RawAnswer], expected: Mapping[str, int]
) -> dict[str, int] | None:
    """By reason, where there are any. expected: those that are no loss, as the program's way to
    end a packet that it has answered.
    """
    stats = switch_results(answers, "port_stats")
    if not stats:
        return None
    counts: dict[str, int] = {}
    for port in (port for result in stats for port in result["ports"]):
        for reason, count in port["drops"].items():
            counts[reason] = counts.get(reason, 0) + count
    lost = {reason: max(0, count - expected.get(reason, 0)) for reason, count in counts.items()}
    return {reason: count for reason, count in lost.items() if count}


def told_events(answers: Iterable[RawAnswer]) -> list[tuple[int, str]]:
    """Of the timeline: instants at which they were to happen, CLOCK_REALTIME, and labels."""
    return [
        (event["at_ns"], event["label"])
        for result in results(answers, "supervisor", "events")
        for event in result["events"]
    ]


def events(answers: Iterable[RawAnswer], window_from_ns: int) -> tuple[Event, ...]:
    """Of the timeline, by time. window_from_ns: CLOCK_REALTIME."""
    made = [
        Event(
            at_s=((event["began_ns"] or event["at_ns"]) - window_from_ns) / 1e9,
            label=event["label"],
            error=event["error"] or _unfinished(event),
        )
        for result in results(answers, "supervisor", "events")
        for event in result["events"]
    ]
    return tuple(sorted(made, key=lambda event: event.at_s))


def _unfinished(event: Mapping[str, Any]) -> str | None:
    if event["began_ns"] is None:
        return "its time had not come"
    return None if event["ended_ns"] else "it had not ended when the measurement had"


# Of /proc/stat: together all of a processor's time.
_PROCESSOR_TIMES = (
    "user_ns",
    "nice_ns",
    "system_ns",
    "idle_ns",
    "iowait_ns",
    "irq_ns",
    "softirq_ns",
    "steal_ns",
)
_NIC_DROPS = ("rx_errors", "rx_drops", "rx_overruns", "tx_errors", "tx_drops", "tx_overruns")


def hosts(answers: Sequence[RawAnswer]) -> tuple[HostLoad, ...] | None:
    """What the hosts' counters grew by from the begin of the measurement to its end."""
    stats: dict[str, dict[str, Mapping[str, Any]]] = {}
    for answer in answers:
        if (answer.node, answer.command) == ("supervisor", "host_stats"):
            stats.setdefault(answer.host, {})[answer.phase] = answer.result
    if not stats:
        return None
    return tuple(_host_load(host, both[BEGIN], both[COLLECT]) for host, both in stats.items())


def _host_load(host: str, before: Mapping[str, Any], after: Mapping[str, Any]) -> HostLoad:
    grown = {name: after[name] - before[name] for name in _PROCESSOR_TIMES}
    whole = sum(grown.values())
    return HostLoad(
        host,
        steal_share=grown["steal_ns"] / whole if whole else 0.0,
        nic_drops=_nic_drops(after) - _nic_drops(before),
    )


def _nic_drops(stats: Mapping[str, Any]) -> int:
    return sum(
        interface[name]
        for interface in stats["interfaces"]
        if interface["name"] != "lo"
        for name in _NIC_DROPS
    )
