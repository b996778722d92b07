"""What all tables of the schema are made of, as JSON objects: tables, and fields of keys and data.

BfRt keeps ids of fields from 65536 on for `$` names. The compiler has them in its enum
TDDataFieldIds, and in BFRuntimeDataFieldIds, which goes on behind it and has some names once more.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from p4soft.check import types
from p4soft.elaborate import ExternInstance

Document = dict[str, Any]
NumberedName = tuple[int, str]  # a field's id and name

UINT32: Document = {"type": "uint32"}
UINT64: Document = {"type": "uint64"}


def table_document(
    pipe: str,
    path: str,
    table_type: str,
    size: int,
    *,
    key: list[Document],
    data: list[Document],
    annotations: Iterable[str] = (),
    depends_on: Iterable[str] = (),
    has_const_default_action: bool = False,
    action_specs: list[Document] | None = None,
    operations: Iterable[str] = (),
    attributes: Iterable[str] = (),
) -> Document:
    """A table, as yet without an id. `depends_on` has paths of other tables."""
    return {
        "name": f"{pipe}.{path}",
        "id": 0,
        "table_type": table_type,
        "size": size,
        "annotations": [{"name": f"@{name}"} for name in annotations],
        "depends_on": [f"{pipe}.{other}" for other in depends_on],
        "has_const_default_action": has_const_default_action,
        "key": key,
        **({} if action_specs is None else {"action_specs": action_specs}),
        "data": data,
        "supported_operations": list(operations),
        "attributes": list(attributes),
    }


def indexed(
    pipe: str, instance: ExternInstance, table_type: str, index: NumberedName, **more: Any
) -> Document:
    """A table whose one key is a number: a cell's index, or that of a member or group. `more` is
    for table_document; `size`, if it is not the extern's first argument.
    """
    size = more.pop("size", instance.arguments[0])
    key = [key_field(*index, UINT32, "Exact", mandatory=True)]
    return table_document(pipe, instance.path, table_type, size, key=key, **more)


def key_field(
    number: int, name: str, type_: Document, match_type: str, *, mandatory: bool
) -> Document:
    """One field of a table's key."""
    return {
        "id": number,
        "name": name,
        "repeated": False,
        "annotations": [],
        "mandatory": mandatory,
        "match_type": match_type,
        "type": type_,
    }


def datum(number: int, name: str, type_: Document, *, repeated: bool = False) -> Document:
    """One field of a table's data."""
    return {
        "mandatory": False,
        "read_only": False,
        "singleton": {
            "id": number,
            "name": name,
            "repeated": repeated,
            "annotations": [],
            "type": type_,
        },
    }


def bits_type(type_: types.Type) -> Document:
    base = types.underlying(type_)
    if base == types.BOOL:
        return {"type": "bool"}
    return {"type": "bytes", "width": types.width_of(base)}


def table_type(type_: types.Type | None) -> Document:
    """In keys and action data a bool is a number of one bit: as the compiler says it."""
    assert type_ is not None
    return bits_type(types.Bit(1) if types.underlying(type_) == types.BOOL else type_)
