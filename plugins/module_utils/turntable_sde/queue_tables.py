"""Priorities and rates of queues and ports over BF Runtime: tables tf1.tm of a Tofino 1."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from turntable_bfrt import ALL_PIPES, Client, Update

_PORTS_PER_PIPE = 128


@dataclass(frozen=True)
class Scheduled:
    """queue: None for the whole port. What is None is left as it is; max_rate_kbps 0: no limit."""

    port: str
    queue: int | None = None
    priority: int | None = None
    max_rate_kbps: int | None = None
    max_burst_bytes: int | None = None


def updates_for(
    client: Client, wanted: Sequence[Scheduled], numbers: Mapping[str, int]
) -> list[Update]:
    """What differs from what the switch says, in the order in which it is to be written."""
    return [update for one in wanted for update in _updates_of(client, one, numbers[one.port])]


def _updates_of(client: Client, one: Scheduled, number: int) -> list[Update]:
    level, key, pipe = "port", {"dev_port": number}, ALL_PIPES
    if one.queue is not None:
        level, pipe = "queue", number // _PORTS_PER_PIPE
        [facts] = client.read("tf1.tm.port.cfg", [{"dev_port": number}])
        per_port = facts.data["port_queues_count"]
        group_queue = facts.data["pg_port_nr"] * per_port + one.queue
        key = {"pg_id": facts.data["pg_id"], "pg_queue": group_queue}
    shaping: dict[str, Any] = {}
    config: dict[str, Any] = {}
    if one.priority is not None:
        config["max_priority"] = str(one.priority)
    if one.max_rate_kbps is not None:
        config["max_rate_enable"] = one.max_rate_kbps > 0
        if one.max_rate_kbps > 0:
            shaping = {"unit": "BPS", "max_rate": one.max_rate_kbps}
    if one.max_burst_bytes is not None:
        shaping["max_burst_size"] = one.max_burst_bytes
    # The rate before it counts.
    updates = []
    for table, values in (("sched_shaping", shaping), ("sched_cfg", config)):
        name = f"tf1.tm.{level}.{table}"
        if not values:
            continue
        [entry] = client.read(name, [key], pipe=pipe)
        left = {field: value for field, value in values.items() if entry.data[field] != value}
        if "max_rate" in left:
            left["unit"] = "BPS"
        if left:
            updates.append(Update("modify", name, key, left, pipe=pipe))
    return updates
