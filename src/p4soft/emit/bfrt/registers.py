"""Register: a table of its own."""

from __future__ import annotations

from p4soft.check.registers import cell_fields
from p4soft.check.types import Type
from p4soft.elaborate import ExternInstance
from p4soft.emit.bfrt.documents import Document, bits_type, datum, indexed

_INDEX = (65557, "$REGISTER_INDEX")


def register(pipe: str, instance: ExternInstance) -> Document:
    fields = enumerate(cell_fields(instance.type.arguments[0]), start=1)
    data = [_datum(number, f"{instance.path}.{field}", type_) for number, (field, type_) in fields]
    return indexed(
        pipe,
        instance,
        "Register",
        _INDEX,
        data=data,
        operations=["Sync"],
        attributes=["EntryScope"],
    )


def _datum(number: int, name: str, type_: Type) -> Document:
    """BfRt's clients know by the annotation that what they read has a value of each pipe."""
    document = datum(number, name, bits_type(type_))
    annotation = {"name": "$bfrt_field_class", "value": "register_data"}
    document["singleton"]["annotations"].append(annotation)
    return document
