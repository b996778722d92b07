"""What NetClone and the methods it is compared with give the run (turntable_core.system)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from turntable_core.context import Context
from turntable_core.plan import Iteration, Turn
from turntable_core.system import Check, Parameters, Planned, Role, System, Windows
from turntable_systems.netclone import (
    checks,
    host_needs,
    methods,
    offered_load,
    placement,
    prediction,
    service,
    switch_tables,
)

_REPOSITORY = Path(__file__).resolve().parents[3]
_SERVER_PORTS = range(placement.SWITCH_PORT, placement.SWITCH_PORT + placement.MOST_SERVERS)


class NetClone(System):
    name = "netclone"

    schema = _REPOSITORY / "experiments" / "netclone" / "system.schema.json"
    tasks = _REPOSITORY / "playbooks" / "netclone" / "tasks"
    components = "turntable_systems.netclone.components"
    analysis = "turntable.systems.netclone"

    roles = (
        Role("clients", programs=("rpcclient",), needs=host_needs.CLIENTS),
        Role(
            "servers",
            programs=("rpcserver",),
            programs_of_first=("laedge-coordinator",),
            udp_ports=_SERVER_PORTS,
            needs=host_needs.SERVERS,
        ),
    )
    needs_switch = True
    needs_one_pipe = True
    controller_programs = ("netclone-simulate",)

    identity = ("method", "distribution")
    phrases: ClassVar[Mapping[str, str]] = {
        "load": "load {}",
        "target_rps": "{} requests/s",
        "servers": "{} servers",
        "unequal_workers": "{} workers",
        "filter": "filter {}",
        "laedge_mode": "coordinator's credits: {}",
        "jitter_probability": "jitter {}",
        "scan_share": "SCAN {}",
    }
    preview_note = (
        "offered: share of the slots' time and requests/s, undilated; p99: of a simulation in the "
        "long run, undilated"
    )

    def checks(self) -> Sequence[Check]:
        return checks.CHECKS

    def meaningless(self, parameters: Parameters) -> Collection[str]:
        return {*methods.meaningless(parameters), *service.meaningless(parameters)}

    def windows(self, parameters: Parameters) -> Windows:
        return Windows(
            parameters["start_lead_ms"] / 1000,
            parameters["warmup_s"],
            offered_load.measure_s(parameters),
            parameters["drain_s"],
        )

    def iteration_count(self, parameters: Parameters) -> int:
        return 1

    def planning_s(self, parameters: Parameters) -> float:
        return prediction.PLANNING_S

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        program = build / "bin" / "netclone-simulate"
        simulator = prediction.Simulator(program, deadline_s, while_planning)

        def plan(parameters: Parameters, round_: int) -> Planned:
            offered = f"{offered_load.offered_rps(parameters):,.0f} requests/s"
            return Planned((Iteration(0, offered),), simulator.predict(parameters, round_))

        return plan

    def read_prediction(self, document: Any) -> prediction.Prediction:
        return prediction.from_json(document)

    def facts(self, parameters: Parameters) -> Mapping[str, Any]:
        recorded = parameters.get("record_latencies", False)
        return {"recorded_clients": parameters["clients"] if recorded else 0}

    def nodes(self, parameters: Parameters) -> Sequence[str]:
        coordinator = ("coordinator",) if parameters["method"] == methods.LAEDGE else ()
        return ("switch", "rpcserver", "rpcclient", *coordinator)

    def preview(self, turn: Turn) -> Mapping[str, str]:
        parameters, predicted = turn.cell.parameters, turn.prediction
        p99_us = predicted.percentile_us(99, parameters["dilation"])
        return {
            "load": f"{offered_load.load(parameters):.3g}",
            "offered/s": f"{offered_load.offered_rps(parameters):,.0f}",
            "p99 (us)": "saturated" if predicted.saturated else f"{p99_us:,.0f}",
            "cloned": f"{predicted.clone_rate:.2f}",
        }

    def switch_program(self, parameters: Parameters) -> str:
        return "netclone"

    def switch_tables(self, context: Context) -> list[dict[str, Any]]:
        parameters = context.parameters
        flags = switch_tables.Flags(methods.racksched(parameters), methods.filters(parameters))
        return switch_tables.of_turn(context.testbed, parameters["servers"], flags)

    def switch_multicast(self, context: Context) -> list[dict[str, Any]]:
        return switch_tables.multicast_of_turn(context.testbed, context.parameters["servers"])

    def switch_settings(self, parameters: Parameters) -> Mapping[str, Any]:
        """As clients and servers do, the switch runs before whatever else the machine has to do."""
        return {"realtime": True}

    def switch_counters(self, parameters: Parameters) -> Sequence[str]:
        return switch_tables.COUNTED

    def switch_registers(self, parameters: Parameters) -> Sequence[str]:
        """RackSched would never ask a server again that seemed busy when its queue was emptied."""
        return switch_tables.LOADS if methods.by_switch(parameters) else ()
