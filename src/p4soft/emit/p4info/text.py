"""Messages of protobuf in its text format, so that a translation needs no protobuf."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


class Name(str):
    """A member of an enum: written without quotes."""

    __slots__ = ()


# A scalar, a message, a list of either (a repeated field), or None: not set.
Field = Any
Message = Mapping[str, Field]

# What protobuf writes for the bytes that have a letter of their own.
_ESCAPES = {0x09: r"\t", 0x0A: r"\n", 0x0D: r"\r", 0x22: r"\"", 0x27: r"\'", 0x5C: r"\\"}


def text(message: Message) -> str:
    """The message as text_format.Parse() and p4c's readers take it; fields in the given order."""
    return "".join(f"{line}\n" for line in _lines(message, ""))


def _lines(message: Message, indent: str) -> Iterable[str]:
    for name, field in message.items():
        for value in field if isinstance(field, list) else [field]:
            if value is None:
                continue
            if isinstance(value, Mapping):
                yield f"{indent}{name} {{"
                yield from _lines(value, indent + "  ")
                yield f"{indent}}}"
            else:
                yield f"{indent}{name}: {_scalar(value)}"


def _scalar(value: int | bool | str | bytes) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, Name)):
        return str(value)
    data = value if isinstance(value, bytes) else value.encode()
    return '"' + "".join(map(_character, data)) + '"'


def _character(byte: int) -> str:
    if byte in _ESCAPES:
        return _ESCAPES[byte]
    return chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}"
