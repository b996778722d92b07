"""Bytes of a batch on the wire (src/shadowfax/wire.h)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_HEADER_BYTES = 16
_OPCODE_AND_KEY_BYTES = 9
_MOST_BYTES = 1 << 20  # of requests, in the longest batch that a server takes

Parameters = Mapping[str, Any]


def request_bytes(parameters: Parameters) -> int:
    """All requests have a value, also those that say none."""
    return _OPCODE_AND_KEY_BYTES + int(parameters["value_bytes"])


def batch_bytes(parameters: Parameters) -> int:
    return _HEADER_BYTES + request_bytes(parameters) * int(parameters["batch_operations"])


def fill_operations(parameters: Parameters) -> int:
    """Of a batch while stores are filled: as many as fit."""
    fit = (int(parameters["fill_batch_bytes"]) - _HEADER_BYTES) // request_bytes(parameters)
    return max(1, fit)


def most_operations(parameters: Parameters) -> int:
    return _MOST_BYTES // request_bytes(parameters)
