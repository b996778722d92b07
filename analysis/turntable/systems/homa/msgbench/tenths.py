"""What a client measured, by tenth of the messages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable.histograms import merge
from turntable.systems.homa.measurement import TENTHS
from turntable.systems.homa.slowdowns import merged
from turntable_core.text_table import columns
from turntable_systems.homa.distribution import Distribution

_RTT = ("P50", "P99", "P99.9")
_PERCENTS = (50, 99, 99.9)


def table(stats: Mapping[str, Any], distribution: Distribution) -> list[str]:
    """stats: of the node. Slowdowns where it had round trips of the idle network."""
    with_slowdowns = bool(stats["idle"])
    head = ["messages", "up to (B)", "samples", *(f"{name} (us)" for name in _RTT)]
    rows = [head + (["slowdown P50", "P99"] if with_slowdowns else [])]
    for tenth in range(TENTHS):
        hundredths = stats["percentiles"][tenth * TENTHS : (tenth + 1) * TENTHS]
        rtt = merge((row["rtt_ns"], 1.0) for row in hundredths)
        row = [f"{10 * tenth}-{10 * tenth + 10} %", str(distribution.at((tenth + 1) / TENTHS))]
        row += [f"{rtt.total:.0f}", *(_text(rtt.percentile(percent)) for percent in _PERCENTS)]
        if with_slowdowns:
            slowdown = merged([[one["slowdown_1000"] for one in hundredths]])
            row += [_text(slowdown.percentile(percent), 2) for percent in (50, 99)]
        rows.append(row)
    return columns(rows, right=range(1, len(rows[0])))


def _text(value: float | None, digits: int = 1) -> str:
    return "-" if value is None else f"{value:.{digits}f}"
