"""What NetClone's published artifact sets on its machines, without what is for its network library
(huge pages, shared memory), and what the server of Redis needs.
"""

from __future__ import annotations

from turntable_core.system import HostNeeds

_SOCKETS = {"net.core.rmem_max": 104857600}
_LIMITS = {"memlock": "unlimited"}

CLIENTS = HostNeeds(sysctls=_SOCKETS, limits=_LIMITS)
# rpcserver starts the Redis of its experiment itself.
SERVERS = HostNeeds(
    packages=("redis-server",),
    masked_services=("redis-server.service",),
    sysctls=_SOCKETS,
    limits=_LIMITS,
)
