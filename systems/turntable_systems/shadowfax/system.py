"""What Shadowfax gives the run (turntable_core.system).

A round of a cell is one turn with one iteration: stores are opened and filled, then clients keep
their pipelines full, or send at a given rate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from turntable_core.context import Context
from turntable_core.plan import Iteration, Turn
from turntable_core.requests import Batches
from turntable_core.system import (
    Check,
    Parameters,
    Planned,
    Preparation,
    Role,
    System,
    Windows,
)
from turntable_core.testbed import Testbed
from turntable_core.text_table import size
from turntable_core.timeline import Event
from turntable_systems.shadowfax import (
    batches,
    checks,
    host_needs,
    migration,
    placement,
    preparation,
    store_size,
    text_stores,
    workloads,
)
from turntable_systems.shadowfax.components import store

_REPOSITORY = Path(__file__).resolve().parents[3]


class Shadowfax(System):
    name = "shadowfax"

    schema = _REPOSITORY / "experiments" / "shadowfax" / "system.schema.json"
    tasks = _REPOSITORY / "playbooks" / "shadowfax" / "tasks"
    components = "turntable_systems.shadowfax.components"
    analysis = "turntable.systems.shadowfax"

    roles = (
        Role("clients", programs=(placement.CLIENT,), needs=host_needs.CLIENTS),
        Role(
            "servers",
            programs=(placement.SERVER, placement.METADATA, placement.TEXT_SERVER),
            needs=host_needs.SERVERS,
        ),
    )

    identity = ("workload", "distribution")
    phrases: ClassVar[Mapping[str, str]] = {
        "store": "{}",
        "servers": "{} servers",
        "threads": "{} threads",
        "keys": "{} keys",
        "value_bytes": "values of {} bytes",
        "load_file": "keys of {}",
        "txns_file": "requests of {}",
        "range_check": "range check {}",
        "splits": "{} ranges",
        "batch_operations": "{} a batch",
        "fill_batch_bytes": "filled by batches of {} bytes",
        "fill_pipeline": "{} under way while filled",
        "memory_share": "memory for {} of the data",
        "rate_per_s": "{} operations/s",
        "capacity_per_s": "{} operations/s a server",
        "move_share": "{} of a server's keys move",
        "sample_s": "sampled for {} s",
        "indirection": "indirection {}",
    }
    usual: ClassVar[Mapping[str, Any]] = {
        "store": text_stores.SHADOWFAX,
        "servers": 1,
        "value_bytes": store_size.USUAL_VALUE_BYTES,
        "load_file": "",
        "txns_file": "",
        "range_check": "view",
        "rate_per_s": 0,
        "capacity_per_s": 0,
        "indirection": False,
    }
    preview_note = "batch: bytes of a whole one; log, index: memory of each server"

    def checks(self) -> Sequence[Check]:
        return checks.CHECKS

    def notes(self, cells: Sequence[Parameters]) -> Sequence[str]:
        """A log that is not compacted grows (docs/hybridlog.md §4)."""
        growing = [c for c in cells if _grows(c)]
        if not growing:
            return ()
        most = max(map(store_size.record_bytes, growing))
        return (
            "mutable memory is smaller than the data: a record that is changed outside of it is "
            f"written again, up to {most} bytes at the end of the log, and the log's file on the "
            "server hosts grows as long as a turn lasts; -e compact_above=BYTES bounds it",
        )

    def meaningless(self, parameters: Parameters) -> Collection[str]:
        return workloads.meaningless(parameters)

    def windows(self, parameters: Parameters) -> Windows:
        return Windows(
            parameters["start_lead_ms"] / 1000,
            parameters["warmup_s"],
            parameters["measure_s"],
            parameters["drain_s"],
        )

    def iteration_count(self, parameters: Parameters) -> int:
        return 1

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        return lambda parameters, round_: Planned((Iteration(0, _label(parameters)),), None)

    def timeline_verbs(self) -> Mapping[str, Callable[[Any, Context], Batches]]:
        return {migration.VERB: store.migrate}

    def timeline_fault(self, event: Event, parameters: Parameters) -> str | None:
        return migration.fault(event, parameters)

    def preview(self, turn: Turn) -> Mapping[str, str]:
        parameters = turn.cell.parameters
        if text_stores.is_text(parameters):
            return {"batch": "text", "log": "-", "index": "-"}
        return {
            "batch": f"{batches.batch_bytes(parameters):,}",
            "log": size(store_size.log_bytes(parameters)),
            "index": size(store_size.index_bytes(parameters)),
        }

    def preparation(self, turns: Sequence[Turn], testbed: Testbed) -> Preparation:
        return preparation.preparation(turns, testbed)


def _label(parameters: Parameters) -> str:
    operations = parameters["batch_operations"]
    many = "" if operations == 1 else "s"
    return f"{operations:,} operation{many} a batch, pipeline {parameters['pipeline']}"


def _grows(parameters: Parameters) -> bool:
    """Whether a log does, on its device."""
    if text_stores.is_text(parameters) or parameters["compact_above"]:
        return False
    return workloads.writes(parameters) and not _stays_in_memory(parameters)


def _stays_in_memory(parameters: Parameters) -> bool:
    """Whether all records are where they are changed in place."""
    mutable_bytes = parameters["mutable_share"] * store_size.log_bytes(parameters)
    return mutable_bytes >= store_size.data_bytes(parameters)
