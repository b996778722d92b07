"""Which processors memcached, the jobs beside it and the load generators have. The hosts work it
out from their own topology (src/swan/placement.h); here is what they are asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.testbed import Testbed

MANUAL = "manual"
RANGES = ("hp_cpus", "l1_cpus", "l3_cpus")
_ASKED = ("layout", "hp_count", "be_count", *RANGES, "generator_cpus")


def request(parameters: Mapping[str, Any], testbed: Testbed) -> dict[str, Any]:
    """`placement` of the nodes' commands."""
    asked = {name: parameters.get(name, "") for name in _ASKED}
    return {**asked, "one_machine": testbed.emulated}
