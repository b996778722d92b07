"""Lpf and Wred: a table of its own, or data of the entries of a table."""

from __future__ import annotations

from p4soft.elaborate import ExternInstance
from p4soft.emit.bfrt.documents import UINT32, Document, datum, indexed
from p4soft.emit.externs.filters import is_wred

_FLOAT: Document = {"type": "float"}
_LPF = [
    (65567, "$LPF_SPEC_TYPE", {"type": "string", "choices": ["RATE", "SAMPLE"]}),
    (65568, "$LPF_SPEC_GAIN_TIME_CONSTANT_NS", _FLOAT),
    (65569, "$LPF_SPEC_DECAY_TIME_CONSTANT_NS", _FLOAT),
    (65570, "$LPF_SPEC_OUT_SCALE_DOWN_FACTOR", UINT32),
]
_WRED = [
    (65571, "$WRED_SPEC_TIME_CONSTANT_NS", _FLOAT),
    (65572, "$WRED_SPEC_MIN_THRESH_CELLS", UINT32),
    (65573, "$WRED_SPEC_MAX_THRESH_CELLS", UINT32),
    (65574, "$WRED_SPEC_MAX_PROBABILITY", _FLOAT),
]
_LPF_INDEX, _WRED_INDEX = (65560, "$LPF_INDEX"), (65561, "$WRED_INDEX")


def filter_data(instance: ExternInstance) -> list[Document]:
    fields = _WRED if is_wred(instance) else _LPF
    return [{**datum(*field), "mandatory": True} for field in fields]


def filter_table(pipe: str, instance: ExternInstance) -> Document:
    index = _WRED_INDEX if is_wred(instance) else _LPF_INDEX
    return indexed(pipe, instance, instance.type.name, index, data=filter_data(instance))
