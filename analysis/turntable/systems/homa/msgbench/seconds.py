"""A line for each second of a client, with what cp_node's users look at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_LEAST_GBPS = 0.001  # below, four decimals say nothing


def lines_of(row: Mapping[str, Any], length_s: float, response_bytes: int) -> Iterator[str]:
    """row: of the node's `seconds`. length_s: of a last one that is a part. response_bytes: of
    every answer; 0: as many as its request has.
    """
    answered, out_bytes = row["answered"], row["answered_bytes"]
    in_bytes = answered * response_bytes if response_bytes else out_bytes
    times = "  ".join(
        f"{name} {row[field] / 1e3:.1f}"
        for name, field in (("P50", "rtt_p50_ns"), ("P99", "rtt_p99_ns"), ("P99.9", "rtt_p999_ns"))
    )
    yield (
        f"{row['second'] + 1:5} s  {answered / length_s / 1e3:8.2f} Kops/s  "
        f"{_gbps(out_bytes, length_s)} Gbps out  {_gbps(in_bytes, length_s)} Gbps in  "
        f"RTT (us) {times if answered else '-'}  {row['open']} outstanding RPCs"
    )
    if row["waiting_max"] and answered:  # where nobody answers, it is not for the load
        yield f"         Lag due to overload: up to {row['waiting_max']} RPCs waited for a place"


def _gbps(count: int, length_s: float) -> str:
    gbps = 8e-9 * count / length_s
    return f"{gbps:.4f}" if gbps >= _LEAST_GBPS or not count else f"{gbps:.7f}"
