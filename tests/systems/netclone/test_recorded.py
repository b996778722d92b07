"""A recorded run (figure7, smoke, four methods): its raw files are as the nodes left them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from turntable.load import load_run
from turntable.measurement import Measurement
from turntable.raw import RawAnswer
from turntable.report import page
from turntable.results import Run
from turntable.systems.netclone.raw import read_answers

RECORDED = Path(__file__).parent / "recorded" / "20261122-213451-smoke"
# Of both client hosts, in the whole iteration and in the window of 1 s.
SENT, OFFERED = 4879, 3204


@pytest.fixture(scope="module")
def run() -> Run:
    return load_run(RECORDED)


@pytest.fixture(scope="module")
def by_method(run: Run) -> dict[str, Measurement]:
    return {turn.parameters["method"]: turn.measurements[0] for turn in run.turns}


def raw(run: Run, method: str) -> Iterator[dict[str, Any]]:
    """What all nodes answered when it was over."""
    (turn,) = (turn for turn in run.turns if turn.parameters["method"] == method)
    for file in (RECORDED / "raw" / turn.turn.cell.id).glob("r0/i0/a1/*.json"):
        document = json.loads(file.read_text())
        if document.get("phase") == "collect":
            yield from document["answers"]


def test_every_cell_is_valid_and_every_rule_checked(run: Run) -> None:
    assert [str(turn.verdict) for turn in run.turns] == ["valid"] * 4
    assert [turn.verdict.not_checked_text for turn in run.turns] == [""] * 4
    assert [row["state"] for row in run.rows] == ["steady"] * 4


def test_all_methods_were_offered_the_same_requests(by_method: dict[str, Measurement]) -> None:
    packets = {method: m.clients.sent_total for method, m in by_method.items()}
    assert packets == {"noclone": SENT, "cclone": 2 * SENT, "netclone": SENT, "laedge": SENT}
    assert {m.clients.offered for m in by_method.values()} == {OFFERED}


def test_nothing_is_lost_between_clients_switch_and_servers(
    run: Run, by_method: dict[str, Measurement]
) -> None:
    switch, servers = by_method["netclone"].switch, by_method["netclone"].servers
    assert (switch.requests, switch.cloned) == (SENT, 4583)
    assert switch.responses - switch.filtered == SENT
    answered = [
        answer["result"]["answered_total"]
        for answer in raw(run, "netclone")
        if answer["node"].startswith("rpcserver-")
    ]
    assert len(answered) == 4
    assert sum(answered) == switch.responses == sum(s.answered_total for s in servers)


def test_the_coordinators_counts_are_without_probes(
    run: Run, by_method: dict[str, Measurement]
) -> None:
    coordinator = by_method["laedge"].coordinator
    assert (coordinator.requests, coordinator.forwarded) == (SENT, SENT)
    (whole,) = (a["result"] for a in raw(run, "laedge") if a["node"] == "laedge-coordinator")
    assert whole["requests"] > SENT


def test_latency_is_that_of_a_replay_of_the_same_draws(run: Run) -> None:
    for row in run.rows:
        for column in ("mean_us", "p50_us", "p99_us"):
            assert row[column] == pytest.approx(row[f"trace_{column}"], rel=0.06), row["method"]


def test_the_report_shows_the_run(run: Run) -> None:
    html = page.render(run)
    assert "99th percentile of the latency against load for exp25" in html
    assert "(6) the share of cloned requests falls with load" in html


def test_what_redis_servers_did_wrong_is_an_error(run: Run) -> None:
    """Of the recorded servers, as if they had had a redis-server each."""
    (turn,) = (turn for turn in run.turns if turn.parameters["method"] == "netclone")
    counts = {"executed": 100, "waited": 7, "wrong": 0, "failed": 0}

    def errors(**changes: int) -> dict[str, int]:
        redis = {"redis": counts | changes}
        answers = [
            replace(answer, result=answer.result | redis)
            if answer.node.startswith("rpcserver-")
            else answer
            for answer in answers_of(turn.turn.cell.id)
        ]
        return read_answers(answers, 0, turn.parameters, None).errors

    assert errors() == {}
    assert errors(wrong=1) == {"redis wrong": 4}
    assert errors(failed=2) == {"redis failed": 8}


def answers_of(cell: str) -> list[RawAnswer]:
    documents = [
        json.loads(file.read_text()) for file in (RECORDED / "raw" / cell).glob("r0/i0/a1/*.json")
    ]
    return [
        RawAnswer(document["host"], document["phase"], **answer)
        for document in documents
        for answer in document.get("answers", ())
    ]
