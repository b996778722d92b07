"""A testbed for Swan, as Ansible says it: with a switch, which is none of Swan's business."""

from __future__ import annotations

from small_experiment import hostvars_of

GROUPS = {
    "switches": ["switch0"],
    "endpoints": ["client0", "server0"],
    "clients": ["client0"],
    "servers": ["server0"],
}


def hostvars() -> dict[str, dict]:
    return hostvars_of("switch0", GROUPS["endpoints"])
