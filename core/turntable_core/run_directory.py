"""The files of one run: results/<experiment>/<run>/ (docs/architecture.md §6)."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from turntable_core import caller, files, journal, plan
from turntable_core.errors import TurntableError
from turntable_core.testbed import Testbed, from_json, to_json


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
    def testbed_file(self) -> Path:
        return self.path / "testbed.json"

    @property
    def logs_file(self) -> Path:
        return self.path / "logs.tar.gz"

    @property
    def exists(self) -> bool:
        return self.plan_file.exists()

    def plan(self) -> plan.Plan:
        try:
            return plan.from_json(json.loads(self.plan_file.read_bytes()))
        except FileNotFoundError:
            raise TurntableError(
                f"{self.path}: not a run: it has no plan.json; expected results/<experiment>/<run>"
            ) from None

    @property
    def created_at(self) -> str | None:
        """As the manifest says it; None: there is none."""
        try:
            return json.loads(self.manifest_file.read_bytes()).get("created_at")
        except FileNotFoundError:
            return None

    def testbed(self) -> Testbed:
        """Of the play that runs now, or ran last."""
        return from_json(json.loads(self.testbed_file.read_bytes()))

    def use_testbed(self, testbed: Testbed) -> None:
        files.replace(self.testbed_file, files.to_json(to_json(testbed)))

    @property
    def skipped_file(self) -> Path:
        return self.path / "skipped.json"

    def skipped(self) -> set[tuple[str, int]]:
        """Cell and round of the turns that precision made needless, or a refusal of their cell, and
        that nobody has begun nevertheless.
        """
        try:
            noted = json.loads(self.skipped_file.read_bytes())
        except FileNotFoundError:
            return set()
        begun = {attempt.key[:2] for attempt in self.attempts()}
        return {(cell, round_) for cell, round_ in noted} - begun

    def skip(self, cell: str, round_: int) -> None:
        self.skip_only({*self.skipped(), (cell, round_)})

    def skip_only(self, turns: Iterable[tuple[str, int]]) -> None:
        """These and no others."""
        files.replace(self.skipped_file, files.to_json(sorted(turns)))

    def attempts(self) -> list[journal.Attempt]:
        return journal.read(self.journal_file)

    def create(self, new_plan: plan.Plan, manifest: Mapping[str, Any]) -> None:
        """Writes manifest, then plan: a directory with a plan is a run.

        A manifest without a plan was left by a play that was killed in between.
        """
        if self.exists:
            raise TurntableError(f"{self.path}: is a run already; its files are written once")
        try:
            caller.make_directory(self.path)
        except OSError as error:
            raise TurntableError(
                f"{self.path}: cannot be made: {error.strerror}; expected a directory for results "
                "(turntable_results_dir) that can be written"
            ) from None
        files.replace(self.manifest_file, files.to_json(manifest))
        files.write_once(self.plan_file, files.to_json(plan.to_json(new_plan)))

    def continue_with(self, cells: Sequence[plan.Cell], rounds: int) -> plan.Plan:
        """The stored plan, after a check that it was made for these cells and rounds."""
        old = self.plan()
        if ([cell.id for cell in old.cells], old.rounds) != ([cell.id for cell in cells], rounds):
            raise TurntableError(
                f"{self.path}: this run was planned with other parameters "
                f"({_difference(old, cells, rounds)}); continue it with the same profile and "
                "overrides, or choose another name with -e run=ID"
            )
        return old

    def next_attempt(self, cell: str, round_: int, iteration: int) -> int:
        """1 + the highest attempt that is in the journal or has left files."""
        parent = (self.path / journal.attempt_directory(cell, round_, iteration, 1)).parent
        left = [
            int(path.name[1:]) for path in parent.glob("a*") if re.fullmatch(r"a\d+", path.name)
        ]
        recorded = [
            attempt.attempt
            for attempt in self.attempts()
            if attempt.key == (cell, round_, iteration)
        ]
        return 1 + max([0, *left, *recorded])

    def read_raw(self, attempt: journal.Attempt) -> dict[str, Any]:
        """File name without suffix -> content, of one attempt."""
        directory = self.path / attempt.directory
        return {
            Path(name).stem: json.loads((directory / name).read_bytes()) for name in attempt.files
        }


def new_run_name(profile: str, now: float | None = None) -> str:
    """Sorts by time: 20261120-213005-smoke."""
    return time.strftime("%Y%m%d-%H%M%S", time.localtime(now)) + f"-{profile}"


def _difference(old: plan.Plan, cells: Sequence[plan.Cell], rounds: int) -> str:
    """What the first cells differ in, in words."""
    before, now = old.cells[0].parameters, cells[0].parameters
    changed = [
        f"{name} was {before.get(name)}, is {value}"
        for name, value in now.items()
        if value != before.get(name)
    ]
    if old.rounds != rounds:
        changed.append(f"rounds was {old.rounds}, is {rounds}")
    return "; ".join(changed) or f"{len(old.cells)} cells then, {len(cells)} now"
