"""The compared transports: Homa with 1 to 8 priorities, as the paper's labels have them (homa-p1 to
homa-p8 are its HomaP1 to HomaP8), Basic, and the hosts' own TCP.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BASIC, TCP = "basic", "tcp"
NONE = "none"
_HOMA = "homa-p"
MOST_LEVELS = 8
PAPER_LEVELS = (1, 2, 4, MOST_LEVELS)  # for which the artifact has settings

Parameters = Mapping[str, Any]


def kind(parameters: Parameters) -> str:
    """As nodes call it."""
    return "homa" if is_homa(parameters) else parameters["method"]


def levels(parameters: Parameters) -> int:
    """Priorities of packets."""
    return int(parameters["method"].removeprefix(_HOMA)) if is_homa(parameters) else 1


def is_beside(parameters: Parameters, client: int) -> bool:
    """Every second client has the method beside, if there is one."""
    return is_mixed(parameters) and client % 2 == 1


def beside(parameters: Parameters) -> Parameters:
    return {**parameters, "method": parameters["beside"]}


def is_mixed(parameters: Parameters) -> bool:
    return parameters["beside"] != NONE


def is_simulated(parameters: Parameters) -> bool:
    return not is_tcp(parameters) and not is_mixed(parameters)


def meaningless(parameters: Parameters) -> frozenset[str]:
    """Names of what says nothing about such a cell."""
    method = parameters.get("method", "")
    of_tcp = (
        frozenset() if TCP in (method, parameters.get("beside")) else frozenset({"connections"})
    )
    of_homa = frozenset({"degree", "priorities", "cutoffs"})
    return of_tcp if method.startswith(_HOMA) else of_tcp | of_homa


def is_homa(parameters: Parameters) -> bool:
    return parameters["method"].startswith(_HOMA)


def has_tcp(parameters: Parameters) -> bool:
    """Of some clients at least."""
    return TCP in (parameters["method"], parameters["beside"])


def is_tcp(parameters: Parameters) -> bool:
    return parameters["method"] == TCP
