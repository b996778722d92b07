"""Asks workload-analyze how a workload falls onto partitions (docs/workloads.md)."""

from __future__ import annotations

import json
import subprocess
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from turntable_core.errors import PhaseError, TurntableError
from turntable_systems.farreach.methods import WRITE_BACK, WRITE_THROUGH
from turntable_systems.farreach.prediction import Composition, Prediction, WriteThrough

# u c for which the model of a write-through cache is asked; what is measured lies between.
UPDATE_ROUND_TRIPS = (0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 3, 4)
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
        arguments |= _model(parameters)
        document = self._run(
            [str(part) for pair in arguments.items() for part in pair]
            + ["--trace", "--format", "json"]
        )
        scale = document["scales"][0]
        absorbed = _absorbed_share(parameters["method"], document["proportions"])
        trace = scale["trace"]
        return Prediction(
            trace["bottleneck"],
            _composition(scale, absorbed),
            _composition(trace, absorbed),
            tuple(part["distinct_keys"] for part in trace["partitions"]),
            tuple(trace["shares"]),
            tuple(
                WriteThrough(part["update_round_trip"], tuple(map(tuple, part["placements"])))
                for part in trace.get("write_through", ())
            ),
        )

    def _run(self, arguments: list[str]) -> Any:
        command = [str(self._program), *arguments]
        try:
            process = subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
            )
        except FileNotFoundError:
            raise TurntableError(
                f"{self._program} does not exist; build it with `make build`"
            ) from None
        with process:
            try:
                output, error = self._output_of(process)
            except BaseException:
                process.kill()
                raise
        if process.returncode != 0:
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
    """Replays the window that will be measured. Servers without a capacity have no model."""
    capacity = parameters["capacity_ops_per_s"]
    if parameters["method"] not in WRITE_THROUGH or capacity == 0:
        return {}
    return {
        "--update-round-trips": ",".join(map(str, UPDATE_ROUND_TRIPS)),
        "--warmup": capacity * parameters["warmup_s"],
        "--window": capacity * parameters["measure_s"],
    }


def _absorbed_share(method: str, proportions: Mapping[str, float]) -> float:
    """Of the requests for cached keys, how many the switch answers.

    Write-through: only reads, which are as many for every key. Inserts are of keys that are not
    cached yet.
    """
    if method in WRITE_BACK:
        return 1.0
    if method not in WRITE_THROUGH:
        return 0.0
    both = proportions["read_modify_write"]  # a read and a write
    reads, writes = proportions["read"] + both, proportions["update"] + both
    return reads / (reads + writes) if reads else 0.0


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
    least, most = min(shares), max(shares)
    return Composition(tuple(shares), 1 / most, most / least if least > 0 else None)
