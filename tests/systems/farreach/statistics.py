"""Statistics as nodes answer them, with made-up numbers."""

from __future__ import annotations

from hdrh.histogram import HdrHistogram


def client_stats(ops: dict[int, int], seconds: float) -> dict:
    """The fields of docs/raw-format.md that the analysis reads, for a machine that had
    `ops[partition]` answered in 10 ms each.
    """
    names = (
        "malformed",
        "mismatched",
        "wrong_node",
        "wrong_values",
        "send_errors",
        "receive_errors",
        "unanswered",
        "retries",
        "stale_answers",
        "in_flight_at_stop",
        "answered_in_drain",
        "socket_drops",
    )
    rows = [
        {
            "partition": partition,
            "server_ops": count,
            "switch_ops": 0,
            "requests_total": count,
            "answers_total": count,
            "server_latency_ns": encoded(10_000_000, count),
            "switch_latency_ns": encoded(0, 0),
            "server_latency_sum_ns": 10_000_000 * count,
            "switch_latency_sum_ns": 0,
        }
        for partition, count in ops.items()
    ]
    second = {"second": 0, "retries": 0, "partitions": rows}
    thread = {"measured_ns": seconds * 1e9, "start_late_us": 12, "window_late_us": 20}
    return dict.fromkeys(names, 0) | {
        "operations": sum(ops.values()),
        "partitions": rows,
        "seconds": [second],
        "threads": [thread],
        "window_ns": seconds * 1e9,
        "start_late_max_us": 12,
    }


def encoded(value: int, count: int) -> str:
    histogram = HdrHistogram(1, 60_000_000_000, 3)
    if count:
        histogram.record_value(value, count)
    return histogram.encode().decode()


SERVER_ZEROS = dict.fromkeys(
    (
        "socket_drops",
        "malformed",
        "misrouted",
        "store_errors",
        "send_errors",
        "receive_errors",
        "forgiven_us",
        "blocked_us",
    ),
    0,
)
