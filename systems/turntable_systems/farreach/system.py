"""What FarReach, NetCache and NoCache give the run (turntable_core.system)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
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
from turntable_core.timeline import Event
from turntable_systems.farreach import (
    analyzer,
    checks,
    host_needs,
    methods,
    offered,
    placement,
    popularity,
    prediction,
    preview,
    recorded,
    rotation,
    stores,
    switch_tables,
    ycsb,
)

MOST_PARTITIONS = 128
_REPOSITORY = Path(__file__).resolve().parents[3]


class FarReach(System):
    name = "farreach"
    former_names = ("kvcache",)
    former_experiments: ClassVar[Mapping[str, str]] = {
        "farreach_recovery": "farreach_exp09_recovery"
    }

    schema = _REPOSITORY / "experiments" / "farreach" / "system.schema.json"
    tasks = _REPOSITORY / "playbooks" / "farreach" / "tasks"
    components = "turntable_systems.farreach.components"
    analysis = "turntable.systems.farreach"

    roles = (
        Role("clients", programs=("kvclient", "ycsbclient"), needs=host_needs.CLIENTS),
        Role(
            "servers",
            2,
            2,
            programs=("kvserver",),
            programs_of_first=("cache-controller",),
            udp_ports=range(placement.FIRST_PORT, placement.FIRST_PORT + MOST_PARTITIONS),
            needs=host_needs.SERVERS,
        ),
    )
    needs_switch = True
    needs_one_pipe = True
    switch_programs = ("switch-agent",)
    controller_programs = ("workload-analyze",)

    identity = ("workload", "method", "servers")
    phrases: ClassVar[Mapping[str, str]] = {
        "value_update_delay_us": "updates after {} µs",
        "target_share": "at {} of the maximum",
        "target_ops_per_s": "at {} ops/s",
        "client": "{}",
        "pattern": "{}",
        "value_bytes": "values of {} B",
        "record": "records of {} B",
    }

    def checks(self) -> Sequence[Check]:
        return checks.CHECKS

    def meaningless(self, parameters: Parameters) -> frozenset[str]:
        of_method = methods.meaningless(parameters.get("method", ""))
        return of_method | offered.meaningless(parameters) | ycsb.meaningless(parameters)

    def resolved(self, parameters: Parameters) -> Parameters:
        return recorded.resolved(parameters)

    def windows(self, parameters: Parameters) -> Windows:
        # Of imported results nothing is known beside the window.
        return Windows(
            parameters.get("start_lead_ms", 0) / 1000,
            parameters.get("warmup_s", 0),
            parameters["measure_s"],
            parameters.get("drain_s", 0) + offered.backlog_s(parameters),
        )

    def iteration_count(self, parameters: Parameters) -> int:
        return parameters["servers"] if rotation.rotates(parameters) else 1

    def planning_s(self, parameters: Parameters) -> float:
        return analyzer.PLANNING_S + analyzer.PLANNING_S_PER_OPERATION * parameters["operations"]

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        program = build / "bin" / "workload-analyze"
        workloads = analyzer.WorkloadAnalyzer(program, deadline_s, while_planning)

        def plan(parameters: Parameters, round_: int) -> Planned:
            made = workloads.predict(parameters, round_)
            rotates = rotation.rotates(parameters)
            iterations = rotation.iterations if rotates else rotation.all_at_once
            planned = iterations(parameters["servers"], made.bottleneck)
            return Planned(offered.with_rates(planned, parameters, made), made)

        return plan

    def read_prediction(self, document: Any) -> prediction.Prediction:
        return prediction.from_json(document)

    def read_iteration(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        partitions = document["partitions"]
        return {"label": rotation.label(partitions), "data": {"partitions": partitions}}

    def places(self, iteration: Iteration) -> Mapping[str, tuple[str, ...]]:
        """`partition=14+3` as the progress line shows it, or `partition=3`: the one that an
        iteration adds.
        """
        partitions = rotation.partitions_of(iteration)
        return {"partition": (rotation.pair_text(partitions), str(partitions[-1]))}

    def facts(self, parameters: Parameters) -> Mapping[str, Any]:
        return {
            "caches": methods.caches(parameters),
            "crashes": methods.crash_of(parameters),
            "loads": ycsb.drives(parameters),
        }

    def nodes(self, parameters: Parameters) -> Sequence[str]:
        cache = ("switch_agent", "cache_controller") if methods.caches(parameters) else ()
        of_ycsb = ("ycsb",) if ycsb.drives(parameters) else ()
        return ("switch", "kvserver", "kvclient", *of_ycsb, *cache)

    def timeline_verbs(self) -> Mapping[str, Callable[[Any, Context], Batches]]:
        return {popularity.VERB: popularity.begin_period}

    def timeline_fault(self, event: Event, parameters: Parameters) -> str | None:
        return popularity.fault(event)

    def preview(self, turn: Turn) -> Mapping[str, str]:
        trace = turn.prediction.trace
        return {
            "bottleneck": str(turn.prediction.bottleneck),
            "norm.": preview.number(trace.normalized, 2),
            "imb.": preview.number(trace.imbalance, 3),
            **preview.of_recorded(turn),
            **preview.of_changes(turn),
        }

    preview_note = "norm., imb.: normalized throughput and imbalance of the traces"

    def preparation(self, turns: Sequence[Turn], testbed: Testbed) -> Preparation:
        return stores.preparation(turns, testbed)

    def switch_program(self, parameters: Parameters) -> str:
        return parameters["method"]

    def switch_tables(self, context: Context) -> list[dict[str, Any]]:
        parameters = context.parameters
        return switch_tables.of_turn(
            context.testbed,
            parameters["servers"],
            context.turn.prediction.bottleneck,
            cached=methods.caches(parameters),
        )

    def switch_settings(self, parameters: Parameters) -> Mapping[str, Any]:
        return {"processing_delay_ns": parameters["switch_processing_delay_ns"]}

    def switch_counters(self, parameters: Parameters) -> Sequence[str]:
        cached = methods.caches(parameters)
        return (*switch_tables.COUNTED, *((switch_tables.OUTCOMES,) if cached else ()))
