"""P4 types and constants in C++; the definitions of headers and structs."""

from __future__ import annotations

from typing import Any

from p4soft.check import types
from p4soft.check.constants import raw_bits
from p4soft.emit.naming import identifier
from p4soft.emit.text import Lines


def cpp_type(type_: types.Type) -> str:
    type_ = types.underlying(type_)
    if isinstance(type_, types.Bit):
        return f"Unsigned<{type_.width}>"
    if isinstance(type_, types.Int):
        return f"Signed<{type_.width}>"
    if type_ == types.BOOL:
        return "bool"
    if type_ == types.VOID:
        return "void"
    if type_ == types.ERROR:
        return "std::uint16_t"
    if isinstance(type_, types.Enum):
        return "std::uint32_t"
    if isinstance(type_, types.Composite):
        return f"p4::{_name(type_)}"
    if isinstance(type_, types.Stack):
        return f"HeaderStack<{cpp_type(type_.element)}, {type_.size}>"
    if isinstance(type_, types.Varbit):
        return f"Varbit<{type_.width // 8}>"
    if isinstance(type_, types.Tuple):
        return f"std::tuple<{', '.join(map(cpp_type, type_.elements))}>"
    raise AssertionError(f"no C++ type for {type_}")


def _name(type_: types.Composite) -> str:
    return type_.name if isinstance(type_, types.Wide) else identifier(type_.name)


def is_scalar(type_: types.Type) -> bool:
    type_ = types.underlying(type_)
    parts = (types.Composite, types.Stack, types.Tuple, types.Generic, types.Varbit)
    return not isinstance(type_, parts)


def cpp_constant(value: Any, type_: types.Type) -> str:
    type_ = types.underlying(type_)
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(type_, (types.Bit, types.Int)):
        raw = raw_bits(value, type_)
        kind = "bit" if isinstance(type_, types.Bit) else "int"
        if type_.width > 64:
            low = raw & (1 << 64) - 1
            return f"to_{kind}<{type_.width}>(wide_constant({raw >> 64:#x}ULL, {low:#x}ULL))"
        if kind == "int":
            return f"to_int<{type_.width}>({raw:#x}ULL)"
        return f"Unsigned<{type_.width}>{{{raw if raw < 1024 else hex(raw)}}}"
    return f"{cpp_type(type_)}{{{value}}}" if type_ != types.INTEGER else str(value)


def define(type_: types.Composite, lines: Lines) -> None:
    """The struct of a header or struct."""
    with lines.braces(f"struct {_name(type_)}", "};"):
        if type_.is_header:
            lines.add("bool valid_ = false;")
        for name, field_type in type_.fields.items():
            lines.add(f"{cpp_type(field_type)} {identifier(name)}{{}};")
        lines.add("")
        if type_.is_header:
            _header_functions(type_, lines)
        else:
            lines.add(f"bool operator==(const {_name(type_)}&) const = default;")


def _header_functions(type_: types.Composite, lines: Lines) -> None:
    name = identifier(type_.name)
    bits = types.width_of(type_) or 0
    lines.add(f"static constexpr std::uint32_t kBytes = {bits // 8};")
    lines.trace(f'static constexpr const char* kFields = "{_trace_fields(type_)}";')
    with lines.braces("void set_valid()"):
        for field, _, width, field_type in _layout(type_):
            poisoned = from_raw(f"poison<{width}>()", field_type)
            lines.add(f"POISONED(if (!valid_) {field} = {poisoned};)")
        lines.add("valid_ = true;")
    with lines.braces("void extract([[maybe_unused]] const std::uint8_t* bytes)"):
        lines.add("valid_ = true;")
        for field, offset, width, field_type in _layout(type_):
            load = f"load_bits<{offset}, {width}>(bytes)"
            lines.add(f"{field} = {from_raw(load, field_type)};")
    with lines.braces("void emit([[maybe_unused]] std::uint8_t* bytes) const"):
        # store_bits keeps the bits around a field, so bytes shared by fields begin at zero.
        for byte in _shared_bytes(type_):
            lines.add(f"bytes[{byte}] = 0;")
        for field, offset, width, field_type in _layout(type_):
            lines.add(f"store_bits<{offset}, {width}>(bytes, {to_raw(field, field_type)});")
    with lines.braces(f"bool operator==([[maybe_unused]] const {name}& other) const"):
        equal = (
            " && ".join(f"{identifier(f)} == other.{identifier(f)}" for f in type_.fields) or "true"
        )
        lines.add("if (valid_ != other.valid_ || !valid_) return valid_ == other.valid_;")
        lines.add(f"return {equal};")


def _layout(type_: types.Composite) -> list[tuple[str, int, int, types.Type]]:
    """Field, bit offset, width and type, in wire order."""
    result = []
    offset = 0
    for path, field_type, padding in types.wire_fields(type_):
        width = types.width_of(field_type) or 0
        result.append((".".join(map(identifier, path)), offset + padding, width, field_type))
        offset += padding + width
    return result


def _trace_fields(type_: types.Composite) -> str:
    """All bits of a header, as src/dataplane/trace_recorder.cc reads them."""
    fields = []
    for i, (path, field_type, padding) in enumerate(types.wire_fields(type_)):
        fields += [f"__pad_{i}:{padding}"] if padding else []
        fields.append(f"{'.'.join(path)}:{types.width_of(field_type)}")
    return " ".join(fields)


def _shared_bytes(type_: types.Composite) -> list[int]:
    """The bytes of a header that no field fills alone."""
    shared = set()
    for _, offset, width, _ in _layout(type_):
        if offset % 8 or width % 8:
            shared |= {offset // 8, (offset + width - 1) // 8}
    return sorted(shared)


def to_raw(expression: str, type_: types.Type) -> str:
    """A scalar as the bits on the wire."""
    type_ = types.underlying(type_)
    if type_ == types.BOOL:
        return f"Unsigned<1>{{{expression}}}"
    if isinstance(type_, types.Int):
        return f"to_bit<{type_.width}>({expression})"
    return expression


def from_raw(expression: str, type_: types.Type) -> str:
    type_ = types.underlying(type_)
    if type_ == types.BOOL:
        return f"{expression} != 0"
    if isinstance(type_, types.Int):
        return f"to_int<{type_.width}>({expression})"
    return expression
