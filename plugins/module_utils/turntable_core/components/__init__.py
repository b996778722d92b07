"""What the run asks of each kind of node, one module per component, one function per verb.

A verb is a function (Context) -> Batches. `node_phase` of a playbook names components and a verb; a
new system adds modules here and roles of the same names.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass

from turntable_core.errors import TurntableError
from turntable_core.owner import Owner
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.requests import Batches, merged
from turntable_core.testbed import Testbed
from turntable_core.workload import workload_of


@dataclass(frozen=True)
class Context:
    """What a verb may look at.

    `turn` is set while a cell is measured, `iteration` and `start_at_ns` inside an iteration.
    """

    testbed: Testbed
    plan: Plan
    turn: Turn | None = None
    iteration: Iteration | None = None
    start_at_ns: int | None = None
    owner: Owner | None = None  # who holds the testbed for this run
    secret: str | None = None  # of the run, while a playbook works on it

    @property
    def parameters(self) -> dict:
        """Of the turn, or of the plan's first one for verbs that come before any turn."""
        return dict((self.turn or self.plan.turns[0]).cell.parameters)

    @property
    def workload(self) -> dict:
        """The workload object of docs/architecture.md §4."""
        return workload_of(self.parameters, self.turn.round)

    def window_ns(self) -> tuple[int, int]:
        """The measured window of the running iteration, CLOCK_REALTIME."""
        begin = self.start_at_ns + seconds_to_ns(self.parameters["warmup_s"])
        return begin, begin + seconds_to_ns(self.parameters["measure_s"])


def batches(components: Iterable[str], verb: str, context: Context) -> Batches:
    """All requests of one phase."""
    return merged(_function(component, verb)(context) for component in components)


def seconds_to_ns(seconds: float) -> int:
    return round(seconds * 1_000_000_000)


def _function(component: str, verb: str):
    try:
        return getattr(importlib.import_module(f"{__name__}.{component}"), verb)
    except ModuleNotFoundError:
        raise TurntableError(
            f"component {component!r}: there is no turntable_core/components/{component}.py"
        ) from None
    except AttributeError:
        raise TurntableError(f"component {component!r} has no verb {verb!r}") from None
