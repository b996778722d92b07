"""How large a server's store is: the pages of its log in memory, and the buckets of its index.

Every server that owns hashes at first owns an equal part of all, so it has about as many keys as
the others. Other servers' stores are as large: keys may move there.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Any

USUAL_VALUE_BYTES = 8  # records of other values have their length as well
MOST_VALUE_BYTES = 65536  # (src/hybridlog/log.h)
_HEADER_AND_KEY_BYTES, _WORD_BYTES = 16, 8  # (src/hybridlog/record.h)
BUCKET_BYTES = 64
FEWEST_PAGES = 4  # of a log in memory (src/hybridlog/log.h)
LEAST_PAGE_BITS = 12  # a sector of the device
_KEYS_PER_BUCKET = 4  # of the seven that a bucket has room for
_FEWEST_INDEX_BITS = 4

Parameters = Mapping[str, Any]


def record_bytes(parameters: Parameters) -> int:
    """Header, key and value, of whole words."""
    value = parameters["value_bytes"]
    length = 0 if value == USUAL_VALUE_BYTES else _WORD_BYTES
    return _HEADER_AND_KEY_BYTES + length + _WORD_BYTES * ceil(value / _WORD_BYTES)


def most_value_bytes(parameters: Parameters) -> int:
    """Of a log with such pages."""
    return min(MOST_VALUE_BYTES, (1 << parameters["page_bits"]) // 2)


def data_bytes(parameters: Parameters) -> Fraction:
    """All records of a server, one per key."""
    return Fraction(record_bytes(parameters) * parameters["keys"], _owners(parameters))


def _owners(parameters: Parameters) -> int:
    """Servers that have keys at first."""
    return parameters.get("owners") or parameters["servers"]


def wanted_bytes(parameters: Parameters) -> Fraction:
    """Of a server's log in memory, before they are whole pages. Decimals are taken as they are
    written: 0.1 is a tenth.
    """
    return Fraction(str(parameters["memory_share"])) * data_bytes(parameters)


def pages(parameters: Parameters) -> int:
    """That have room for at least `memory_share` times the data."""
    return ceil(wanted_bytes(parameters) / (1 << parameters["page_bits"]))


def index_bits(parameters: Parameters) -> int:
    """The index has 2^this buckets: so many that there are at most 4 keys a bucket, if the
    parameter of this name does not say it.
    """
    if parameters["index_bits"]:
        return parameters["index_bits"]
    buckets = ceil(Fraction(parameters["keys"], _KEYS_PER_BUCKET * _owners(parameters)))
    return max(_FEWEST_INDEX_BITS, (buckets - 1).bit_length())


def log_bytes(parameters: Parameters) -> int:
    """Of a server, in memory."""
    return pages(parameters) << parameters["page_bits"]


def index_bytes(parameters: Parameters) -> int:
    """Of a server, without overflow buckets."""
    return BUCKET_BYTES << index_bits(parameters)
