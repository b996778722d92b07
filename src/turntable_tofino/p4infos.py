"""Compares two P4Infos (p4.config.v1.P4Info in protobuf's text format), ids too, externs not."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import (
    descriptor_pb2,
    descriptor_pool,
    json_format,
    message_factory,
    text_format,
)

from . import named
from .named import Names

_MESSAGES = Path(__file__).resolve().parents[1] / "p4runtime"


def differences(ours: str, theirs: str) -> list[str]:
    """One line per difference, empty if there is none. The order of objects may differ."""
    return named.differences(names(ours), names(theirs))


def parse(p4info: str) -> Any:
    """The message. Raises protobuf's ParseError."""
    return text_format.Parse(p4info, _message()())


def names(p4info: str) -> Names:
    """Raises protobuf's ParseError."""
    message = parse(p4info)
    # Objects with messages of an SDE's own: the metadata of ports, which a program has anyway.
    message.ClearField("externs")
    described: Names = _by_name(
        json_format.MessageToDict(message, preserving_proto_field_name=True)
    )
    return described


def _by_name(value: Any) -> Any:
    """Lists of objects become dictionaries, so that their order does not count."""
    if isinstance(value, dict):
        return {key: _by_name(item) for key, item in value.items()}
    if isinstance(value, list):
        found: Names = {}
        for place, item in enumerate(value):
            name = _name(item, place)
            # One that is there twice is a difference.
            found[f"{name}, item {place}" if name in found else name] = _by_name(item)
        return found
    return value


def _name(item: Any, place: int) -> str:
    """Of an object its name, of what refers to one its id, of anything else its place."""
    if not isinstance(item, dict):
        return str(item)
    name = item.get("preamble", item).get("name")
    return str(name or item.get("id") or item.get("param_id") or place)


@cache
def _message() -> Callable[[], Any]:
    """The class, made by protoc from the messages of src/p4runtime."""
    described = descriptor_pb2.FileDescriptorSet()
    described.ParseFromString(
        subprocess.run(
            ["protoc", f"--proto_path={_MESSAGES}", "--include_imports",
             "--descriptor_set_out=/dev/stdout", "p4/config/v1/p4info.proto"],
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
    )  # fmt: skip
    pool = descriptor_pool.DescriptorPool()
    for file in described.file:
        pool.Add(file)  # type: ignore[no-untyped-call]
    files = [file.name for file in described.file]
    return message_factory.GetMessageClassesForFiles(files, pool)["p4.config.v1.P4Info"]
