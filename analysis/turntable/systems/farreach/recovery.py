"""How long a killed switch took to be brought back, and what was brought back how fast."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from turntable.results import CellResult
from turntable.systems.farreach.measurement import Measurement, Recovery
from turntable_systems.farreach.methods import crash_of

# Phases of the cache-controller's `recover` (docs/kvcache.md §9).
PHASES = ("collect", "replay", "numbers", "fetch", "restore")
# Phase -> columns of summary.csv: its mean duration, and its records per second.
REPLAYS = {
    "replay": ("server_replay_s", "server_replay_records_per_s"),
    "restore": ("switch_replay_s", "switch_replay_records_per_s"),
}
COLUMNS = ("recovery_s", *(column for columns in REPLAYS.values() for column in columns))


@dataclass(frozen=True)
class Recovered:
    """One cell, over the iterations of its rounds that count."""

    label: str
    cache_size: int
    killed: str
    recoveries: int
    phases_s: tuple[float | None, ...]  # means, as PHASES
    total_s: float | None
    records: float | None  # mean, replayed to the servers
    server_rate: float | None  # records/s
    switch_rate: float | None
    paper_server_s: float | None
    paper_switch_s: float | None
    gap: str | None  # why there is nothing, in a word

    @property
    def paper_switch_rate(self) -> float | None:
        """The whole cache in the published time."""
        return self.cache_size / self.paper_switch_s if self.paper_switch_s else None


def columns(measurements: Sequence[Measurement]) -> dict[str, float | None]:
    """Of one row of summary.csv; empty where nothing was recovered."""
    recoveries = _recoveries(measurements)
    row: dict[str, float | None] = {"recovery_s": _total_s(recoveries)}
    for phase, (seconds, rate) in REPLAYS.items():
        row |= {seconds: _mean_s(recoveries, phase), rate: _rate(recoveries, phase)}
    return row


def recovered(cells: Sequence[CellResult]) -> list[Recovered]:
    """Of the cells whose nodes were killed."""
    return [_recovered(cell) for cell in cells if crash_of(cell.parameters)]


def _recovered(cell: CellResult) -> Recovered:
    recoveries = _recoveries([m for turn in cell.counted for m in turn.measurements])
    return Recovered(
        label=cell.label,
        cache_size=cell.parameters["cache_size"],
        killed=cell.parameters["crash"].replace("_", " "),
        recoveries=len(recoveries),
        phases_s=tuple(_mean_s(recoveries, phase) for phase in PHASES),
        total_s=_total_s(recoveries),
        records=fmean(r.records.get("replay", 0) for r in recoveries) if recoveries else None,
        server_rate=_rate(recoveries, "replay"),
        switch_rate=_rate(recoveries, "restore"),
        paper_server_s=cell.paper["server_replay_s"],
        paper_switch_s=cell.paper["switch_replay_s"],
        gap=cell.gap,
    )


def _recoveries(measurements: Sequence[Measurement]) -> list[Recovery]:
    return [m.recovery for m in measurements if m.recovery is not None]


def _total_s(recoveries: Sequence[Recovery]) -> float | None:
    return fmean(sum(r.seconds.values()) for r in recoveries) if recoveries else None


def _mean_s(recoveries: Sequence[Recovery], phase: str) -> float | None:
    values = [r.seconds[phase] for r in recoveries if phase in r.seconds]
    return fmean(values) if values else None


def _rate(recoveries: Sequence[Recovery], phase: str) -> float | None:
    """Records of all recoveries by the time of all."""
    seconds = sum(r.seconds.get(phase, 0.0) for r in recoveries)
    return sum(r.records.get(phase, 0) for r in recoveries) / seconds if seconds else None
