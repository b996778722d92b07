"""What Swan's sensitivity profile gives the run (turntable_core.system).

A cell of the framework is a way to run memcached and the jobs beside it. A round of it is a block:
its iterations are Swan's cells, an aggressor at a load each.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from turntable_core.plan import Iteration, Turn
from turntable_core.system import Check, Parameters, Planned, Role, System, Windows
from turntable_systems.swan import aggressors, block, checks, host_needs, isolation, meaning
from turntable_systems.swan.loads import loads, name_of

_REPOSITORY = Path(__file__).resolve().parents[3]


class Swan(System):
    name = "swan"

    schema = _REPOSITORY / "experiments" / "swan" / "system.schema.json"
    tasks = _REPOSITORY / "playbooks" / "swan" / "tasks"
    components = "turntable_systems.swan.components"
    analysis = "turntable.systems.swan"

    roles = (
        Role("clients", programs=("mcload-node", "mcload"), needs=host_needs.CLIENTS),
        Role(
            "servers",
            1,
            1,
            programs=("colocator", "pressure", "swan-train"),
            needs=host_needs.SERVERS,
        ),
    )

    identity = ("layout", "isolation")
    phrases: ClassVar[Mapping[str, str]] = {
        "isolation": "isolation {}",
        "be_shares": "{} shares",
        "quota_share": "quota {}",
        "be_nice": "nice {}",
        "threads": "{} threads",
        "cat_ways": "{} cache ways",
        "be_processes": "{} processes",
    }
    usual: ClassVar[Mapping[str, Any]] = {"fresh": meaning.FRESH_BLOCK, "transport": "tcp"}
    preview_note = "units: aggressors and baseline rows by loads, in an order drawn for each block"

    def checks(self) -> Sequence[Check]:
        return checks.CHECKS

    def meaningless(self, parameters: Parameters) -> Collection[str]:
        return {*isolation.meaningless(parameters), *meaning.meaningless(parameters)}

    def windows(self, parameters: Parameters) -> Windows:
        return Windows(
            parameters["start_lead_ms"] / 1000,
            parameters["warmup_s"],
            parameters["measure_s"],
            parameters["drain_s"],
        )

    def iteration_count(self, parameters: Parameters) -> int:
        return block.count(parameters)

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        return lambda parameters, round_: Planned(block.iterations(parameters, round_), None)

    def places(self, iteration: Iteration) -> Mapping[str, tuple[str, ...]]:
        data = iteration.data
        load = data["load"]
        return {
            "aggressor": (data["aggressor"],),
            "load": (name_of(load), f"{name_of(100 * load)}%"),
            "repeat": (str(data["repeat"]),),
        }

    def preview(self, turn: Turn) -> Mapping[str, str]:
        parameters = turn.cell.parameters
        points = loads(parameters)
        peak = parameters["peak_load"]
        ends = [name_of(share) for share in dict.fromkeys((points[0], points[-1]))]
        return {
            "aggressors": " ".join(aggressors.names(parameters)) or "none",
            "loads": f"{' to '.join(ends)} of the peak",
            "peak": f"{peak:,}/s" if peak else "is searched",
            "units": str(len(turn.iterations)),
        }
