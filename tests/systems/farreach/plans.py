"""Plans of FarReach, with what its analyzer would have said made up."""

from __future__ import annotations

from turntable_core import plan
from turntable_core.spec import Scale
from turntable_core.system import Parameters, Planned
from turntable_systems.farreach.prediction import Composition, Prediction
from turntable_systems.farreach.rotation import iterations

EVEN = Composition((0.25, 0.25, 0.25, 0.25), 4.0, 1.0)


def make_plan(scale: Scale, prediction: Prediction | None = None) -> plan.Plan:
    """Partition 2 of each turn is the bottleneck."""
    made = prediction or Prediction(2, EVEN, EVEN)

    def planned(parameters: Parameters, round_: int) -> Planned:
        return Planned(iterations(parameters["servers"], made.bottleneck), made)

    return plan.make_plan(scale, plan.cells_of(scale), planned)
