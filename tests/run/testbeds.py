"""A testbed for the system of fakes/: what Ansible says of one, and what the run reads of it."""

from __future__ import annotations

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
    common = {
        "turntable_testbed_id": "t",
        "turntable_fidelity_class": "emulated",
        "turntable_lease_s": 7,
        "turntable_bin_dir": "/bin",
        "turntable_p4_dir": "/p4",
    }
    variables = {}
    for index, name in enumerate(GROUPS["testbed"]):
        variables[name] = common | {
            "turntable_run_dir": f"/run/{name}",
            "turntable_state_dir": f"/state/{name}",
            "turntable_data_address": f"198.18.0.{index}",
            "turntable_data_mac": f"02:00:00:00:00:0{index}",
            "turntable_switch_port": index - 1,
            "turntable_switch_interface": f"p{index - 1}",
        }
    variables["switch0"] |= {
        "turntable_switch_target": "soft",
        "turntable_port_driver": "af_packet",
        "turntable_cpu_port": 64,
        "turntable_cpu_interface": "cpu",
        "turntable_control_address": "198.19.0.10",
    }
    variables["sender1"]["turntable_node_nice"] = -15
    return variables
