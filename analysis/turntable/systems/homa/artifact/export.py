"""A finished run -> a directory of the artifact. A file of it has all valid rounds of a cell; times
are those of the testbed's clock.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from turntable.load import load_run
from turntable.results import CellResult
from turntable.systems.homa.artifact import names
from turntable.systems.homa.artifact.baseline import Baseline
from turntable.systems.homa.artifact.directory import Contents, write_contents
from turntable.systems.homa.artifact.experiment import RoundTrips
from turntable.systems.homa.artifact.hundredths import rows_of
from turntable.systems.homa.artifact.names import Experiment
from turntable.systems.homa.measurement import Measurement, Texts
from turntable.systems.homa.saturation import STEADY
from turntable_core.errors import TurntableError
from turntable_systems.homa import links, sizes
from turntable_systems.homa.distribution import distribution_of

# A workload's cells have one baseline in the artifact, so these must not differ.
_OF_BASELINE = ("link_mbps", "path_delay_ms", "host_delay_ms", "payload_bytes")
_SYSTEM = "homa"


def export_run(run: Path, parent: Path) -> list[Path]:
    """Files that were written, in a new directory of `parent`. Raises TurntableError if the run is
    none of Homa's, or has results that the artifact's names do not tell apart.
    """
    loaded = load_run(run)
    if loaded.plan.system_name != _SYSTEM:
        raise TurntableError(
            f"{run}: is a run of {loaded.plan.system_name}; expected one of playbooks/homa"
        )
    cells = [cell for cell in loaded.cells if _has_result(cell)]
    if not cells:
        raise TurntableError(f"{run}: no cell has a valid round that is not saturated")
    contents = Contents(_experiments(cells), _baselines(cells))
    return write_contents(parent / names.directory_name(datetime.now(UTC)), contents)


def _has_result(cell: CellResult) -> bool:
    return any(turn.row["state"] == STEADY for turn in cell.counted)


def _experiments(cells: Sequence[CellResult]) -> dict[Experiment, list[RoundTrips]]:
    found: dict[Experiment, CellResult] = {}
    for cell in cells:
        experiment = _experiment(cell)
        if experiment in found:
            raise TurntableError(
                f"{experiment.file}: would be of two cells, {found[experiment].label!r} and "
                f"{cell.label!r}; expected cells that differ in method, sizes and load alone. "
                "Export runs of playbooks/homa/slowdown.yml or load.yml"
            )
        found[experiment] = cell
    return {experiment: _rows(cell) for experiment, cell in found.items()}


def _experiment(cell: CellResult) -> Experiment:
    payload_bps = cell.turns[0].prediction.payload_bps
    return Experiment(
        workload=_workload(cell.parameters),
        load=names.load_of(payload_bps, links.bits_per_s(cell.parameters)),
        name=names.name_of(cell.parameters["method"]),
    )


def _workload(parameters: Mapping[str, Any]) -> str:
    if parameters["sizes"] == sizes.FIXED:
        return f"{parameters['message_bytes']}B"
    name = Path(parameters["sizes"]).stem
    return names.workload_of(name, parameters["divide"], parameters["cap_bytes"])


def _rows(cell: CellResult) -> list[RoundTrips]:
    distribution = distribution_of(sizes.argument(cell.parameters), cell.parameters["sizes"])
    clients = [one.clients for one in _measurements(cell)]
    return rows_of(
        _of_rounds([one.rtt_of_hundredths() for one in clients]),
        _of_rounds([one.slowdown_of_hundredths() for one in clients]),
        distribution,
    )


def _of_rounds(rounds: Sequence[Sequence[Texts]]) -> list[list[str]]:
    """Each hundredth's histograms, of all rounds."""
    return [[text for texts in each for text in texts] for each in zip(*rounds, strict=True)]


def _baselines(cells: Sequence[CellResult]) -> dict[str, Baseline]:
    """Of Homa, as every turn measures it whatever its transport: the least of all."""
    by_workload: dict[str, list[CellResult]] = {}
    for cell in cells:
        by_workload.setdefault(_workload(cell.parameters), []).append(cell)
    found = {}
    for workload, group in by_workload.items():
        differ = [name for name in _OF_BASELINE if len({c.parameters[name] for c in group}) > 1]
        if differ:
            raise TurntableError(
                f"{workload}: cells differ in {', '.join(differ)}, and have no common baseline; "
                "expected one network"
            )
        name = names.baseline_file("homa", workload)
        found[name] = Baseline(Path(name), _least(one for c in group for one in _measurements(c)))
    return found


def _measurements(cell: CellResult) -> list[Measurement]:
    return [one for turn in cell.counted for one in turn.measurements]


def _least(measurements: Iterable[Measurement]) -> dict[int, float]:
    found: dict[int, float] = {}
    for measurement in measurements:
        for of_client in measurement.clients.idle_ns:
            for size, ns in of_client.items():
                found[size] = min(ns, found.get(size, ns))
    return found
