"""Which processors memcached, the jobs beside it and the load generators have. The hosts work it
out from their own topology (src/placement/placement.h); here is what they are asked.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from turntable_core.testbed import Testbed

MANUAL = "manual"
RANGES = ("hp_cpus", "l1_cpus", "l3_cpus")
_CPUS = (*RANGES, "generator_cpus")


def request(parameters: Mapping[str, Any], testbed: Testbed) -> dict[str, Any]:
    """`placement` of the nodes' commands."""
    counts = {name: parameters[name] for name in ("layout", "hp_count")}
    counts["be_count"] = parameters["be_count"] if parameters["aggressors"] else 0
    cpus = {name: with_commas(parameters.get(name, "")) for name in _CPUS}
    return {**counts, **cpus, "one_machine": testbed.emulated}


def with_commas(text: Any) -> str:
    """A list as the nodes read it. On the command line commas are between levels of a factor, so
    that lists have + there.
    """
    return str(text).replace("+", ",")
