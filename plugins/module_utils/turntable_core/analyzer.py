"""Asks workload-analyze how a workload falls onto partitions (docs/workloads.md)."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turntable_core.errors import PhaseError, TurntableError
from turntable_core.plan import Composition, Prediction

# Methods whose switch answers requests for the `cache_size` hottest keys.
CACHING_METHODS: tuple[str, ...] = ()


class WorkloadAnalyzer:
    """Predictions for turns: one call of the program each."""

    def __init__(self, program: Path, deadline_s: float) -> None:
        self._program = program
        self._deadline_s = deadline_s

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
            "--cached": parameters["cache_size"],
            "--clients": parameters["clients"],
            "--operations": parameters["operations"],
            "--seed": parameters["seed"],
            "--round": round_,
        }
        document = self._run(
            [str(part) for pair in arguments.items() for part in pair]
            + ["--trace", "--format", "json"]
        )
        scale = document["scales"][0]
        kind = "cached" if parameters["method"] in CACHING_METHODS else "uncached"
        return Prediction(
            scale["trace"]["bottleneck"],
            _composition(scale, kind),
            _composition(scale["trace"], kind),
            tuple(part["distinct_keys"] for part in scale["trace"]["partitions"]),
        )

    def _run(self, arguments: list[str]) -> Any:
        command = [str(self._program), *arguments]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=self._deadline_s, check=False
            )
        except FileNotFoundError:
            raise TurntableError(
                f"{self._program} does not exist; build it with `make build`"
            ) from None
        except subprocess.TimeoutExpired:
            raise PhaseError(
                "timeout", f"no answer within {self._deadline_s:g} s: {' '.join(command)}"
            ) from None
        if done.returncode != 0:
            raise TurntableError(
                f"{' '.join(command)} ended with status {done.returncode}: {done.stderr.strip()}"
            )
        return json.loads(done.stdout)


def _composition(part: Mapping[str, Any], kind: str) -> Composition:
    """kind: `uncached`, or `cached` when the switch answers for the hottest keys."""
    balance = part[kind]
    shares = balance["shares"] if kind == "cached" else part["shares"]
    return Composition(tuple(shares), balance["normalized"], balance["imbalance"])
