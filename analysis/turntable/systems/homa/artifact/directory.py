"""A directory of the artifact, homa_experiment_YYYYMMDDHHMMSS: baselines, experiments, and the
slowdowns that follow from both.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path

from turntable.systems.homa.artifact import names
from turntable.systems.homa.artifact.baseline import Baseline, baseline_text, read_baseline
from turntable.systems.homa.artifact.experiment import (
    RoundTrips,
    Slowdown,
    experiment_text,
    read_experiment,
)
from turntable.systems.homa.artifact.names import Experiment
from turntable.systems.homa.artifact.slowdown_rows import (
    FILE,
    SlowdownRow,
    read_slowdown_rows,
    slowdown_rows_text,
)
from turntable_core.errors import TurntableError
from turntable_systems.homa import sizes
from turntable_systems.homa.distribution import Distribution, distribution_of


@dataclass(frozen=True)
class Contents:
    experiments: Mapping[Experiment, Sequence[RoundTrips]]
    baselines: Mapping[str, Baseline]  # by the file's name

    def baseline(self, experiment: Experiment) -> Baseline:
        """Of its transport, or Homa's. Raises TurntableError if there is none."""
        wanted = [
            names.baseline_file(transport, experiment.workload)
            for transport in (experiment.transport, "homa")
        ]
        for name in wanted:
            if name in self.baselines:
                return self.baselines[name]
        others = f" (there is {', '.join(sorted(self.baselines))})" if self.baselines else ""
        raise TurntableError(
            f"{experiment.file}: no baseline; expected {' or '.join(dict.fromkeys(wanted))} beside "
            f"it{others}. Measure one with `msgbench client --unloaded`"
        )


def slowdowns_in(directory: Path) -> list[SlowdownRow]:
    """Of all experiments by workload, load and name; of slowdownImpl.txt where there are none.

    Raises TurntableError with all that is wrong.
    """
    if not directory.is_dir():
        raise TurntableError(f"{directory}: no such directory; expected one of the artifact's")
    contents = read_contents(directory)
    if contents.experiments:
        found = slowdowns(contents)
        if not found:
            raise TurntableError(
                f"{directory}: {', '.join(without_slowdowns(contents))}: measured without a "
                "baseline, so there are no slowdowns; measure one with `msgbench client "
                "--unloaded`, then measure again"
            )
        return found
    if (directory / FILE).is_file():
        return read_slowdown_rows(directory / FILE)
    raise TurntableError(
        f"{directory}: none of the artifact's files; expected NAME_W_LOAD{names.EXPERIMENT} with "
        f"TRANSPORT_W{names.BASELINE}, or {FILE}"
    )


def only_one_in(directory: Path) -> Path:
    """The directory, or the only one of the artifact's that it holds. Raises TurntableError if it
    holds several.
    """
    if any(directory.glob("*.txt")):
        return directory
    held = sorted(path for path in directory.glob(f"{names.DIRECTORY}*") if path.is_dir())
    if len(held) > 1:
        raise TurntableError(
            f"{directory}: has {len(held)} directories of the artifact; expected one of "
            + ", ".join(map(str, held))
        )
    return held[0] if held else directory


def read_contents(directory: Path) -> Contents:
    """Raises TurntableError with all that is wrong."""
    faults: list[str] = []
    experiments: dict[Experiment, Sequence[RoundTrips]] = {}
    baselines: dict[str, Baseline] = {}
    for path in sorted(directory.glob("*.txt")):
        experiment = names.experiment_of(path.name)
        try:
            if experiment:
                experiments[experiment] = read_experiment(path)
            elif path.name.endswith(names.BASELINE):
                # The artifact's scripts take a transport's name in any case.
                baselines[_lower_transport(path.name)] = read_baseline(path)
        except TurntableError as error:
            faults.append(str(error))
    if faults:
        raise TurntableError("\n".join(faults))
    return Contents(experiments, baselines)


def _lower_transport(file: str) -> str:
    transport, _, rest = file.partition("_")
    return f"{transport.lower()}_{rest}"


def slowdowns(contents: Contents) -> list[SlowdownRow]:
    """Of experiments that have them."""
    rows: list[SlowdownRow] = []
    for experiment, round_trips in sorted(contents.experiments.items()):
        if not _have_slowdowns(round_trips):
            continue
        baseline = contents.baseline(experiment)
        baseline.require(row.size for row in round_trips)
        rows += _slowdowns_of(experiment, round_trips, baseline)
    return rows


def without_slowdowns(contents: Contents) -> list[str]:
    """Files of experiments that were measured without a baseline, with rows of several sizes."""
    return [
        experiment.file
        for experiment, round_trips in sorted(contents.experiments.items())
        if not _have_slowdowns(round_trips)
    ]


def _have_slowdowns(rows: Sequence[RoundTrips]) -> bool:
    return all(row.has_slowdown for row in rows)


def _slowdowns_of(
    experiment: Experiment, rows: Sequence[RoundTrips], baseline: Baseline
) -> Iterator[SlowdownRow]:
    for row, fraction in zip(rows, _fractions(experiment.workload, rows), strict=True):
        slowdown = row.slowdown or _over_baseline(row, baseline)
        yield SlowdownRow(
            name=experiment.name,
            load=experiment.load,
            workload=experiment.workload,
            size=row.size,
            samples=row.samples,
            fraction=fraction,
            mean=slowdown.mean,
            median=slowdown.median,
            p99=slowdown.p99,
        )


def _over_baseline(row: RoundTrips, baseline: Baseline) -> Slowdown:
    idle_us = baseline.ns(row.size) / 1e3
    return Slowdown(row.average_us / idle_us, row.median_us / idle_us, row.p99_us / idle_us)


def _fractions(workload: str, rows: Sequence[RoundTrips]) -> list[float]:
    """Of the workload's table where it has all sizes, for the artifact keeps at most 500,000
    samples of a size; else of the samples.
    """
    if (of_paper := names.sizes_of(workload)) is not None:
        name, changes = of_paper
        table: Distribution = distribution_of({"table": sizes.text_of(name)} | changes, name)
        shares = [table.share_up_to(row.size) for row in rows]
        if None not in shares:
            return [min(share, 1.0) for share in shares if share is not None]
    total = sum(row.samples for row in rows)
    return [so_far / total for so_far in accumulate(row.samples for row in rows)]


def write_contents(directory: Path, contents: Contents) -> list[Path]:
    """Files that were written, slowdowns too. Other files of the directory stay."""
    texts = {
        name: baseline_text(baseline.ns_by_bytes) for name, baseline in contents.baselines.items()
    }
    texts |= {one.file: experiment_text(rows) for one, rows in contents.experiments.items()}
    texts[FILE] = slowdown_rows_text(slowdowns(contents))
    directory.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (directory / name).write_text(text, encoding="utf-8")
    return [directory / name for name in texts]
