"""What tells cells of a method, a distribution and a load apart. Only cells that agree in it are
one line of a figure, have one peak, and are compared with those of other methods.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from turntable.results import CellResult
from turntable_core.labels import shown

# Of some of which others know nothing.
OF_METHODS = ("filter", "laedge_mode")
OF_ALL = (
    *("servers", "workers", "unequal_workers", "mode", "jitter_probability", "jitter_factor"),
    *("mean_us", "sigma", "scan_share", "objects", "theta"),
    *("clients", "arrivals", "outstanding_max", "seed"),
)
PARAMETERS = (*OF_ALL, *OF_METHODS)
# Columns of summary.csv that have other names: mean_us is a latency there.
_COLUMNS = {"mean_us": "service_mean_us"}


def column(parameter: str) -> str:
    return _COLUMNS.get(parameter, parameter)


def differing(cells: Sequence[CellResult]) -> list[str]:
    """Parameters that do so among these cells."""
    return [name for name in PARAMETERS if _differs(name, cells)]


def words(parameters: Mapping[str, Any], names: Iterable[str]) -> str:
    given = [name for name in names if parameters.get(name) is not None]
    return ", ".join(f"{name} {shown(parameters[name])}" for name in given).replace("_", " ")


def _differs(name: str, cells: Sequence[CellResult]) -> bool:
    """Within a method: others may not know the parameter."""
    values: dict[str, set[Any]] = {}
    for cell in cells:
        values.setdefault(cell.parameters["method"], set()).add(cell.parameters.get(name))
    return any(len(found) > 1 for found in values.values())
