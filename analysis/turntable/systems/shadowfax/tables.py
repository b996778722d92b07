"""What people see of a cell in the terminal."""

from __future__ import annotations

from turntable.grid import Column

_RATE = (
    Column("operations/s", "all", "aggregate_ops_per_s", ",.0f", measured=True),
    Column("operations/s", "a worker", "ops_per_s_per_worker", ",.0f", measured=True),
)
_ROUND_TRIP = "round trip of a batch (µs)"
_MEAN = Column(_ROUND_TRIP, "mean", "round_trip_mean_us", ",.0f", measured=True)
_SHARES = (
    Column("busy", "servers", "server_busy_share", ".2f", measured=True),
    Column("busy", "clients", "client_busy_share", ".2f", measured=True),
    Column("", "pending", "pending_share", ".3f", measured=True),
)
_LATENCY = tuple(
    Column("latency (µs)", name, f"latency_{key}_us", ",.0f", measured=True, optional=True)
    for name, key in (("p50", "p50"), ("p99", "p99"), ("p99.9", "p999"))
)
_READS = "device (reads/s)"
_DEVICE = (
    Column(_READS, "stores", "device_reads_per_s", ",.0f", measured=True, optional=True),
    Column(_READS, "alone", "device_alone_reads_per_s", ",.0f", measured=True, optional=True),
)
_MIGRATION = "keys move"
_MOVES = (
    Column(_MIGRATION, "before", "before_ops_per_s", ",.0f", measured=True, optional=True),
    Column(_MIGRATION, "after", "after_ops_per_s", ",.0f", measured=True, optional=True),
    Column(_MIGRATION, "predicted", "predicted_after_ops_per_s", ",.0f", optional=True),
    Column(_MIGRATION, "cut (ms)", "cut_ms", ",.0f", measured=True, optional=True),
    Column(_MIGRATION, "all (ms)", "complete_ms", ",.0f", measured=True, optional=True),
    Column(_MIGRATION, "records", "moved_records", ",.0f", measured=True, optional=True),
    Column(_MIGRATION, "fetched", "fetched_records", ",.0f", measured=True, optional=True),
    Column(_MIGRATION, "dip", "dip_share", ".2f", measured=True, optional=True),
    Column(_MIGRATION, "silent (ms)", "silent_ms", ",.0f", measured=True, optional=True),
)
ROUNDS = (
    *_RATE,
    _MEAN,
    Column(_ROUND_TRIP, "Little", "little_us", ",.0f", measured=True),
    *_LATENCY,
    *_SHARES,
    *_DEVICE,
    *_MOVES,
)
_FILL = (
    Column("keys stored/s", "filling", "fill_ops_per_s", ",.0f", measured=True, optional=True),
)
CELLS = (
    *_RATE,
    _MEAN,
    Column(_ROUND_TRIP, "p50", "round_trip_p50_us", ",.0f", measured=True),
    *_FILL,
    *_LATENCY,
    *_SHARES,
    *_DEVICE,
    *_MOVES,
)
NOTES = (
    "Round trips are of full pipelines: by Little's law they follow from the throughput, and say "
    "nothing of a service time (docs/shadowfax.md). Busy: share of the threads' time.",
)
