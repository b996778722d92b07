"""What echo gives the run (turntable_core.system)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from turntable_core.context import Context
from turntable_core.plan import Iteration, Turn
from turntable_core.requests import Batches, Request
from turntable_core.system import Check, Parameters, Planned, Role, System, Windows
from turntable_core.testbed import Testbed

PORT = 2007
MOST_REQUESTS = 20_000_000  # the client keeps them all in memory
_HERE = Path(__file__).resolve().parents[2]


class Echo(System):
    name = "echo"
    schema = _HERE / "experiments" / "echo" / "system.schema.json"
    tasks = _HERE / "playbooks" / "echo" / "tasks"
    components = "turntable_systems.echo.components"
    analysis = "turntable.systems.echo"

    roles = (
        Role("clients", 1, 1, programs=("echo-client",)),
        Role("servers", 1, 1, programs=("echo-server",), udp_ports=range(PORT, PORT + 1)),
    )
    identity = ("rate_per_s",)
    phrases: ClassVar[Mapping[str, str]] = {
        "rate_per_s": "{} requests/s",
        "capacity_per_s": "capacity {}/s",
    }
    preview_note = "offered/s: Poisson arrivals, and the server is predicted to answer as many"

    def checks(self) -> Sequence[Check]:
        return (Check("measure_s", _requests, beside=("rate_per_s", "warmup_s")),)

    def windows(self, parameters: Parameters) -> Windows:
        return Windows(
            lead_s=parameters["start_lead_ms"] / 1000,
            warmup_s=parameters["warmup_s"],
            measure_s=parameters["measure_s"],
            drain_s=parameters["drain_s"],
        )

    def iteration_count(self, parameters: Parameters) -> int:
        return 1

    def planner(
        self, build: Path, deadline_s: float, while_planning: Callable[[], None]
    ) -> Callable[[Parameters, int], Planned]:
        def plan(parameters: Parameters, round_: int) -> Planned:
            rate = parameters["rate_per_s"]
            load = Iteration(0, f"{rate} requests/s", {"seed": parameters["seed"] + round_})
            return Planned((load,), {"offered_per_s": rate, "delivered_per_s": rate})

        return plan

    def nodes(self, parameters: Parameters) -> Sequence[str]:
        return ("server", "client")

    def timeline_verbs(self) -> Mapping[str, Callable[[Any, Context], Batches]]:
        return {"capacity": _capacity}

    def preview(self, turn: Turn) -> Mapping[str, str]:
        return {"offered/s": str(turn.prediction["offered_per_s"])}


def _capacity(value: Any, context: Context) -> Batches:
    """Of the server, from this instant on; 0: no limit."""
    (host,) = context.testbed.hosts_of("servers")
    return {host.name: [Request("echo-server", "capacity", {"capacity_per_s": value})]}


def _requests(parameters: Parameters, testbed: Testbed) -> str | None:
    seconds = parameters["warmup_s"] + parameters["measure_s"]
    if parameters["rate_per_s"] * seconds > MOST_REQUESTS:
        return f"at most {MOST_REQUESTS:,} requests in warm-up and window together"
    return None
