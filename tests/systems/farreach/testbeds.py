"""A testbed for FarReach: what Ansible says of one."""

from __future__ import annotations

GROUPS = {
    "switches": ["switch0"],
    "endpoints": ["client0", "client1", "server0", "server1"],
    "clients": ["client0", "client1"],
    "servers": ["server0", "server1"],
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
    for index, name in enumerate((*GROUPS["switches"], *GROUPS["endpoints"])):
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
    return variables
