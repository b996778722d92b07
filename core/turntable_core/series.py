"""Several experiments in a row under one name: results/<series>/<run>/.

series.json     which experiments, in which order, and with what they were begun
planned.json    what was planned for their cells (turntable_core.planned)
steps.ndjson    a line per experiment that has ended, and why it failed if it did
plays.ndjson    when playbooks worked on it
overview.html   derived: the report over all of them

What was measured is in the runs of the same name of each experiment.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from turntable_core import caller, files
from turntable_core.errors import TurntableError

FORMAT = 1


@dataclass(frozen=True)
class Step:
    experiment: str  # SYSTEM/NAME
    title: str
    tasks: str = ""  # a file with tasks of its own; empty: a run as any other
    note: str = ""  # of a step that is no run: why its figures are not compared
    directory: str = ""  # below results/; empty: named after the experiment

    @property
    def id(self) -> str:
        """Name of the directory below results/ that has its runs."""
        return self.directory or self.experiment.replace("/", "_")


@dataclass(frozen=True)
class Series:
    directory: Path

    @property
    def file(self) -> Path:
        return self.directory / "series.json"

    @property
    def planned_file(self) -> Path:
        return self.directory / "planned.json"

    @property
    def exists(self) -> bool:
        return self.file.exists()

    @property
    def run(self) -> str:
        return self.directory.name

    @property
    def results(self) -> Path:
        return self.directory.parent.parent

    def begin(
        self, name: str, title: str, steps: Sequence[Step], extra_vars: Mapping[str, Any]
    ) -> None:
        """Also of one that goes on: the playbook may have got another step meanwhile."""
        document = {
            "format": FORMAT,
            "series": name,
            "title": title,
            "steps": [asdict(step) for step in steps],
            "extra_vars": dict(extra_vars),
        }
        caller.make_directory(self.directory)
        files.replace(self.file, files.to_json(document))

    def read(self) -> Mapping[str, Any]:
        try:
            return json.loads(self.file.read_bytes())
        except (OSError, ValueError) as error:
            raise TurntableError(f"{self.file}: cannot be read: {error}") from None

    @property
    def steps(self) -> list[Step]:
        return [Step(**step) for step in self.read()["steps"]]

    def end_step(self, experiment: str, failed: str | None) -> None:
        line = {"experiment": experiment, "failed": failed}
        files.append_line(self.directory / "steps.ndjson", line)

    def failures(self) -> dict[str, str]:
        """Experiment -> why it failed the last time that it was its turn."""
        try:
            lines = (self.directory / "steps.ndjson").read_bytes().split(b"\n")[:-1]
        except FileNotFoundError:
            return {}
        last = {step["experiment"]: step["failed"] for step in map(json.loads, lines)}
        return {name: why for name, why in last.items() if why}
