"""What is likely where nobody answers, or only wrongly, and what to check."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Iterator, Mapping
from typing import Any


def hints(stats: Mapping[str, Any], options: Namespace) -> Iterator[str]:
    """stats: of a client that has ended."""
    if stats["wrong"]:
        own = "has --one-way" if options.one_way else "has no --one-way"
        yield (
            f"{stats['wrong']:,} answers were wrong: of another length than was expected, or with "
            f"other bytes. Check that the server was started as this client is, which {own}"
        )
    elif stats["offered"] and not stats["answered"]:
        yield f"nothing was answered. {what_to_check(options)}"


def what_to_check(options: Namespace) -> str:
    servers = ", ".join(f"{one['address']}:{one['port']}" for one in options.servers)
    own = f"{options.address}:{options.port}"
    return (
        f"Check that `msgbench server` runs at {servers} with --protocol {options.protocol}; that "
        f"its --clients has {own} (packets of others are `strangers` in the sums at its end); and "
        "that no firewall is between"
    )
