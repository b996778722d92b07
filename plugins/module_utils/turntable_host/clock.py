"""Whether something keeps the host's clock, and how far it may be off. Changes nothing."""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from .commands import run
from .errors import HostError
from .interrupts import process_runs

_INTERVAL_S = 0.5
# Set a clock too, but do not say how far it may be off.
_OTHERS = ("ntpd", "systemd-timesyn", "openntpd")


@dataclass(frozen=True)
class Clock:
    """error_us: what the clock may be off at most, as its service says; None: not synchronised."""

    service: str
    error_us: float | None


def look() -> Clock | None:
    """None: no service that can be asked."""
    if process_runs("chronyd"):
        return Clock("chronyd", chrony_error_us(run(["chronyc", "-c", "tracking"])))
    if process_runs("ptp4l"):
        status = run(["pmc", "-u", "-b", "0", "GET TIME_STATUS_NP"])
        return Clock("ptp4l", ptp_error_us(status, process_runs("phc2sys")))
    return None


def chrony_error_us(tracking: str) -> float | None:
    """Offset, plus root dispersion, plus half of the root delay: chrony's own bound."""
    fields = tracking.strip().split(",")
    if len(fields) < 14 or fields[13] == "Not synchronised":
        return None
    offset, delay, dispersion = (float(fields[index]) for index in (4, 10, 11))
    return (abs(offset) + dispersion + delay / 2) * 1e6


def ptp_error_us(status: str, system_clock_follows: bool) -> float | None:
    """From pmc; phc2sys lets the system's clock follow the NIC's."""
    offset = re.search(r"^\s*master_offset\s+(-?\d+)", status, re.MULTILINE)
    present = re.search(r"^\s*gmPresent\s+true", status, re.MULTILINE)
    if not offset or not present or not system_clock_follows:
        return None
    return abs(int(offset.group(1))) / 1e3


def require(bound_us: float, deadline_s: float) -> Clock:
    """A service that has just been started needs a while."""
    limit = time.monotonic() + deadline_s
    clock = look()
    while clock and (clock.error_us is None or clock.error_us > bound_us):
        if time.monotonic() > limit:
            raise HostError(_why(clock, bound_us, deadline_s))
        time.sleep(_INTERVAL_S)  # waits: interval of a probe with a deadline
        clock = look()
    if clock is None:
        others = [name for name in _OTHERS if process_runs(name)]
        runs = f"{others[0]} runs, and does not say how far it is off" if others else "none runs"
        raise HostError(
            f"no clock service that says how far the clock may be off: {runs}; expected chronyd, "
            "or ptp4l with phc2sys. Install chrony (turntable_host_packages: [chrony])"
        )
    return clock


def _why(clock: Clock, bound_us: float, deadline_s: float) -> str:
    if clock.error_us is None:
        follow = " and phc2sys" if clock.service == "ptp4l" else ""
        state = f"{clock.service} runs and has not synchronised the clock"
        advice = f"Look at its sources{follow}: a host that reaches no time server has none"
    else:
        state = f"the clock may be off by {clock.error_us:,.0f} µs ({clock.service})"
        advice = "Give the hosts a time server nearby, or raise turntable_clock_bound_us"
    return f"{state} after {deadline_s:g} s; expected at most {bound_us:,.0f} µs. {advice}"
