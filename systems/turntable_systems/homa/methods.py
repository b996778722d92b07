"""The compared transports: Basic, and Homa with 1 to 8 priorities, as the paper's labels have them
(homa-p1 to homa-p8 are its HomaP1 to HomaP8).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

BASIC = "basic"
_HOMA = "homa-p"
PAPER_LEVELS = (1, 2, 4, 8)  # for which the artifact has settings


def kind(parameters: Mapping[str, Any]) -> str:
    """As nodes and simulation call it."""
    return BASIC if is_basic(parameters) else "homa"


def levels(parameters: Mapping[str, Any]) -> int:
    return 1 if is_basic(parameters) else int(parameters["method"].removeprefix(_HOMA))


def is_basic(parameters: Mapping[str, Any]) -> bool:
    return parameters["method"] == BASIC
