"""A run -> rows of samples and histograms: one iteration is one of Swan's phases."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from turntable.percentiles import merged, percentile_us
from turntable.results import CellResult, Run
from turntable.systems.swan.measurement import Measurement
from turntable.systems.swan.profile import from_send_us, sli_us
from turntable.systems.swan.rules import reasons_of
from turntable.verdict import Case
from turntable_core import journal

# Namespaces of the metrics; percentiles are named as Swan names them.
MCLOAD, AGGRESSOR, MEMCACHED = "/turntable/mcload", "/turntable/aggressor", "/turntable/memcached"
PERCENTILES = {"5th": 5.0, "10th": 10.0, "90th": 90.0, "95th": 95.0, "99th": 99.0, "99.9th": 99.9}
HISTOGRAMS = ("latency_ns", "from_send_ns", "send_late_ns")


@dataclass(frozen=True)
class Phase:
    """One iteration of a run, with Swan's names for what it is."""

    aggressor: str
    loadpoint_qps: int
    repetition: int
    name: str
    time_ns: int
    tags: str  # JSON
    measurement: Measurement
    parameters: Mapping[str, Any]  # of the cell

    @property
    def key(self) -> tuple[str, int, int, str]:
        return (self.aggressor, self.loadpoint_qps, self.repetition, self.name)


def phases(run: Run, uuid: str) -> Iterator[Phase]:
    """In the order of cells, rounds and iterations."""
    began = {key: each.began_at_ns for key, each in journal.succeeded(run.attempts).items()}
    for cell in run.cells:
        for turn in cell.turns:
            case = Case(
                turn.measurements, turn.expected_iterations, run.plan.validity, cell.parameters,
                run.fidelity_class,
            )  # fmt: skip
            repeats = _repeats(cell)
            for one in turn.measurements:
                repetition = turn.round * repeats[one.place.aggressor] + one.place.repeat
                time_ns = began[cell.id, turn.round, one.iteration]
                reasons = reasons_of(one, case)
                yield _phase(run, cell, one, turn.round, repetition, time_ns, uuid, reasons)


def _repeats(cell: CellResult) -> dict[str, int]:
    """How often each aggressor is measured in a round; the baseline several times."""
    found: dict[str, int] = {}
    for turn in cell.turns:
        for iteration in turn.turn.iterations:
            name, repeat = iteration.data["aggressor"], iteration.data.get("repeat", 0)
            found[name] = max(found.get(name, 1), repeat + 1)
    return found


def _phase(
    run: Run,
    cell: CellResult,
    one: Measurement,
    round_: int,
    repetition: int,
    time_ns: int,
    uuid: str,
    reasons: tuple[str, ...],
) -> Phase:
    place, qps = one.place, round(one.generator.target_per_s)
    name = f"Aggressor {place.aggressor}; load point {place.index}; repetition {repetition}"
    if len(run.cells) > 1:
        name += f"; cell {cell.id}"
    tags: dict[str, Any] = {
        "swan_experiment": uuid,
        "swan_phase": name,
        "swan_repetition": repetition,
        "round": round_,
        "swan_loadpoint_qps": qps,
        "swan_aggressor_name": place.aggressor,
        "load": place.load,
        "load_index": place.index,
        "cell": cell.id,
        "cell_label": cell.label,
        "valid": not reasons,
        "reasons": list(reasons),
    }
    if one.best_effort and one.best_effort.progress:
        tags["unit"] = one.best_effort.progress.unit
    return Phase(
        *(place.aggressor, qps, repetition, name, time_ns, json.dumps(tags), one),
        parameters=cell.parameters,
    )


def metrics(one: Measurement, parameters: Mapping[str, Any]) -> Iterator[tuple[str, float]]:
    """Namespace -> value. Latencies are microseconds; what is not known is left out. The SLI's
    percentile, which parameters say, need not be among the others.
    """
    generator = one.generator
    waited_us = 1e6 * parameters["drain_s"]  # for what has no answer
    unanswered = generator.lost + generator.unsent
    yield from _latencies(MCLOAD, generator.latency_ns, unanswered, waited_us)
    yield from _latencies(f"{MCLOAD}/from_send", generator.from_send_ns, generator.lost, waited_us)
    late = percentile_us(generator.send_late_ns, 99)
    known = {
        f"{MCLOAD}/sli": sli_us(one, parameters),
        f"{MCLOAD}/from_send/sli": from_send_us(one, parameters),
        f"{MCLOAD}/qps": one.achieved_per_s,
        f"{MCLOAD}/target_qps": generator.target_per_s,
        f"{MCLOAD}/offered_qps": one.offered_per_s,
        f"{MCLOAD}/peak_qps": generator.peak_per_s,
        f"{MCLOAD}/offered": generator.offered,
        f"{MCLOAD}/misses": generator.misses,
        f"{MCLOAD}/errors": sum(one.errors.values()),
        f"{MCLOAD}/send_late/99th": late,
        f"{MCLOAD}/cpu_s": generator.cpu_s,
        f"{MEMCACHED}/cpu_s": one.memcached.cpu_s,
    }
    job = one.best_effort
    if job:
        known |= {
            f"{AGGRESSOR}/cpu_s": job.cpu_s,
            f"{AGGRESSOR}/progress": job.progress.per_s if job.progress else None,
        }
    yield from ((ns, float(value)) for ns, value in known.items() if value is not None)


def _latencies(
    ns: str, texts: tuple[str, ...], unanswered: int, waited_us: float
) -> Iterator[tuple[str, float]]:
    """avg, std and min are those of the answers."""
    found = merged(texts)
    if not found.total:
        return
    pairs = list(zip(found.values, found.weights, strict=True))
    average = sum(value * weight for value, weight in pairs) / found.total
    variance = sum(weight * (value - average) ** 2 for value, weight in pairs) / found.total
    yield f"{ns}/avg", average
    yield f"{ns}/std", math.sqrt(variance)
    yield f"{ns}/min", found.values[0]
    for name, percent in PERCENTILES.items():
        value = percentile_us(texts, percent, unanswered, waited_us)
        if value is not None:
            yield f"{ns}/percentile/{name}", value


def histograms(one: Measurement) -> Iterator[tuple[str, int, bytes]]:
    """Namespace, number of the client, data."""
    for name in HISTOGRAMS:
        for client, text in enumerate(getattr(one.generator, name)):
            yield f"{MCLOAD}/{name}", client, text.encode()
