"""TRANSPORT_W_baseline.txt: the least round trip of each size on the idle network, a line
`size value unit` each.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from turntable.systems.homa.artifact.lines import lines_of
from turntable_core.errors import TurntableError

_NS = {"us": 1e3, "ms": 1e6, "s": 1e9}
_NAMED = 5  # sizes, in a message


@dataclass(frozen=True)
class Baseline:
    path: Path  # for messages
    ns_by_bytes: Mapping[int, float]

    def require(self, sizes: Iterable[int]) -> None:
        """Raises TurntableError for sizes that are smaller or larger than all that were measured:
        those between two are taken in proportion.
        """
        least, most = min(self.ns_by_bytes), max(self.ns_by_bytes)
        missing = sorted({size for size in sizes if not least <= size <= most})
        if not missing:
            return
        more = ", …" if len(missing) > _NAMED else ""
        named = ", ".join(map(str, missing[:_NAMED])) + more
        raise TurntableError(
            f"{self.path}: has round trips of {least} to {most} bytes, and messages have {named} "
            "bytes; expected a baseline of the same workload. Measure one with "
            "`msgbench client --unloaded`"
        )

    def ns(self, size: int) -> float:
        """size: not beyond those that were measured."""
        sizes = sorted(self.ns_by_bytes)
        above = bisect_left(sizes, size)
        if sizes[above] == size:
            return self.ns_by_bytes[size]
        small, large = sizes[above - 1], sizes[above]
        share = (size - small) / (large - small)
        least, most = self.ns_by_bytes[small], self.ns_by_bytes[large]
        return least + share * (most - least)


def read_baseline(path: Path) -> Baseline:
    """Raises TurntableError that names file and line."""
    found: dict[int, float] = {}
    for line in lines_of(path):
        if len(line.words) != 3 or line.words[2] not in _NS:
            raise line.error(
                f"{' '.join(line.words)!r} is not accepted; expected a size in bytes, its round "
                f"trip, and the unit ({', '.join(_NS)})"
            )
        size = line.count(0, "size", least=1)
        if size in found:
            raise line.error(f"size {size} is there twice; expected every size once")
        found[size] = line.number_at(1, "round trip") * _NS[line.words[2]]
        if not found[size]:
            raise line.error("a round trip of 0; expected the time that a call took")
    if not found:
        raise TurntableError(f"{path}: no line; expected `size value unit` for every size")
    return Baseline(path, found)


def baseline_text(ns_by_bytes: Mapping[int, float]) -> str:
    return "".join(f"{size} {_value(ns)}\n" for size, ns in sorted(ns_by_bytes.items()))


def _value(ns: float) -> str:
    unit = "us" if ns < 1e6 else "ms" if ns < 1e9 else "s"
    return f"{ns / _NS[unit]:.6g} {unit}"
