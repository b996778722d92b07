"""What phases are made of: requests to the nodes of hosts (docs/architecture.md §2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Request:
    node: str
    command: str
    args: Mapping[str, Any] = field(default_factory=dict)


# Host name -> requests, sent in order.
Batches = dict[str, list[Request]]


def merged(parts: Iterable[Batches]) -> Batches:
    """One batch per host from several components' batches."""
    result: Batches = {}
    for part in parts:
        for host, requests in part.items():
            result.setdefault(host, []).extend(requests)
    return result
