"""What Shadowfax's machines are given: files for the connections of all threads. The store is
faster with huge pages, but FarReach's servers want none of them: an inventory decides that for its
hosts.
"""

from __future__ import annotations

from turntable_core.system import HostNeeds

_LIMITS = {"nofile": 65536}

CLIENTS = HostNeeds(limits=_LIMITS)
# textstore-node starts the stores beside Shadowfax itself.
SERVERS = HostNeeds(
    packages=("memcached", "redis-server"),
    masked_services=("memcached.service", "redis-server.service"),
    limits=_LIMITS,
)
