"""Register and DirectRegister: a table of its own, or data of the entries; and RegisterParam."""

from __future__ import annotations

from p4soft.check.types import Type
from p4soft.elaborate import ExternInstance, cell_fields
from p4soft.emit.bfrt.documents import Document, bits_type, datum, indexed, table_document

_INDEX = (65557, "$REGISTER_INDEX")


def register(pipe: str, instance: ExternInstance) -> Document:
    data = register_data(instance, first_id=1)
    return indexed(
        pipe,
        instance,
        "Register",
        _INDEX,
        data=data,
        operations=["Sync"],
        attributes=["EntryScope"],
    )


def register_data(instance: ExternInstance, first_id: int) -> list[Document]:
    fields = enumerate(cell_fields(instance.type.arguments[0]), start=first_id)
    return [_datum(number, f"{instance.path}.{field}", type_) for number, (field, type_) in fields]


def register_param(pipe: str, instance: ExternInstance) -> Document:
    """It has a default entry alone."""
    value = datum(0, "value", bits_type(instance.type.arguments[0]))
    return table_document(
        pipe,
        instance.path,
        "RegisterParam",
        1,
        key=[],
        data=[{**value, "mandatory": True}],
    )


def _datum(number: int, name: str, type_: Type) -> Document:
    """BfRt's clients know by the annotation that what they read has a value of each pipe."""
    document = datum(number, name, bits_type(type_))
    annotation = {"name": "$bfrt_field_class", "value": "register_data"}
    document["singleton"]["annotations"].append(annotation)
    return document
