"""A testbed for the system of fakes/: what Ansible says of one, and what the run reads of it."""

from __future__ import annotations

from typing import Any

from small_experiment import hostvars_of
from turntable_core.ownership.owner import Owner
from turntable_core.testbed import Testbed, read_testbed

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


def over_bfrt(**of_switch: Any) -> Testbed:
    """Its switch is driven over BF Runtime, unless `of_switch` says otherwise."""
    variables = hostvars()
    variables["switch0"] |= {"turntable_switch_target": "bfrt"} | of_switch
    return read_testbed(variables, GROUPS)
