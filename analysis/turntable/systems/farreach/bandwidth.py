"""What the control plane sends while clients run, and what snapshots cost where nothing limits the
switch (docs/farreach.md, Snapshots).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from turntable.histograms import merge
from turntable.results import CellResult, Row
from turntable.systems.farreach.measurement import ControlPlane, Measurement
from turntable.verdict import Case
from turntable_systems.farreach.methods import WRITE_BACK, snapshot_period_s

MIB = 2**20
COLUMNS = (
    "bandwidth_mib_per_s",
    "bandwidth_elapsed_mib_per_s",
    "snapshot_mib",
    "hits_per_s",
    "switch_ns_per_op",
    "client_ns_per_op",
    "hit_latency_p999_us",
)


def by_period(control: ControlPlane, period_s: float) -> float | None:
    """As the paper counts, in MiB/s: the bytes of a snapshot in the period that it is configured
    to have; and what admissions and evictions send, in the time that they had. Without snapshots
    only these.
    """
    others = control.other_bytes / control.elapsed_s
    if period_s == 0:
        return others / MIB
    whole = control.snapshot_bytes
    return None if whole is None else (whole / period_s + others) / MIB


def by_elapsed(control: ControlPlane, period_s: float) -> float | None:
    """The same in real time: of snapshots until the end of the last complete one."""
    others = control.other_bytes / control.elapsed_s
    if period_s == 0:
        return others / MIB
    if control.snapshot_bytes is None or control.until_s is None:
        return None
    count = len(control.snapshots)
    return (control.snapshot_bytes * count / control.until_s + others) / MIB


def columns(case: Case) -> Row:
    row: Row = dict.fromkeys(COLUMNS)
    if not case.complete:
        return row
    period_s = snapshot_period_s(case.parameters)
    controls = [m.control_plane for m in case.measurements if m.control_plane is not None]
    if case.parameters["method"] in WRITE_BACK and controls:
        sizes = [control.snapshot_bytes for control in controls]
        row |= {
            "bandwidth_mib_per_s": _mean([by_period(c, period_s) for c in controls]),
            "bandwidth_elapsed_mib_per_s": _mean([by_elapsed(c, period_s) for c in controls]),
            "snapshot_mib": _mean([None if size is None else size / MIB for size in sizes]),
        }
    if case.parameters["capacity_ops_per_s"] == 0:
        row |= _costs(case.measurements) | {"hit_latency_p999_us": hit_p999_us(case)}
    return row


def _costs(measurements: Sequence[Measurement]) -> Row:
    return {
        "hits_per_s": fmean(_hits(m) / m.seconds for m in measurements),
        "switch_ns_per_op": _mean([m.switch_ns_per_op for m in measurements]),
        "client_ns_per_op": _mean([m.client_ns_per_op for m in measurements]),
    }


def _hits(measurement: Measurement) -> int:
    return sum(client.switch_ops for client in measurement.clients.values())


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return fmean(known) if known else None


@dataclass(frozen=True)
class Traffic:
    """One cell: what its control plane sent, means over the rounds that count."""

    cell: CellResult
    period_s: float
    snapshots: int  # complete ones, of all rounds
    switch_mib: float | None  # of one: the switch's records, with the questions and all answers
    case1_mib: float | None  # ... reports of slots that changed meanwhile
    others_kib_per_s: float | None  # admissions and evictions


def traffic(cells: Sequence[CellResult]) -> list[Traffic]:
    """Of the cells whose experiment asks for it: those that differ in the snapshots' period."""
    caching = [cell for cell in cells if cell.parameters["method"] in WRITE_BACK]
    if len({cell.parameters.get("snapshot_period_s") for cell in caching}) < 2:
        return []
    return [_traffic(cell) for cell in caching]


def _traffic(cell: CellResult) -> Traffic:
    controls = [
        m.control_plane for turn in cell.shown for m in turn.measurements if m.control_plane
    ]
    snapshots = [size for control in controls for size in control.snapshots]
    count = len(snapshots)
    case1 = sum(control.case1_bytes for control in controls)
    return Traffic(
        cell,
        snapshot_period_s(cell.parameters),
        count,
        fmean(snapshots) / MIB if snapshots else None,
        case1 / count / MIB if count else None,
        _mean([control.other_bytes / control.elapsed_s / 1024 for control in controls]),
    )


def hit_p999_us(case: Case) -> float | None:
    """Of what the switch answered, in the experiments that are about it."""
    if not case.complete or case.parameters["capacity_ops_per_s"] > 0:
        return None
    parts = [
        (text, 1.0)
        for measurement in case.measurements
        for client in measurement.clients.values()
        for text in client.switch_histograms
    ]
    return merge(parts).percentile(99.9)
