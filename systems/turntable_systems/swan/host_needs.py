"""What Swan's machines are given: its preflight asks for no SYN cookies and 10,240 open files."""

from __future__ import annotations

from turntable_core.system import HostNeeds

_LIMITS = {"nofile": 65536}

CLIENTS = HostNeeds(limits=_LIMITS)
# The colocator starts memcached and the jobs beside it by itself. What one job alone needs, and
# takes hundreds of megabytes (python3-sklearn for the training), is the inventory's to name:
# turntable_host_packages.
SERVERS = HostNeeds(
    packages=("memcached", "stress-ng"),
    masked_services=("memcached.service",),
    sysctls={"net.ipv4.tcp_syncookies": 0},
    limits=_LIMITS,
)
