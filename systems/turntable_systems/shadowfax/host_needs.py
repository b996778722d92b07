"""What Shadowfax's machines are given: files for the connections of all threads. The store is
faster with huge pages, but FarReach's servers want none of them: an inventory decides that for its
hosts.
"""

from __future__ import annotations

from turntable_core.system import HostNeeds

NODES = HostNeeds(limits={"nofile": 65536})
