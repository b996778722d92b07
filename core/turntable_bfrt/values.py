"""Values of keys and data to and from messages: a number is its bytes in big-endian order, exactly
as many as its bits need.
"""

from __future__ import annotations

from typing import Any

from turntable_bfrt.errors import SchemaError
from turntable_bfrt.schema import Field


def encode(field: Field, value: Any, message: Any) -> None:
    """value: an int, bool, text, or list of them, as the field has it. message: a DataField."""
    message.field_id = field.id
    if field.repeated:
        kinds = {"bool": "bool_arr_val", "string": "str_arr_val"}
        values = getattr(message, kinds.get(field.kind, "int_arr_val"))
        values.SetInParent()
        values.val.extend(value)
    elif field.kind == "number":
        message.stream = _bytes(field, value)
    elif field.kind == "bool":
        message.bool_val = bool(value)
    elif field.kind == "string":
        if not isinstance(value, str):
            raise SchemaError(f"{field.name} is {value!r}; expected a text")
        message.str_val = value
    else:
        message.float_val = value


def decode(field: Field, message: Any) -> Any:
    kind = message.WhichOneof("value")
    if kind is None:
        return [] if field.repeated else None
    value = getattr(message, kind)
    if kind == "stream":
        return int.from_bytes(value, "big")
    return list(value.val) if kind.endswith("_arr_val") else value


def encode_key(field: Field, value: Any, message: Any) -> None:
    """value: an int or text, or of another match kind the pair {"value", "mask"},
    {"value", "prefix_len"} or {"low", "high"}.
    """
    message.field_id = field.id
    if field.match in ("Exact", "Optional"):
        exact = message.exact if field.match == "Exact" else message.optional
        exact.value = value.encode() if field.kind == "string" else _bytes(field, value)
        if field.match == "Optional":
            message.optional.is_valid = True
        return
    parts = {"LPM": ("value", "prefix_len"), "Range": ("low", "high")}
    first, second = parts.get(field.match, ("value", "mask"))
    if not isinstance(value, dict) or set(value) != {first, second}:
        raise SchemaError(f"{field.name} is {value!r}; expected {{{first!r}, {second!r}}}")
    target = {"LPM": "lpm", "Range": "range"}.get(field.match, "ternary")
    match = getattr(message, target)
    setattr(match, first, _bytes(field, value[first]))
    of_second = value[second]
    setattr(match, second, of_second if target == "lpm" else _bytes(field, of_second))


def decode_key(field: Field, message: Any) -> Any:
    kind = message.WhichOneof("match_type")
    match = getattr(message, kind)
    if kind in ("exact", "optional"):
        return match.value.decode() if field.kind == "string" else _number(match.value)
    if kind == "lpm":
        return {"value": _number(match.value), "prefix_len": match.prefix_len}
    if kind == "range":
        return {"low": _number(match.low), "high": _number(match.high)}
    return {"value": _number(match.value), "mask": _number(match.mask)}


def _bytes(field: Field, value: Any) -> bytes:
    if isinstance(value, int) and 0 <= value < 1 << field.width:
        return int(value).to_bytes((field.width + 7) // 8, "big")
    raise SchemaError(f"{field.name} is {value!r}; expected a number of {field.width} bits")


def _number(value: bytes) -> int:
    return int.from_bytes(value, "big")
