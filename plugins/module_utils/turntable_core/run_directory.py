"""The files of one run: results/<experiment>/<run>/ (docs/architecture.md §6)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from turntable_core import files, journal, plan
from turntable_core.errors import TurntableError


class RunDirectory:
    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)

    @property
    def plan_file(self) -> Path:
        return self.path / "plan.json"

    @property
    def manifest_file(self) -> Path:
        return self.path / "manifest.json"

    @property
    def journal_file(self) -> Path:
        return self.path / "journal.ndjson"

    @property
    def exists(self) -> bool:
        return self.plan_file.exists()

    def plan(self) -> plan.Plan:
        try:
            return plan.from_json(json.loads(self.plan_file.read_bytes()))
        except FileNotFoundError:
            raise TurntableError(f"{self.path}: not a run: there is no plan.json; expected results/<experiment>/<run>") from None

    def attempts(self) -> list[journal.Attempt]:
        return journal.read(self.journal_file)

    def create(self, new_plan: plan.Plan, manifest: Mapping[str, Any]) -> None:
        """Writes manifest, then plan: a directory with a plan is a run."""
        files.write_once(self.manifest_file, files.to_json(manifest))
        files.write_once(self.plan_file, files.to_json(plan.to_json(new_plan)))

    def continue_with(self, new_plan: plan.Plan) -> None:
        """Checks that an existing run was planned with the same parameters as `new_plan`."""
        old = self.plan()
        if plan.to_json(old) != json.loads(files.to_json(plan.to_json(new_plan))):
            raise TurntableError(
                f"{self.path}: this run was planned with other parameters ({_difference(old, new_plan)}); continue it with the same "
                "profile and overrides, or choose another name with -e run=…"
            )

    def next_attempt(self, cell: str, round_: int, iteration: int) -> int:
        """1 + the highest attempt that is in the journal or has left files."""
        parent = (self.path / journal.attempt_directory(cell, round_, iteration, 1)).parent
        left = [int(path.name[1:]) for path in parent.glob("a*") if re.fullmatch(r"a\d+", path.name)]
        recorded = [attempt.attempt for attempt in self.attempts() if attempt.key == (cell, round_, iteration)]
        return 1 + max([0, *left, *recorded])

    def read_raw(self, attempt: journal.Attempt) -> dict[str, Any]:
        """File name without suffix -> content, of one attempt."""
        directory = self.path / attempt.directory
        return {Path(name).stem: json.loads((directory / name).read_bytes()) for name in attempt.files}


def new_run_name(profile: str, now: float | None = None) -> str:
    """Sorts by time: 20261120-213005-smoke."""
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(now)) + f"-{profile}"


def _difference(old: plan.Plan, new: plan.Plan) -> str:
    """The first parameter in which two plans differ, in words."""
    old_turns, new_turns = (plan.to_json(p)["cells"] for p in (old, new))
    if old_turns.keys() == new_turns.keys():
        return f"profile {old.profile} and {old.rounds} round(s) then, profile {new.profile} and {new.rounds} round(s) now"
    first_old, first_new = next(iter(old_turns.values())), next(iter(new_turns.values()))
    changed = [f"{key} was {first_old[key]}, is {first_new.get(key)}" for key in first_old if first_old[key] != first_new.get(key)]
    return "; ".join(changed) or "other factor levels"
