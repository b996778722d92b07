"""A system for tests of the core: senders ask receivers through a switch, station after station."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from turntable_core.context import Context
from turntable_core.plan import Iteration, Turn
from turntable_core.requests import Batches, Request
from turntable_core.system import Check, Parameters, Planned, Preparation, Role, System, Windows
from turntable_core.testbed import Testbed

_HERE = Path(__file__).parent
# What its preparation takes, per turn.
SECONDS, DISK_BYTES, MEMORY_BYTES = 2.5, 4_000, 7_000


@dataclass(frozen=True)
class Prediction:
    """A dataclass, and JSON makes a list of its tuple: what a plan has to survive."""

    busiest: int
    shares: tuple[float, ...]


def _users(parameters: Parameters, testbed: Testbed) -> str | None:
    machines = len(testbed.hosts_of("senders"))
    if parameters["users"] % machines:
        return f"a multiple of {machines}, the number of senders"
    return None


def _pause(parameters: Parameters, testbed: Testbed) -> str | None:
    if parameters["pause_s"] > parameters["measure_s"]:
        return f"at most measure_s = {parameters['measure_s']:g}"
    return None


def _hurry(value: Any, context: Context) -> Batches:
    first = context.testbed.hosts_of("senders")[0]
    return {first.name: [Request("sender", "hurry", {"by": value})]}


class Fake(System):
    name = "fake"
    former_names = ("feint",)
    schema = _HERE / "system.schema.json"
    tasks = _HERE / "tasks"
    components = "turntable_systems.fake.components"
    analysis = "turntable.systems.fake"

    roles = (
        Role("senders", programs=("sender",)),
        Role(
            "receivers",
            2,
            2,
            programs=("receiver",),
            programs_of_first=("keeper",),
            udp_ports=range(7000, 7010),
        ),
    )
    needs_switch = True
    switch_programs = ("agent",)
    controller_programs = ("planner",)

    identity = ("load", "method", "stations")
    phrases: ClassVar[Mapping[str, str]] = {"delay_us": "after {} µs"}
    preview_note = "busiest: the station that is"

    def checks(self) -> Sequence[Check]:
        return (Check("users", _users), Check("pause_s", _pause, beside=("measure_s",)))

    def meaningless(self, parameters: Parameters) -> tuple[str, ...]:
        return () if parameters.get("method") == "slow" else ("delay_us",)

    def windows(self, parameters: Parameters) -> Windows:
        return Windows(
            parameters.get("lead_ms", 20) / 1000,
            parameters["warmup_s"],
            parameters["measure_s"],
            drain_s=1,
        )

    def iteration_count(self, parameters: Parameters) -> int:
        return parameters["stations"]

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        return planned

    def read_prediction(self, document: Any) -> Prediction:
        return Prediction(document["busiest"], tuple(document["shares"]))

    def read_iteration(self, document: Mapping[str, Any]) -> Mapping[str, Any]:
        station = document["station"]
        return {"label": f"station {station}", "data": {"station": station}}

    def places(self, iteration: Iteration) -> Mapping[str, tuple[str, ...]]:
        return {"station": (iteration.data["station"], iteration.data["station"].upper())}

    def facts(self, parameters: Parameters) -> Mapping[str, Any]:
        return {"slow": parameters["method"] == "slow"}

    def nodes(self, parameters: Parameters) -> Sequence[str]:
        return ("switch", "sender")

    def timeline_verbs(self) -> Mapping[str, Callable[[Any, Context], Batches]]:
        return {"hurry": _hurry}

    def preview(self, turn: Turn) -> Mapping[str, str]:
        return {"busiest": str(turn.prediction.busiest)}

    def preparation(self, turns: Sequence[Turn], testbed: Testbed) -> Preparation:
        count = len(turns)
        return Preparation(
            seconds=count * SECONDS,
            what=f"baking for {count} turn(s)",
            disk_bytes=count * DISK_BYTES,
            disk_of="bread",
            memory_bytes=MEMORY_BYTES,
            memory_of="dough",
        )

    def switch_program(self, parameters: Parameters) -> str:
        return parameters["method"]

    def switch_tables(self, context: Context) -> list[dict[str, Any]]:
        return [{"op": "clear", "table": "stations"}]

    def switch_settings(self, parameters: Parameters) -> Mapping[str, Any]:
        return {"slow": parameters["method"] == "slow"}

    def switch_counters(self, parameters: Parameters) -> Sequence[str]:
        return ("asked", "answered")


def planned(parameters: Parameters, round_: int) -> Planned:
    """Stations a, b, c, …, the third of which is the busiest."""
    names = [chr(ord("a") + index) for index in range(parameters["stations"])]
    return Planned(
        tuple(
            Iteration(index, f"station {name}", {"station": name})
            for index, name in enumerate(names)
        ),
        Prediction(2, (0.25,) * 4),
    )


SYSTEM = Fake()
