"""Meter and DirectMeter: a table of its own, or data of the entries that it measures."""

from __future__ import annotations

from p4soft.elaborate import ExternInstance
from p4soft.emit.bfrt.documents import Document, datum, indexed
from p4soft.emit.externs.meters import meter_unit

BYTE_COUNT_ADJUST = "MeterByteCountAdjust"  # the attribute
_INDEX = (65555, "$METER_INDEX")
# Of a meter that counts bytes, and of one that counts packets: the first id, and the names.
_DATA = {
    "BYTES": (65545, ("CIR_KBPS", "PIR_KBPS", "CBS_KBITS", "PBS_KBITS")),
    "PACKETS": (65549, ("CIR_PPS", "PIR_PPS", "CBS_PKTS", "PBS_PKTS")),
}


def meter_data(instance: ExternInstance) -> list[Document]:
    unlimited = {"type": "uint64", "default_value": 2**64 - 1}
    first, names = _DATA[meter_unit(instance)]
    return [
        datum(number, f"$METER_SPEC_{name}", unlimited)
        for number, name in enumerate(names, start=first)
    ]


def meter(pipe: str, instance: ExternInstance) -> Document:
    data = meter_data(instance)
    attributes = ["EntryScope", BYTE_COUNT_ADJUST]
    return indexed(pipe, instance, "Meter", _INDEX, data=data, attributes=attributes)
