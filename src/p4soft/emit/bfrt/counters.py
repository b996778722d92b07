"""Counter and DirectCounter: a table of its own, or data of the entries that it counts."""

from __future__ import annotations

from p4soft.elaborate import ExternInstance, constant_name
from p4soft.emit.bfrt.documents import Document, datum, indexed

_INDEX = (65556, "$COUNTER_INDEX")
_IDS = {"$COUNTER_SPEC_BYTES": 65553, "$COUNTER_SPEC_PKTS": 65554}


def counter_data(instance: ExternInstance) -> list[Document]:
    kind = constant_name(instance, len(instance.arguments) - 1)
    names = []
    if kind in ("BYTES", "PACKETS_AND_BYTES"):
        names.append("$COUNTER_SPEC_BYTES")
    if kind in ("PACKETS", "PACKETS_AND_BYTES"):
        names.append("$COUNTER_SPEC_PKTS")
    zero = {"type": "uint64", "default_value": 0}
    return [datum(_IDS[name], name, zero) for name in names]


def counter(pipe: str, instance: ExternInstance) -> Document:
    data = counter_data(instance)
    return indexed(
        pipe,
        instance,
        "Counter",
        _INDEX,
        data=data,
        operations=["Sync"],
        attributes=["EntryScope"],
    )
