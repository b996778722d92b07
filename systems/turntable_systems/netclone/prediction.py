"""What a simulation of the same queues promises in the long run, before anything is measured."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hdrh.histogram import HdrHistogram

from turntable_core.asked_program import AskedProgram
from turntable_core.saturation import Half, grows, is_late
from turntable_systems.netclone import offered_load, work

# p99 of so many requests scatters by some percent near saturation.
REQUESTS = 400_000
_WARMUP_SHARE = 0.1
PLANNING_S = 1.0  # of one call, on a virtual machine with two cores


@dataclass(frozen=True)
class Prediction:
    latency_ns: str  # HdrHistogram V2 text, on the testbed's clock: dilated
    clone_rate: float  # requests of which there were two copies, as a share
    clones_dropped_share: float | None  # of the clones, by busy servers; None: there were none
    saturated: bool  # queues grow for as long as one simulates

    def percentile_us(self, percent: float, dilation: float) -> float:
        """Undilated."""
        histogram = HdrHistogram.decode(self.latency_ns)
        return histogram.get_value_at_percentile(percent) / 1e3 / dilation


def from_json(document: Mapping[str, Any]) -> Prediction:
    return Prediction(**document)


def from_answer(answer: Mapping[str, Any]) -> Prediction:
    """answer: of netclone-simulate, or of rpcclient's replay."""
    offered, cloned = answer["offered"], answer["cloned"]
    late = is_late(offered - answer["delivered"], offered, under_way=0)  # nothing, beside so many
    return Prediction(
        latency_ns=answer["latency_ns"],
        clone_rate=cloned / offered if offered else 0.0,
        clones_dropped_share=answer["clones_dropped"] / cloned if cloned else None,
        saturated=late or grows(*map(_half, answer["half_latency_ns"])),
    )


def _half(text: str) -> Half:
    histogram = HdrHistogram.decode(text)
    mean = histogram.get_mean_value() if histogram.total_count else 0.0
    return Half(histogram.total_count, mean, histogram.get_value_at_percentile)


class Simulator:
    """One call of the program for each prediction."""

    def __init__(
        self, program: Path, deadline_s: float, while_simulating: Callable[[], None]
    ) -> None:
        """while_simulating: called every second."""
        self._program = AskedProgram(program, "netclone", deadline_s, while_simulating)

    def predict(self, parameters: Mapping[str, Any], round_: int) -> Prediction:
        return from_answer(self._program.ask(question(parameters, round_)))


def question(parameters: Mapping[str, Any], round_: int) -> dict[str, Any]:
    """What the program is asked: rates and times on the testbed's clock."""
    return {
        "method": parameters["method"],
        "servers": parameters["servers"],
        "clients": parameters["clients"],
        "rate_per_s": offered_load.sent_rps(parameters),
        "arrivals": offered_load.arrivals(parameters),
        "seed": work.seed_of(parameters, round_),
        "requests": REQUESTS,
        "warmup_share": _WARMUP_SHARE,
        "path": {"round_trip_us": parameters["assumed_path_us"]},
        "work": work.of_cell(parameters),
    }
