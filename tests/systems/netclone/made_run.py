"""A run directory as nodes would leave it, with made-up numbers of the paper's shape."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from made_raw import write_attempt

from turntable_core import plan
from turntable_core.journal import OK, attempt_directory
from turntable_core.plan import Iteration, Turn
from turntable_core.spec import choose_profile, load_experiment
from turntable_core.system import Planned
from turntable_systems.netclone import methods, offered_load, service
from turntable_systems.netclone.p4_numbers import Outcome
from turntable_systems.netclone.prediction import Prediction
from turntable_systems.netclone.switch_tables import OUTCOMES

from .conftest import REPOSITORY
from .measured import histogram

REQUESTS = 10_000
CLONED = 0.6  # of the requests, where somebody clones


def make_run(parent: Path, experiment: str = "figure7", **levels: list[Any]) -> Path:
    """levels: of factors, instead of the experiment's."""
    read = load_experiment(REPOSITORY / f"experiments/netclone/{experiment}.yml")
    scale = choose_profile(read, "embedded")
    scale.factors.update(levels)
    made = plan.make_plan(
        scale,
        plan.cells_of(scale),
        lambda parameters, _: Planned((Iteration(0, "all"),), simulated(parameters)),
    )
    run = parent / "made"
    run.mkdir()
    (run / "plan.json").write_text(json.dumps(plan.to_json(made)))
    (run / "manifest.json").write_text(json.dumps({"fidelity_class": "emulated"}))
    lines = [json.dumps(_measure(run, turn)) + "\n" for turn in made.turns]
    (run / "journal.ndjson").write_text("".join(lines))
    return run


def simulated(parameters: Mapping[str, Any]) -> Prediction:
    return Prediction(latency_of(parameters), _clone_rate(parameters), 0.1, saturated=False)


def latency_of(parameters: Mapping[str, Any]) -> str:
    """p99 grows with load; cloning makes it a third at no load, and no better at full load."""
    load, dilation = offered_load.load(parameters), parameters["dilation"]
    plain = 5 * service.mean_us(parameters) / max(0.05, 1.05 - load)
    gain = 1.0 if parameters["method"] == "noclone" else 0.4 + 0.6 * min(load, 1)
    p99_us = plain * gain * dilation
    return histogram({p99_us / 5: 9_500, p99_us / 2: 350, p99_us: 140, 3 * p99_us: 10})


def _clone_rate(parameters: Mapping[str, Any]) -> float:
    return 0.0 if parameters["method"] == "noclone" else CLONED


def _measure(run: Path, turn: Turn) -> dict[str, Any]:
    directory = run / attempt_directory(turn.cell.id, turn.round, 0, 1)
    documents = {"iteration.json": {"start_at_ns": 10**18}}
    for host, answers in _answers(turn.cell.parameters).items():
        documents[f"{host}.json"] = _document(host, "collect", answers)
    if turn.cell.parameters["method"] == "laedge":
        zeros = {"node": "laedge-coordinator", "command": "stats", "result": _laedge(0, 0)}
        documents["server0.begin.json"] = _document("server0", "begin", [zeros])
    return {
        "cell": turn.cell.id,
        "round": turn.round,
        "iteration": 0,
        "attempt": 1,
        "status": OK,
        "failure_class": None,
        "message": None,
        "began_at_ns": 10**18,
        "ended_at_ns": 10**18 + 1,
        "overhead_s": 1.5,
        "files": write_attempt(directory, documents),
    }


def _document(host: str, phase: str, answers: list[dict[str, Any]]) -> dict[str, Any]:
    return {"format": 1, "host": host, "phase": phase, "answers": answers}


def _answers(parameters: Mapping[str, Any]) -> dict[str, list[dict[str, Any]]]:
    """By host."""
    clones = round(REQUESTS * _clone_rate(parameters))
    saturated = parameters["method"] == "cclone" and offered_load.load(parameters) > 0.5
    by_switch = methods.by_switch(parameters)
    client = client_stats(parameters, clones, delivered=7_000 if saturated else REQUESTS)
    if parameters["method"] == "cclone":
        clones = REQUESTS
        client |= {"sent_packets": 2 * REQUESTS, "received_packets": 2 * REQUESTS}
    answer = {"node": "rpcclient", "command": "stats", "result": client}
    latency = latency_of(parameters)
    replay = {
        "offered": REQUESTS,
        "delivered": 7_000 if saturated else REQUESTS,
        "cloned": clones,
        "clones_dropped": clones // 10,
        "latency_ns": latency,
        "half_latency_ns": [latency, latency],
    }
    found = {
        "client0": [answer, {"node": "rpcclient", "command": "replay", "result": replay}],
        "server0": [
            {
                "node": "rpcserver-1000",
                "command": "stats",
                "result": server_stats(clones, parameters["workers"]),
            },
        ],
    }
    if parameters["method"] == "laedge":
        coordinator = {
            "node": "laedge-coordinator",
            "command": "stats",
            "result": _laedge(REQUESTS, clones),
        }
        found["server0"].append(coordinator)
    if by_switch:
        packets = {
            Outcome.CLONED: clones,
            Outcome.FIRST_BUSY: REQUESTS - clones,
            Outcome.CAME_ROUND: clones,
            Outcome.ONLY_RESPONSE: REQUESTS - clones,
            Outcome.FASTER: clones,
            Outcome.SLOWER: clones,
        }
        rows = [{"index": int(i), "$COUNTER_SPEC_PKTS": n} for i, n in packets.items()]
        result = {"table": OUTCOMES, "counters": rows}
        found["switch0"] = [{"node": "softswitch", "command": "counter_read", "result": result}]
    return found


def client_stats(parameters: Mapping[str, Any], clones: int, delivered: int) -> dict[str, Any]:
    latency = latency_of(parameters)
    zeros = (
        *("malformed", "unknown", "not_mine", "send_errors", "receive_errors", "socket_drops"),
        *("redundant_window", "lost", "unsent", "withheld", "latency_clamped"),
    )
    thread = {"wait_ns": 1_000_000, "read_late_max_us": 50.0}
    credits = [80_000, None, 120_000] if parameters["method"] == "laedge" else []
    return dict.fromkeys(zeros, 0) | {
        "credit_delay_by_server_ns": credits,
        "window_ns": 2_000_000_000,
        "offered": REQUESTS,
        "delivered": delivered,
        "cloned_answers": clones,
        "sent_packets": REQUESTS,
        "received_packets": REQUESTS,
        "latency_ns": latency,
        "send_late_ns": histogram({20: REQUESTS}),
        "halves": [latency, latency],
        "path_delay_ns": 120_000,
        "seconds": [{"offered": REQUESTS // 2, "delivered": delivered // 2}] * 2,
        "start_late_us": 50.0,
        "window_late_us": 50.0,
        "threads": [thread, thread],
    }


def server_stats(clones: int, slots: int = 8) -> dict[str, Any]:
    """A server that has got everything, and has dropped no clone."""
    copies = REQUESTS + clones
    zeros = (
        *("malformed", "send_errors", "receive_errors", "socket_drops", "clones_dropped"),
        *("clones_dropped_total", "lost_ns"),
    )
    return dict.fromkeys(zeros, 0) | {
        "slots": slots,
        "received": copies,
        "queue_length": histogram({0: copies}),
        "clones_received": clones,
        "answered": copies,
        "answers_empty": copies // 2,
        "answers_empty_all_busy": copies // 10,
        "busy_slot_ns": 10**9,
        "planned_work_ns": 10**9,
        "work_error_ns": histogram({20: copies}),
        "received_total": copies,
        "answered_total": copies,
    }


def _laedge(requests: int, clones: int) -> dict[str, Any]:
    zeros = (
        *("queue_full", "queue_length", "malformed", "unknown", "no_client"),
        *("send_errors", "receive_errors", "socket_drops", "wait_ns"),
    )
    found = {"requests": requests, "cloned": clones, "forwarded": requests, "redundant": clones}
    return dict.fromkeys(zeros, 0) | {"window_ns": 2_000_000_000} | found
