"""What the system adds to a row of summary.csv."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.histograms import Merged
from turntable.results import Row
from turntable.systems.netclone import closed_form, peculiar, replayed, times
from turntable.systems.netclone.measurement import Clients, Measurement
from turntable.systems.netclone.saturation import STEADY, state_of
from turntable.systems.netclone.times import undilated
from turntable.verdict import Case
from turntable_systems.netclone import offered_load
from turntable_systems.netclone.prediction import Prediction

PARAMETERS = ("method", "distribution", "servers", "workers", "dilation", "jitter_probability")
# Of requests and latency; times and rates are undilated.
LOADS = ("load", "offered_rps", "delivered_rps", "loss_share")
SHARES = (
    "clone_rate",
    "clones_dropped_share",
    "redundant_share",
    "empty_share",
    "empty_true_share",
)
SIMULATED = ("clone_rate", "clones_dropped_share")
EXPECTED = tuple(
    f"{kind}_{name}" for kind in ("predicted", "trace") for name in (*times.COLUMNS, *SIMULATED)
)
# What tells cells apart beside PARAMETERS.
_PECULIAR = tuple(
    name for name in (*peculiar.OF_METHODS, *peculiar.OF_ALL) if name not in PARAMETERS
)
COLUMNS = (
    "state",
    *LOADS,
    *times.COLUMNS,
    "tail_us",
    "shown_mean_us",
    "shown_p99_us",
    *SHARES,
    "path_delay_us",
    *map(peculiar.column, _PECULIAR),
    *EXPECTED,
    *closed_form.COLUMNS,
    *replayed.COLUMNS,
    "credit_delay_us",
)
MEANS = ("offered_rps", "delivered_rps", "loss_share", "shown_mean_us", *SHARES)


def values(case: Case) -> Row:
    parameters = case.parameters
    return {
        **dict.fromkeys(COLUMNS),
        "load": offered_load.load(parameters),
        "offered_rps": offered_load.offered_rps(parameters),
        "tail_us": times.tail_us(parameters),
        **{peculiar.column(name): parameters.get(name) for name in _PECULIAR},
        **_predicted(case),
        **closed_form.percentiles(parameters),
        **(_measured(case) if case.complete else {}),
    }


def _measured(case: Case) -> Row:
    (measurement,) = case.measurements
    clients, dilation = measurement.clients, case.parameters["dilation"]
    per_s = dilation / measurement.seconds
    latency = undilated(clients.latency, dilation)
    found = times.values(latency, times.tail_us(case.parameters))
    state = state_of(case)
    replay = measurement.replay if state == STEADY else None
    return {
        "state": state,
        "offered_rps": clients.offered * per_s,
        "delivered_rps": clients.delivered * per_s,
        "loss_share": _share(clients.lost, clients.offered),
        **found,
        # What tables and figures show: of saturated cells nothing.
        "shown_mean_us": found["mean_us"] if state == STEADY else None,
        "shown_p99_us": found["p99_us"] if state == STEADY else None,
        **_shares(measurement, case),
        "path_delay_us": clients.path_delay_us,
        "credit_delay_us": clients.credit_delay_us,
        **_expected("trace", replay, case),
        **_beside(latency, replay, case.parameters, clients),
    }


def _beside(
    latency: Merged, replay: Prediction | None, parameters: Mapping[str, Any], clients: Clients
) -> Row:
    texts = [replay.latency_ns] if replay else []
    replay_latency = undilated(texts, parameters["dilation"])
    return replayed.compared(latency, replay_latency, parameters, clients)


def _shares(measurement: Measurement, case: Case) -> Row:
    servers, clients = measurement.servers, measurement.clients
    answered, empty = sum(s.answered for s in servers), sum(s.answers_empty for s in servers)
    # Of a server with one worker, whoever answers is all that there is.
    several = [s for s in servers if s.slots > 1]
    signals = sum(s.answers_empty for s in several)
    clones = sum(s.clones_received for s in servers)
    return {
        "clone_rate": clone_rate(measurement, case.parameters["method"]),
        "clones_dropped_share": _share(sum(s.clones_dropped for s in servers), clones),
        "redundant_share": _share(clients.redundant, clients.offered),
        "empty_share": _share(empty, answered),
        "empty_true_share": _share(
            signals - sum(s.answers_empty_all_busy for s in several), signals
        ),
    }


def clone_rate(measurement: Measurement, method: str) -> float | None:
    """Share of the requests of the window that had two copies, as their answers say."""
    if method in ("noclone", "cclone"):
        return 1.0 if method == "cclone" else 0.0
    clients = measurement.clients
    return _share(clients.cloned_answers, clients.offered - clients.lost)


def _predicted(case: Case) -> Row:
    """Of the long run; nothing where queues grow without end."""
    prediction = case.prediction
    return _expected("predicted", None if prediction.saturated else prediction, case)


def _expected(kind: str, simulated: Prediction | None, case: Case) -> Row:
    names = (*times.COLUMNS, *SIMULATED)
    if simulated is None:
        return dict.fromkeys(f"{kind}_{name}" for name in names)
    parameters = case.parameters
    latency = undilated([simulated.latency_ns], parameters["dilation"])
    found = times.values(latency, times.tail_us(parameters))
    found |= {name: getattr(simulated, name) for name in SIMULATED}
    return {f"{kind}_{name}": value for name, value in found.items()}


def _share(part: float, whole: float) -> float | None:
    return part / whole if whole else None
