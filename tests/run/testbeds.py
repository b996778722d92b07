"""A testbed for the system of fakes/: what Ansible says of one, and what the run reads of it."""

from __future__ import annotations

from small_experiment import hostvars_of
from turntable_core.ownership.owner import Owner

OWNER = Owner("alice", "ctl", 17, "20261121-183000-smoke", "tiny", 1)
GROUPS = {
    "all": ["controller", "switch0", "sender0", "sender1", "receiver0", "receiver1"],
    "ungrouped": [],
    "controller": ["controller"],
    "testbed": ["switch0", "sender0", "sender1", "receiver0", "receiver1"],
    "switches": ["switch0"],
    "endpoints": ["sender0", "sender1", "receiver0", "receiver1"],
    "senders": ["sender0", "sender1"],
    "receivers": ["receiver0", "receiver1"],
}


def hostvars() -> dict[str, dict]:
    variables = hostvars_of("switch0", GROUPS["endpoints"])
    variables["sender1"]["turntable_node_nice"] = -15
    return variables
