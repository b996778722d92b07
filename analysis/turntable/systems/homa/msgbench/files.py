"""Files of the artifact that measurements by hand add to, and that are shown again."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from turntable.systems.homa.artifact import curves, names
from turntable.systems.homa.artifact.baseline import Baseline, baseline_text
from turntable.systems.homa.artifact.directory import (
    read_contents,
    slowdowns_in,
    without_slowdowns,
    write_contents,
)
from turntable.systems.homa.artifact.experiment import RoundTrips, experiment_text
from turntable.systems.homa.artifact.names import Experiment
from turntable.systems.homa.msgbench import transport
from turntable_core.errors import TurntableError

FIGURE = Path("slowdown.svg")  # in the directory


def show(directory: Path, figure: Path | None) -> int:
    """figure: where it goes, from the directory unless absolute; None: nowhere."""
    rows = slowdowns_in(directory)
    print(*curves.slowdown_lines(rows), "", sep="\n")
    assumed = f"{transport.UNLINKED_GBPS:g} Gb/s"
    print(f"A load that was measured by hand without --link-gbps is a share of {assumed}.")
    for file in without_slowdowns(read_contents(directory)):
        print(f"{file}: not shown, as it was measured without a baseline")
    if figure is not None:
        path = directory / figure
        if path.suffix not in (".pdf", ".png", ".svg"):
            raise TurntableError(f"{path}: expected a name that ends with .pdf, .png or .svg")
        curves.save_figure(rows, directory.resolve().name, path)
        print(f"\n{path}")
    return 0


def baseline_in(directory: Path | None, protocol: str, workload: str) -> Path | None:
    """Of the transport, or of Homa, if it is there."""
    if directory is None:
        return None
    paths = [directory / names.baseline_file(name, workload) for name in (protocol, "homa")]
    return next((path for path in paths if path.is_file()), None)


def require_place(directory: Path, file: str, replace_it: bool) -> None:
    """Before something is measured. Raises TurntableError if the file cannot be written, or is
    there already and not to be replaced.
    """
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise TurntableError(
            f"--output: {directory} cannot be made: {error.strerror}; expected a directory"
        ) from None
    path = directory / file
    if not os.access(directory, os.W_OK | os.X_OK) or (
        path.exists() and not os.access(path, os.W_OK)
    ):
        raise TurntableError(
            f"--output: {path} cannot be written; expected a directory that is yours to write to"
        )
    if path.exists() and not replace_it:
        raise TurntableError(
            f"--output: {path} is there already, and would be replaced; name another directory "
            "(each of several clients has its own), or say --replace"
        )


def add_baseline(directory: Path, protocol: str, workload: str, baseline: Baseline) -> None:
    path = directory / names.baseline_file(protocol, workload)
    path.write_text(baseline_text(baseline.ns_by_bytes), encoding="utf-8")
    print(path)


def add(
    directory: Path, experiment: Experiment, rows: Sequence[RoundTrips], baseline: Baseline | None
) -> None:
    """With a baseline, the directory's slowdowns too."""
    path = directory / experiment.file
    path.write_text(experiment_text(rows), encoding="utf-8")
    print(path)
    if baseline is None:
        return
    contents = read_contents(directory)
    name = names.baseline_file(experiment.transport, experiment.workload)
    baselines = {name: baseline} | contents.baselines
    print(write_contents(directory, replace(contents, baselines=baselines))[-1])
