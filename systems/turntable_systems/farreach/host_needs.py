"""What FarReach's published artifact sets on its machines, and what answers need."""

from __future__ import annotations

from turntable_core.system import HostNeeds

# Answers come from the address of the first server, whichever server sent them: a host that asks
# for the way back to it would drop them.
_ANSWERS = {"net.ipv4.conf.all.rp_filter": 0, "net.ipv4.conf.{interface}.rp_filter": 0}
_SOCKETS = {"net.core.rmem_max": 16777216}
_LIMITS = {"nofile": 1024000}

CLIENTS = HostNeeds(sysctls={**_ANSWERS, **_SOCKETS}, limits=_LIMITS)
# RocksDB's latency suffers while the kernel joins pages.
SERVERS = HostNeeds(
    sysctls={**_ANSWERS, **_SOCKETS}, limits=_LIMITS, transparent_huge_pages="never"
)
