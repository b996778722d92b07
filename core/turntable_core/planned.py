"""What was planned of cells that several experiments may have: planned once, for all of them, and
not again when they are begun. Other programs or other code plan anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from turntable_core import files, plan
from turntable_core.plan import Cell, Iteration, Turn
from turntable_core.system import Parameters, Planned, System

Planner = Callable[[Parameters, int], Planned]


class Known:
    """`file` need not exist; None: nothing is known. manifest: what planning is done with."""

    def __init__(self, file: Path | str | None, manifest: Mapping[str, Any]) -> None:
        self._file = Path(file) if file else None
        self._made_with = _digest(manifest)
        self._turns: dict[str, Any] = _read(self._file, self._made_with)

    def planner(self, system: System, planner: Planner) -> Planner:
        """The same, which asks `planner` for what is not known."""

        def plan_once(parameters: Parameters, round_: int) -> Planned:
            cell = Cell(plan.cell_id(parameters), parameters)
            key = f"{system.name} {cell.id} {round_}"
            if key not in self._turns:
                made = planner(parameters, round_)
                turn = Turn(cell, round_, made.iterations, made.prediction)
                self._turns[key] = plan.turn_to_json(turn)
                return made
            document = self._turns[key]
            iterations = tuple(Iteration(**part) for part in document["iterations"])
            return Planned(iterations, system.read_prediction(document["prediction"]))

        return plan_once

    def save(self) -> None:
        document = {"made_with": self._made_with, "turns": self._turns}
        files.replace(self._file, files.to_compact_json(document))


def _digest(manifest: Mapping[str, Any]) -> str:
    made_with = [manifest.get("binaries"), manifest.get("code")]
    return hashlib.sha256(json.dumps(made_with, sort_keys=True).encode()).hexdigest()


def _read(file: Path | None, made_with: str) -> dict[str, Any]:
    try:
        document = json.loads(file.read_bytes()) if file else {}
    except (OSError, ValueError):
        return {}
    return document["turns"] if document.get("made_with") == made_with else {}
