"""What Homa and the transports it is compared with give the run (turntable_core.system)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from turntable_core.asked_program import AskedProgram
from turntable_core.context import Context
from turntable_core.plan import Iteration, Turn
from turntable_core.system import Check, Parameters, Planned, Role, System, Windows
from turntable_core.testbed import Testbed
from turntable_systems.homa import (
    checks,
    host_needs,
    links,
    methods,
    placement,
    prediction,
    simulation,
    sizes,
    switch_tables,
)

_REPOSITORY = Path(__file__).resolve().parents[3]


class Homa(System):
    name = "homa"

    schema = _REPOSITORY / "experiments" / "homa" / "system.schema.json"
    tasks = _REPOSITORY / "playbooks" / "homa" / "tasks"
    components = "turntable_systems.homa.components"
    analysis = "turntable.systems.homa"

    roles = (
        Role("clients", programs=(placement.CLIENT,), needs=host_needs.NODES),
        Role(
            "servers",
            programs=(placement.SERVER,),
            udp_ports=range(placement.SERVER_PORT, placement.BESIDE_PORT + 1),
            needs=host_needs.NODES,
        ),
    )
    needs_switch = True
    needs_switch_program = False  # eight strict-priority queues are enough
    controller_programs = ("homa-sim",)

    identity = ("method", "sizes", "load")
    phrases: ClassVar[Mapping[str, str]] = {
        "load": "load {}",
        "degree": "degree {}",
        "fan_out": "{} at once",
        "rtt_bytes": "RTTbytes {}",
        "cap_bytes": "at most {} B",
        "beside": "beside {}",
        "divide": "sizes / {}",
    }
    usual: ClassVar[Mapping[str, Any]] = {"beside": methods.NONE}
    preview_note = (
        "payload: of each client, in each direction; p99: predicted slowdown of the smallest and "
        "the largest tenth of the messages"
    )

    def checks(self) -> Sequence[Check]:
        return checks.CHECKS

    def notes(self, cells: Sequence[Parameters]) -> Sequence[str]:
        loads = sorted({parameters["load"] for parameters in cells if parameters["load"] >= 1})
        if not loads:
            return ()
        which = ", ".join(f"{load:g}" for load in loads)
        return (
            f"load {which}: at least all that links carry. Expect these cells to be saturated: "
            "they have no slowdowns then, and what they deliver is the result",
        )

    def meaningless(self, parameters: Parameters) -> Collection[str]:
        return {*sizes.meaningless(parameters), *methods.meaningless(parameters)}

    def windows(self, parameters: Parameters) -> Windows:
        return Windows(
            parameters["start_lead_ms"] / 1000,
            parameters["warmup_s"],
            parameters["measure_s"],
            parameters["drain_s"],
        )

    def iteration_count(self, parameters: Parameters) -> int:
        return 1

    def planning_s(self, parameters: Parameters) -> float:
        return simulation.planning_s(parameters)

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        program = AskedProgram(build / "bin" / "homa-sim", self.name, deadline_s, while_planning)

        def plan(parameters: Parameters, round_: int) -> Planned:
            asked = simulation.question(parameters, round_)
            predicted = prediction.from_answer(
                program.ask(asked), of_its_transport=methods.is_simulated(parameters)
            )
            offered = f"{_short(predicted.payload_bps / 1e6)} Mb/s of payload"
            return Planned((Iteration(0, offered),), predicted)

        return plan

    def read_prediction(self, document: Any) -> prediction.Prediction:
        return prediction.from_json(document)

    def nodes(self, parameters: Parameters) -> Sequence[str]:
        return ("switch", "msgserver", "msgclient")

    def preview(self, turn: Turn) -> Mapping[str, str]:
        predicted = turn.prediction
        offered = {
            "payload": f"{_short(predicted.payload_bps / 1e6)} Mb/s",
            "calls": f"{predicted.calls:,}",
        }
        if not predicted.slowdown_1000:
            return {
                **offered,
                "RTTbytes": "-",
                "cutoffs": "-",
                "p99, smallest": "-",
                "p99, largest": "-",
            }
        smallest, *_, largest = predicted.slowdown_1000
        return {
            **offered,
            "RTTbytes": f"{predicted.rtt_bytes:,}",
            "cutoffs": "+".join(map(str, predicted.cutoffs)) or "none",
            "p99, smallest": _short(prediction.percentile(smallest, 99)),
            "p99, largest": _short(prediction.percentile(largest, 99)),
        }

    def switch_program(self, parameters: Parameters) -> str:
        return switch_tables.PROGRAM

    def switch_tables(self, context: Context) -> list[dict[str, Any]]:
        return switch_tables.of_turn(context.testbed)

    def switch_traffic(self, parameters: Parameters, testbed: Testbed) -> list[dict[str, Any]]:
        return links.traffic(testbed, parameters)

    def switch_settings(self, parameters: Parameters) -> Mapping[str, Any]:
        """As clients and servers do, the switch runs before whatever else the machine has to do."""
        return {"realtime": True}

    def switch_counters(self, parameters: Parameters) -> Sequence[str]:
        return switch_tables.COUNTED


def _short(value: float) -> str:
    """Three digits, or all before the point."""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"
