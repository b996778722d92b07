"""Plans of the system of fakes/."""

from __future__ import annotations

from collections.abc import Callable

from turntable_core import plan
from turntable_core.spec import Scale
from turntable_core.system import Parameters, Planned


def make_plan(scale: Scale) -> plan.Plan:
    return plan.make_plan(scale, plan.cells_of(scale), planned(scale))


def planned(scale: Scale) -> Callable[[Parameters, int], Planned]:
    """As make_plan takes it."""
    return scale.experiment.system.planner(None, 10.0, lambda: None)
