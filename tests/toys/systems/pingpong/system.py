"""What pingpong gives the run (turntable_core.system)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import ClassVar

from turntable_core.plan import Iteration
from turntable_core.system import Parameters, Planned, Role, System, Windows

PORT = 2008
_HERE = Path(__file__).resolve().parents[2]


class PingPong(System):
    name = "pingpong"
    schema = _HERE / "experiments" / "pingpong" / "system.schema.json"
    tasks = _HERE / "playbooks" / "pingpong" / "tasks"
    components = "turntable_systems.pingpong.components"
    analysis = "turntable.systems.pingpong"

    roles = (
        Role("clients", 1, 1, programs=("pingpong-client",)),
        Role("servers", 1, 1, programs=("pingpong-server",)),
    )
    identity = ("connections",)
    phrases: ClassVar[Mapping[str, str]] = {"connections": "{} connections"}

    def windows(self, parameters: Parameters) -> Windows:
        return Windows(lead_s=0.2, warmup_s=0.2, measure_s=parameters["measure_s"], drain_s=0.0)

    def iteration_count(self, parameters: Parameters) -> int:
        return 1

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        return lambda parameters, round_: Planned((Iteration(0, "all connections"),), None)
