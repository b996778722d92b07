"""What one successful attempt measured, whatever the layout of its raw files.

None is what the raw files do not say: they are of an older version, or the system does not count
it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from turntable_core.timeline import START


@dataclass(frozen=True)
class Punctuality:
    """How late threads of one kind were; the worst of them."""

    late_max_us: float | None = None  # something waited for the thread so long
    wait_share: float | None = None  # of the time, ready but without a processor


@dataclass(frozen=True)
class HostLoad:
    """What a host's kernel counted from the begin of the measurement to its end."""

    host: str
    steal_share: float  # of its processors' time, taken by the hypervisor
    nic_drops: int  # packets its interfaces lost


@dataclass(frozen=True)
class Event:
    """What the experiment's timeline did, as a host's supervisor says."""

    at_s: float  # after the window's begin; negative: in the warm-up
    label: str  # as "kill switch0"
    error: str | None = None  # why it was not done

    @property
    def starts_nodes(self) -> bool:
        """What these nodes count begins at this instant."""
        return self.label.startswith(f"{START} ")


@dataclass(frozen=True, kw_only=True)
class Measurement:
    """What every system has. A system adds its own in a subclass."""

    iteration: int  # index in its turn
    seconds: float  # length of the window
    overhead_s: float | None = None  # wall time beyond warm-up and window
    # What must not happen at all, by name, where it did.
    errors: Mapping[str, int] = field(default_factory=dict)
    retries: int | None = 0  # requests that were sent again
    start_lateness_us: float | None = None  # of the latest load generator
    end_lateness_us: float | None = None  # of the one that closed its window last
    hosts: tuple[HostLoad, ...] | None = None
    switch_thread: Punctuality = Punctuality()
    switch_drops: Mapping[str, int] | None = None  # by reason, where there were any
    # What the switch's driver cannot tell, or not all of it (turntable_core.switch: THREAD, DROPS)
    # -> why. load.py reads it, whatever the system.
    switch_not_measured: Mapping[str, str] = field(default_factory=dict)
    events: tuple[Event, ...] = ()  # load.py reads them, whatever the system

    @property
    def requests_total(self) -> int:
        """Packets of the whole iteration of which losses are a share."""
        raise NotImplementedError(f"{type(self).__name__} has no requests_total")
