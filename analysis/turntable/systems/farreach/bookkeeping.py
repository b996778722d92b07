"""Sums that hold between the counters of one client machine, whatever happens on the network.

A program that breaks one has an error: no packet, lost or late, can do it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def contradictions(client: Mapping[str, Any]) -> list[str]:
    """client: the `stats` of a kvclient (docs/raw-format.md). One sentence per broken sum."""
    return [
        f"{what}: {found}, but {expected} by {sum_of}"
        for what, found, sum_of, expected in _sums(client)
        if found != expected
    ] + list(_seconds(client))


def _sums(client: Mapping[str, Any]) -> Iterator[tuple[str, int, str, int]]:
    partitions = client["partitions"]

    def total(field: str) -> int:
        return sum(row[field] for row in partitions)

    answered = total("answers_total") - client["stale_answers"]
    yield (
        "requests sent",
        total("requests_total"),
        "answered + unanswered + sent again - refused by the system",
        answered + client["unanswered"] + client["retries"] - client["send_errors"],
    )
    yield (
        "in flight at the window's end",
        client["in_flight_at_stop"],
        "answered in the drain + unanswered",
        client["answered_in_drain"] + client["unanswered"],
    )
    operations = total("server_ops") + total("switch_ops")
    yield "operations", client["operations"], "partitions", operations
    for row in partitions:
        yield (
            f"operations of partition {row['partition']}",
            row["server_ops"] + row["switch_ops"],
            "seconds",
            _in_seconds(client, row["partition"]),
        )


def _in_seconds(client: Mapping[str, Any], partition: int) -> int:
    return sum(
        row["server_ops"] + row["switch_ops"]
        for second in client["seconds"]
        for row in second["partitions"]
        if row["partition"] == partition
    )


def _seconds(client: Mapping[str, Any]) -> Iterator[str]:
    """Every second of the window once, in order, with every partition once."""
    numbers = [second["second"] for second in client["seconds"]]
    if numbers != list(range(len(numbers))) or not numbers:
        yield f"seconds are {numbers}: expected 0 to {max(len(numbers), 1) - 1}, each once"
    running = [row["partition"] for row in client["partitions"]]
    for second in client["seconds"]:
        here = [row["partition"] for row in second["partitions"]]
        if here != running:
            yield f"second {second['second']} has partitions {here}: expected {running}"
