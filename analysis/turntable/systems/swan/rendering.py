"""What a field of Swan's tables looks like: its text and its colours, by Swan's own rules.

final_rule is that of Swan's last notebooks (jupyter/swan.py), older_rule that of the ones before
(profile.py), which know no FAIL; achieved_rule colours the table of achieved loads.
"""

from __future__ import annotations

from dataclasses import dataclass

from turntable.systems.swan.profile import FAIL_BELOW

GREEN, YELLOW, RED = "#98cc70", "#ffeda0", "#a9341f"
FAILED, MISSING = "#b0c0b0", "#c0c0c0"
BLACK, WHITE = "#000000", "#ffffff"

FAIL, NOT_AVAILABLE = "FAIL", "N/A"


@dataclass(frozen=True)
class Look:
    text: str
    background: str
    colour: str = BLACK


def final_rule(
    sli_us: float | None, slo_us: float, achieved_share: float | None, normalized: bool = True
) -> Look:
    """achieved_share: of what was offered. normalized: latency in % of the SLO, else in µs."""
    if achieved_share is not None and achieved_share < FAIL_BELOW:
        return Look(FAIL, FAILED)  # also where nothing was answered, and there is no latency
    if sli_us is None or achieved_share is None:
        return Look(NOT_AVAILABLE, MISSING)
    share = sli_us / slo_us
    if share > 3:
        return Look(">300%" if normalized else f"{sli_us:.0f}", RED, WHITE)
    return Look(_text(sli_us, share, normalized), YELLOW if share > 1 else GREEN)


def older_rule(
    sli_us: float | None, slo_us: float, achieved_share: float | None, normalized: bool = True
) -> Look:
    """Whether the load was reached does not matter to it."""
    if sli_us is None:
        return Look(NOT_AVAILABLE, MISSING)
    share = sli_us / slo_us
    text = _text(sli_us, share, normalized)
    if share > 1.5:
        return Look(text, RED, WHITE)
    return Look(text, YELLOW if share > 1 else GREEN)


def achieved_rule(
    achieved_share: float | None, achieved_per_s: float | None, normalized: bool = True
) -> Look:
    """normalized: in % of what was offered, else in requests/s. The share has the colour."""
    if achieved_share is None or achieved_per_s is None:
        return Look(NOT_AVAILABLE, MISSING)
    text = f"{100 * achieved_share:.0f}%" if normalized else f"{achieved_per_s:.0f}"
    if achieved_share > 0.95:
        return Look(text, GREEN)
    return Look(text, YELLOW) if achieved_share > 0.80 else Look(text, RED, WHITE)


def _text(sli_us: float, share: float, normalized: bool) -> str:
    return f"{100 * share:.0f}%" if normalized else f"{sli_us:.0f}"
