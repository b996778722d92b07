"""Sums between the counters of a client machine: they hold in recorded runs, and every counter is
in one of them.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from turntable.systems.farreach.bookkeeping import contradictions

from . import recordings

Stats = dict[str, Any]


def clients() -> list[Stats]:
    raw = Path(__file__).parent / "recorded" / recordings.RUN / "raw" / recordings.CELL / "r0"
    return [
        json.loads(path.read_text())["answers"][0]["result"]
        for path in sorted(raw.glob("i*/a1/client*.json"))
    ]


def test_recorded_machines_contradict_nothing() -> None:
    assert len(clients()) == 8
    assert [contradictions(client) for client in clients()] == [[]] * 8


def test_lost_and_late_packets_add_up() -> None:
    client = clients()[0]
    row = client["partitions"][0]
    # A request is lost and sent again. Another is late: it is sent again, and answered twice.
    client["retries"] += 2
    row["requests_total"] += 2
    client["stale_answers"] += 1
    row["answers_total"] += 1
    assert contradictions(client) == []
    # An answer is lost while the clients drain.
    row["answers_total"] -= 1
    client["answered_in_drain"] -= 1
    client["unanswered"] += 1
    assert contradictions(client) == []
    # The system refuses to send a request, which is sent again later.
    client["send_errors"] += 1
    client["retries"] += 1
    assert contradictions(client) == []


def add(amount: int, *path: str | int) -> Callable[[Stats], None]:
    def edit(client: Stats) -> None:
        *parents, last = path
        for key in parents:
            client = client[key]
        client[last] += amount

    return edit


def repeat_second(client: Stats) -> None:
    client["seconds"].append(copy.deepcopy(client["seconds"][0]))


def repeat_partition(client: Stats) -> None:
    rows = client["seconds"][0]["partitions"]
    rows.append(rows[0] | {"server_ops": 0, "switch_ops": 0})


@pytest.mark.parametrize(
    ("edit", "sentence"),
    [
        (add(1, "retries"), "requests sent: 3170, but 3171 by answered + unanswered"),
        (add(1, "stale_answers"), "requests sent: 3170, but 3169 by"),
        (add(1, "partitions", 0, "answers_total"), "requests sent: 3170, but 3171 by"),
        (add(-1, "answered_in_drain"), "in flight at the window's end: 64, but 63 by"),
        (add(1, "operations"), "operations: 2503, but 2502 by partitions"),
        (
            add(1, "seconds", 0, "partitions", 0, "switch_ops"),
            "operations of partition 3: 2502, but 2503 by seconds",
        ),
        (repeat_second, "seconds are [0, 0]: expected 0 to 1, each once"),
        (add(1, "seconds", 0, "second"), "seconds are [1]: expected 0 to 0, each once"),
        (lambda client: client["seconds"].clear(), "seconds are []: expected"),
        (repeat_partition, "second 0 has partitions [3, 3]: expected [3]"),
    ],
)
def test_contradiction_is_a_sentence(edit: Callable[[Stats], None], sentence: str) -> None:
    client = clients()[0]
    edit(client)
    assert any(text.startswith(sentence) for text in contradictions(client)), contradictions(client)
