"""What a machine needs where bursts of all senders may wait in one socket."""

from __future__ import annotations

from turntable_core.system import HostNeeds

NODES = HostNeeds(sysctls={"net.core.rmem_max": 104857600})
