"""Asks workload-analyze how a workload falls onto partitions (docs/workloads.md)."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from turntable_core.errors import PhaseError, TurntableError
from turntable_systems.farreach import admission, popularity, recorded, rotation, ycsb
from turntable_systems.farreach.closed_loop import ramp_s
from turntable_systems.farreach.methods import WRITE_BACK, WRITE_THROUGH, caches, fits_a_slot
from turntable_systems.farreach.prediction import Composition, Prediction, write_through
from turntable_systems.farreach.workload import replays_pieces

# u c for which the model of a write-through cache is asked; what is measured lies between.
UPDATE_ROUND_TRIPS = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4)
# Replays of that model by which its spread is known.
PIECES = 8
_TICK_S = 1.0

# Processor time of one call, measured on a virtual machine with two cores.
PLANNING_S = 4.5
PLANNING_S_PER_OPERATION = 1.4e-7


class WorkloadAnalyzer:
    """Predictions for turns: one call of the program each."""

    def __init__(
        self, program: Path, deadline_s: float, while_counting: Callable[[], None] = lambda: None
    ) -> None:
        """while_counting: called every second."""
        self._program = program
        self._deadline_s = deadline_s
        self._while_counting = while_counting
        self._answers: dict[tuple[str, ...], Any] = {}  # methods ask the same

    def predict(self, parameters: Mapping[str, Any], round_: int) -> Prediction:
        """The bottleneck is the busiest partition of the round's own trace, as the clients will
        replay it.
        """
        arguments = {
            "--workload": parameters["workload"],
            "--scales": parameters["servers"],
            "--records": parameters["records"],
            "--theta": parameters["theta"],
            "--value-bytes": parameters["value_bytes"],
            "--cached": min(parameters["cache_size"], parameters["records"]),
            "--clients": parameters["clients"],
            "--operations": parameters["operations"],
            "--seed": parameters["seed"],
            "--round": round_,
        }
        arguments |= _model(parameters) | popularity.options(parameters)
        if recorded.is_recorded(parameters):
            arguments |= recorded.arguments(parameters)
        document = self._run(
            [str(part) for pair in arguments.items() for part in pair]
            + ["--trace", "--format", "json"]
        )
        scale = document["scales"][0]
        trace = scale["trace"]
        absorbed = _absorbed_share(parameters, document["proportions"])
        of_trace = _composition(trace, absorbed)
        if document.get("recorded"):
            absorbed, of_trace = _of_recorded(parameters, trace)
        if ycsb.drives(parameters):
            return _of_draws(scale, absorbed)
        return Prediction(
            trace["bottleneck"],
            of_trace if document.get("recorded") else _composition(scale, absorbed),
            of_trace,
            tuple(part["distinct_keys"] for part in trace["partitions"]),
            tuple(trace["shares"]),
            tuple(map(write_through, trace.get("write_through", ()))),
            trace["cached"]["normalized"],
            popularity.from_analyzer(document, absorbed),
            document.get("recorded"),
        )

    def _run(self, arguments: list[str]) -> Any:
        if (known := self._answers.get(tuple(arguments))) is None:
            known = self._answers[tuple(arguments)] = self._ask(arguments)
        return known

    def _ask(self, arguments: list[str]) -> Any:
        command = [str(self._program), *arguments]
        try:
            process = subprocess.Popen(
                command,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
                errors="backslashreplace",  # a name of a file may have any bytes
            )
        except FileNotFoundError:
            raise TurntableError(
                f"{self._program} does not exist; build it with `make programs`"
            ) from None
        with process:
            try:
                output, error = self._output_of(process)
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
            if "--recorded" in arguments:  # the file is the user's: only what is wrong with it
                raise TurntableError(error.strip().removeprefix(f"{self._program.name}: "))
            raise TurntableError(
                f"{' '.join(command)} ended with status {process.returncode}: {error.strip()}"
            )
        return json.loads(output)

    def _output_of(self, process: subprocess.Popen[str]) -> tuple[str, str]:
        end = time.monotonic() + self._deadline_s
        while (left_s := end - time.monotonic()) > 0:
            with suppress(subprocess.TimeoutExpired):
                return process.communicate(timeout=min(_TICK_S, left_s))
            self._while_counting()
        raise PhaseError(
            "timeout",
            f"planning: no answer within {self._deadline_s:g} s; this machine is too busy "
            f"(`uptime` shows its load): free it, then run the same command again. Asked was: "
            f"{' '.join(process.args)}",
        )


def _model(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Replays the window that will be measured. Servers without a capacity have no model, nor have
    values that the switch cannot have; and the model has a rotation and keys that stay cached.
    """
    capacity = parameters["capacity_ops_per_s"]
    updates = parameters["method"] in WRITE_THROUGH and fits_a_slot(parameters)
    is_modelled = rotation.rotates(parameters) and not admission.is_live(parameters)
    if not updates or capacity == 0 or not is_modelled:
        return {}
    return {
        "--update-round-trips": ",".join(map(str, UPDATE_ROUND_TRIPS)),
        "--warmup": capacity * parameters["warmup_s"],
        "--window": capacity * parameters["measure_s"],
        "--ramp": capacity * ramp_s(parameters),
        "--pieces": PIECES if replays_pieces(parameters) else 1,
    }


def _absorbed_share(parameters: Mapping[str, Any], proportions: Mapping[str, float]) -> float:
    """Of the requests for cached keys, how many the switch answers.

    Write-through: only reads, which are as many for every key. Inserts are of keys that are not
    cached yet.
    """
    if not (caches(parameters) and fits_a_slot(parameters)):
        return 0.0
    if parameters["method"] in WRITE_BACK:
        return 1.0
    both = proportions["read_modify_write"]  # a read and a write
    reads, writes = proportions["read"] + both, proportions["update"] + both
    return reads / (reads + writes) if reads else 0.0


def _of_recorded(
    parameters: Mapping[str, Any], trace: Mapping[str, Any]
) -> tuple[float, Composition]:
    """The trace's own counts: a write-through switch answers the reads of its keys, which are not
    as many for every key. First the share of the requests for cached keys that the switch answers.
    """
    if parameters["method"] not in WRITE_THROUGH:
        absorbed = 1.0 if caches(parameters) else 0.0
        return absorbed, _composition(trace, absorbed)
    parts = trace["partitions"]
    hits, all_ = sum(p["cached_requests"] for p in parts), sum(p["total"] for p in parts)
    answered = sum(p["cached_reads"] for p in parts)
    shares = [(p["total"] - p["cached_reads"]) / all_ for p in parts]
    return answered / hits if hits else 0.0, _of_shares(shares)


def _of_draws(scale: Mapping[str, Any], absorbed: float) -> Prediction:
    """YCSB draws its requests anew in every run: what it promises is the distribution itself."""
    infinite = _composition(scale, absorbed)
    return Prediction(
        scale["bottleneck"],
        infinite,
        infinite,
        requests=tuple(scale["shares"]),
        cached_normalized=scale["cached"]["normalized"],
    )


def _composition(part: Mapping[str, Any], absorbed: float) -> Composition:
    """absorbed: share of the requests for the hottest keys that the switch answers."""
    if absorbed in (0.0, 1.0):
        balance = part["cached" if absorbed else "uncached"]
        shares = balance["shares"] if absorbed else part["shares"]
        return Composition(tuple(shares), balance["normalized"], balance["imbalance"])
    shares = [
        all_ - absorbed * (all_ - missed)
        for all_, missed in zip(part["shares"], part["cached"]["shares"], strict=True)
    ]
    return _of_shares(shares)


def _of_shares(shares: Sequence[float]) -> Composition:
    least, most = min(shares), max(shares)
    normalized = 1 / most if most > 0 else None
    return Composition(tuple(shares), normalized, most / least if least > 0 else None)
