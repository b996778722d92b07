"""What the path of a statistics file says: `<workload>-statistics/<method>-static<N>-client<i>.out`
and `<workload>-statistics/<method>-<pattern>-client<i>.out`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from turntable_systems.farreach.methods import EVERY

_FILE = re.compile(
    rf"(?P<method>{'|'.join(EVERY)})(?P<throttled>-latency)?-"
    r"(?:static(?P<servers>\d+)|(?P<pattern>hotin|hotout|random|stable|static))"
    r"-client(?P<client>\d+)\.out"
)
_DIRECTORY = re.compile(r"(?P<workload>.+)-statistics")
_VALUE_SIZE = re.compile(r"valuesize-(?P<bytes>\d+)")

# The artifact's name -> parameters here, where it is no workload's name.
_OTHER_NAMES: Mapping[str, Mapping[str, Any]] = {
    "synthetic-0": {"workload": "workloadc"},
    "synthetic-50": {"workload": "workloada"},
    "synthetic-100": {"workload": "synthetic"},
    "skewness-90": {"workload": "skewness-90", "theta": 0.9},
    "skewness-95": {"workload": "skewness-95", "theta": 0.95},
    "skewness-99": {"workload": "synthetic"},
}

EXPECTED = (
    "<workload>-statistics/<method>-static<servers>-client<i>.out or "
    f"<workload>-statistics/<method>-<pattern>-client<i>.out, <method> one of {', '.join(EVERY)} "
    "(FarReach's artifact)"
)
DYNAMIC_SERVERS = 2


def said_by(path: PurePosixPath) -> dict[str, Any]:
    """Parameters, `client`, and `throttled` for runs at a target throughput; what the path does not
    say is not there.
    """
    said: dict[str, Any] = {}
    if directory := _DIRECTORY.fullmatch(path.parent.name):
        said |= _workload(directory["workload"])
    if file := _FILE.fullmatch(path.name):
        said |= {"method": file["method"], "client": int(file["client"])}
        if file["servers"]:
            said["servers"] = int(file["servers"])
        else:
            said |= {"servers": DYNAMIC_SERVERS, "pattern": _pattern(file["pattern"])}
        if file["throttled"]:
            said["throttled"] = True
    return said


def _workload(name: str) -> Mapping[str, Any]:
    if size := _VALUE_SIZE.fullmatch(name):
        return {"workload": "synthetic", "value_bytes": int(size["bytes"])}
    return _OTHER_NAMES.get(name, {"workload": name})


def _pattern(name: str) -> str:
    return "stable" if name == "static" else name
