"""How large messages are: one of the paper's distributions, a table of one's own, or one size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from turntable_core.errors import TurntableError
from turntable_systems.homa.distribution import distribution_of

_REPOSITORY = Path(__file__).resolve().parents[3]
_TABLES = _REPOSITORY / "experiments" / "homa" / "sizes"
PAPER = tuple(f"W{number}" for number in range(1, 9))
FIXED = "fixed"


def argument(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """`sizes` of nodes and simulation: the table's text, so that no host needs the file."""
    if parameters["sizes"] == FIXED:
        return {"bytes": parameters["message_bytes"]}
    said: dict[str, Any] = {"table": text_of(parameters["sizes"])}
    if parameters["divide"] > 1:
        said["divide"] = parameters["divide"]
    if parameters["cap_bytes"]:
        said["cap"] = parameters["cap_bytes"]
    return said


@cache
def text_of(name: str) -> str:
    """name: of the paper's, or a file, from the checkout if its path is not absolute. Raises
    TurntableError if it cannot be read.
    """
    path = _TABLES / f"{name}.txt" if name in PAPER else _REPOSITORY / name
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TurntableError(f"{path}: cannot be read: {error}") from None


def at_shares(parameters: Mapping[str, Any], shares: Sequence[float]) -> list[int]:
    """The sizes in bytes that these shares of the messages do not exceed."""
    found = distribution_of(argument(parameters), parameters["sizes"])
    return [found.at(share) for share in shares]


def meaningless(parameters: Mapping[str, Any]) -> frozenset[str]:
    fixed = parameters.get("sizes") == FIXED
    return frozenset({"divide", "cap_bytes"} if fixed else {"message_bytes"})
