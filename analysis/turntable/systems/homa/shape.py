"""Does a run have the shape of the paper's figures? Statements about the smaller half of the
messages at 80 % load, for each distribution of sizes (docs/homa.md §9).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from turntable.results import CellResult

_LOAD = 0.8
_BASIC, _P1, _P2, _P4, _P8 = ("basic", "homa-p1", "homa-p2", "homa-p4", "homa-p8")


@dataclass
class Finding:
    statement: str
    shown: list[str] = field(default_factory=list)  # of each distribution
    failed: list[str] = field(default_factory=list)

    @property
    def holds(self) -> bool | None:
        """None: nothing in the run says."""
        return not self.failed if self.shown or self.failed else None

    def add(self, where: str, value: float, holds: bool) -> None:
        (self.shown if holds else self.failed).append(f"{where}: {value:.3g}")


def findings(cells: Sequence[CellResult]) -> list[Finding]:
    ratios = [
        ("Basic is at least 8 times Homa's with 8 priorities", _BASIC, _P8, 8, None),
        ("with one priority it is at least 3 times that with 8", _P1, _P8, 3, None),
        ("with one priority it is at least twice that with 2", _P1, _P2, 2, None),
        ("with 2 priorities it is at most 2.5 times that with 8", _P2, _P8, None, 2.5),
        ("with 4 priorities it is within 20 % of that with 8", _P4, _P8, 0.8, 1.2),
    ]
    found = [_ratio(cells, *ratio) for ratio in ratios]
    at_most = Finding("with 8 priorities p99 slowdown is at most 4")
    for where, by_method in _halves(cells):
        if _P8 in by_method:
            value = by_method[_P8][0]
            at_most.add(where, value, value <= 4)
    return [*found, at_most, _beside_simulation(cells)]


def _ratio(
    cells: Sequence[CellResult],
    statement: str,
    over: str,
    under: str,
    least: float | None,
    most: float | None,
) -> Finding:
    finding = Finding(statement)
    for where, by_method in _halves(cells):
        if over in by_method and under in by_method:
            value = by_method[over][0] / by_method[under][0]
            holds = (least is None or value >= least) and (most is None or value <= most)
            finding.add(where, value, holds)
    return finding


def _beside_simulation(cells: Sequence[CellResult]) -> Finding:
    finding = Finding("with 2, 4 and 8 priorities it is within 25 % of what was predicted")
    for where, by_method in _halves(cells):
        for method in (_P2, _P4, _P8):
            if method in by_method:
                measured, predicted = by_method[method]
                value = measured / predicted
                finding.add(f"{where} {method}", value, 0.75 <= value <= 1.25)
    return finding


def _halves(
    cells: Sequence[CellResult],
) -> Iterator[tuple[str, Mapping[str, tuple[float, float]]]]:
    """Distribution -> method -> p99 slowdown, measured and predicted."""
    found: dict[str, dict[str, tuple[float, float]]] = {}
    for cell in cells:
        measured, predicted = cell.measured("p99_half"), cell.predicted("predicted_p99_half")
        if cell.parameters["load"] != _LOAD or measured is None or not predicted:
            continue
        # What else is peculiar to them, RTTbytes or links, separates cells too.
        where = ", ".join([cell.parameters["sizes"], *cell.peculiarities])
        of_sizes = found.setdefault(where, {})
        of_sizes[cell.parameters["method"]] = (measured.mean, predicted)
    yield from found.items()
