"""A testbed for Shadowfax, as Ansible says it: with a switch, which is none of its business."""

from __future__ import annotations

from small_experiment import hostvars_of

GROUPS = {
    "switches": ["switch0"],
    "endpoints": ["client0", "client1", "server0", "server1"],
    "clients": ["client0", "client1"],
    "servers": ["server0", "server1"],
}


def hostvars() -> dict[str, dict]:
    return hostvars_of("switch0", GROUPS["endpoints"])
