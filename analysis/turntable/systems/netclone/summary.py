"""What the system adds to a row of summary.csv."""

from __future__ import annotations

from turntable.results import Row
from turntable.systems.netclone import closed_form, times
from turntable.systems.netclone.measurement import Measurement
from turntable.systems.netclone.saturation import STEADY, state_of
from turntable.systems.netclone.times import undilated
from turntable.verdict import Case
from turntable_systems.netclone import methods, offered_load
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
COLUMNS = (
    "state",
    *LOADS,
    *times.COLUMNS,
    "tail_us",
    "shown_mean_us",
    "shown_p99_us",
    *SHARES,
    "path_delay_us",
    "filter",
    "laedge_mode",
    "unequal_workers",
    *EXPECTED,
    *closed_form.COLUMNS,
)
MEANS = ("offered_rps", "delivered_rps", "loss_share", "shown_mean_us", *SHARES)


def values(case: Case) -> Row:
    parameters = case.parameters
    return {
        **dict.fromkeys(COLUMNS),
        "load": offered_load.load(parameters),
        "offered_rps": offered_load.offered_rps(parameters),
        "tail_us": times.tail_us(parameters),
        **{name: parameters.get(name) for name in ("filter", "laedge_mode", "unequal_workers")},
        **_predicted(case),
        **closed_form.percentiles(parameters),
        **(_measured(case) if case.complete else {}),
    }


def _measured(case: Case) -> Row:
    (measurement,) = case.measurements
    clients, dilation = measurement.clients, case.parameters["dilation"]
    per_s = dilation / measurement.seconds
    found = times.values(undilated(clients.latency, dilation), times.tail_us(case.parameters))
    state = state_of(case)
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
        **_expected("trace", measurement.replay if state == STEADY else None, case),
    }


def _shares(measurement: Measurement, case: Case) -> Row:
    servers, clients = measurement.servers, measurement.clients
    answered, empty = sum(s.answered for s in servers), sum(s.answers_empty for s in servers)
    clones = sum(s.clones_received for s in servers)
    return {
        "clone_rate": clone_rate(measurement, case.parameters["method"]),
        "clones_dropped_share": _share(sum(s.clones_dropped for s in servers), clones),
        "redundant_share": _share(clients.redundant, clients.offered),
        "empty_share": _share(empty, answered),
        "empty_true_share": _share(empty - sum(s.answers_empty_all_busy for s in servers), empty),
    }


def clone_rate(measurement: Measurement, method: str) -> float | None:
    """Requests of which there were two copies, as a share."""
    if measurement.switch:
        return _share(measurement.switch.cloned, measurement.switch.requests)
    if measurement.coordinator:
        return _share(measurement.coordinator.cloned, measurement.coordinator.requests)
    return 1.0 if method == "cclone" else None if method in methods.BY_SWITCH else 0.0


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
