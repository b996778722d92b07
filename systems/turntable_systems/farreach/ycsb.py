"""The released YCSB in kvclient's place (docs/from-ycsb.md): which cells it drives, and with which
properties.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil
from typing import Any

KVCLIENT, YCSB = "kvclient", "ycsb"
STOCK_THETA = 0.99  # of YCSB's scrambled zipfian, which has no property
# In one datagram: kvclient and YCSB's binding then count the same.
MOST_VALUE_BYTES = 1412

_CORE_WORKLOAD = "site.ycsb.workloads.CoreWorkload"
# YCSB's core workloads as its documentation defines them, by our names for them.
WORKLOADS: Mapping[str, Mapping[str, Any]] = {
    "workloada": {"readproportion": 0.5, "updateproportion": 0.5},
    "workloadb": {"readproportion": 0.95, "updateproportion": 0.05},
    "workloadc": {"readproportion": 1, "updateproportion": 0},
    "workloadd": {
        "readproportion": 0.95,
        "updateproportion": 0,
        "insertproportion": 0.05,
        "requestdistribution": "latest",
    },
    "workloadf": {
        "readproportion": 0.5,
        "updateproportion": 0,
        "readmodifywriteproportion": 0.5,
    },
}
_STOCK_FIELDS, _STOCK_LENGTH = 10, 100
_FIELD_NAME = len("field0")


def drives(parameters: Mapping[str, Any]) -> bool:
    """Whether YCSB sends a cell's requests."""
    return parameters.get("client", KVCLIENT) == YCSB


def meaningless(parameters: Mapping[str, Any]) -> frozenset[str]:
    return frozenset() if drives(parameters) else frozenset({"ycsb_properties"})


def value_bytes(record: str) -> int:
    """Of a record `FIELDSxBYTES` as YCSB's binding stores it: one field as it is, of several each
    with its name and both lengths.
    """
    fields, length = _shape(record)
    return length if fields == 1 else fields * (1 + _FIELD_NAME + 4 + length)


def _shape(record: str) -> tuple[int, int]:
    fields, length = record.split("x")
    return int(fields), int(length)


def phase_arguments(parameters: Mapping[str, Any]) -> list[str]:
    """What both phases are told, in the words of YCSB's command line."""
    file = parameters.get("ycsb_properties", "")
    of_workload = {
        "workload": _CORE_WORKLOAD,
        "requestdistribution": "zipfian",
        **WORKLOADS[parameters["workload"]],
    }
    sizes = {"recordcount": parameters["records"], "operationcount": parameters["operations"]}
    fields, length = _shape(parameters["record"])
    stock = (fields, length) == (_STOCK_FIELDS, _STOCK_LENGTH)
    shape = {} if stock else {"fieldcount": fields, "fieldlength": length}
    properties = as_options(sizes | shape if file else of_workload | sizes | shape)
    return [*(("-P", file) if file else ()), *properties]


def running_s(parameters: Mapping[str, Any]) -> int:
    """Of YCSB's run phase, in its whole seconds: it ends after the window does."""
    return ceil(parameters["warmup_s"] + parameters["measure_s"]) + 1


def as_options(properties: Mapping[str, Any]) -> list[str]:
    return [word for name, value in properties.items() for word in ("-p", f"{name}={value}")]
