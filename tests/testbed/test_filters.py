"""Filters that inventories use; expected values are written out."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from ansible.errors import AnsibleFilterError

from turntable_testbed.state import Namespace, State
from turntable_testbed.topology import Topology

from .conftest import REPOSITORY


def load(name: str) -> ModuleType:
    path = REPOSITORY / f"plugins/filter/{name}.py"
    spec = importlib.util.spec_from_file_location(f"filter_{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


ADDRESSES = load("addresses")


def test_nth_address_counts_from_the_network_address() -> None:
    assert ADDRESSES.nth_address("198.18.0.0/15", 65536 + 11) == "198.19.0.11"


@pytest.mark.parametrize("arguments", [("198.18.0.0/24", 256), ("198.18.0.1/24", 1), ("x", 1)])
def test_nth_address_outside_the_network_is_an_error(arguments: tuple[str, int]) -> None:
    with pytest.raises(AnsibleFilterError, match="expected an IPv4 network"):
        ADDRESSES.nth_address(*arguments)


def test_mac_of_address_is_local_and_holds_the_address() -> None:
    assert ADDRESSES.mac_of_address("198.18.0.11") == "02:00:c6:12:00:0b"


TOPOLOGY = load("topology")
PROGRAMS = load("programs")
TARGETS = ("soft", "bfrt", "tofino")
GROUPS = {
    "all": ["localhost", "sw", "c0", "c1", "s0", "s1", "o0"],
    "switches": ["sw"],
    "endpoints": ["c0", "c1", "s0", "s1", "o0"],
    "clients": ["c0", "c1"],
    "servers": ["s0", "s1"],
    "observers": ["o0"],
}


def variables_of(index: int, name: str) -> dict[str, object]:
    return {
        "turntable_testbed_id": "tf",
        "turntable_index": index,
        "turntable_namespace": f"tf-{name}",
        "turntable_fidelity_class": "emulated",
        "turntable_lease_s": 10,
        "turntable_bin_dir": "/build/bin",
        "turntable_p4_dir": "/build/lib/p4",
        "turntable_run_dir": f"/run/{name}",
        "turntable_state_dir": f"/state/{name}",
        "turntable_data_network": "198.18.0.0/24",
        "turntable_control_network": "198.19.0.0/24",
        "turntable_data_mtu": 1500,
        "turntable_namespace_sysctls": {},
        "turntable_control_address": f"198.19.0.{index}",
        "turntable_control_interface": "tf-ctl",
        "turntable_control_bridge": "tf-br",
        "turntable_data_address": f"198.18.0.{index}",
        "turntable_data_mac": f"02:00:00:00:00:0{index}",
        "turntable_data_interface": "tf-data",
    }


def hostvars(with_switch: bool) -> dict[str, dict[str, object]]:
    variables = {name: variables_of(i, name) for i, name in enumerate(GROUPS["all"], start=1)}
    if not with_switch:
        variables["localhost"]["turntable_data_bridge"] = "tf-dbr"
        return variables
    for port, name in enumerate(GROUPS["endpoints"]):
        variables[name] |= {
            "turntable_switch_port": port,
            "turntable_switch_interface": f"tf-p{port}",
        }
    variables["sw"] |= {
        "turntable_switch_target": "soft",
        "turntable_port_driver": "af_packet",
        "turntable_cpu_port": 64,
        "turntable_cpu_interface": "tf-cpu",
        "turntable_cpu_control_interface": "tf-cpuctl",
    }
    return variables


def desired(switch: str | None) -> State:
    names = GROUPS["endpoints"]
    made = TOPOLOGY.embedded_topology(hostvars(switch is not None), "localhost", switch, names)
    return Topology.from_dict(made).desired()


def ports_in(namespace: Namespace) -> dict[str, str | None]:
    """Those data links end in -> the bridge they are in."""
    return {
        device: link.bridge
        for device, link in namespace.links.items()
        if link.peer and link.peer[1] == "tf-data"
    }


def test_data_links_end_at_the_switch() -> None:
    state = desired("sw")
    assert ports_in(state["tf-sw"]) == {f"tf-p{port}": None for port in range(5)}
    assert ports_in(state["tf-localhost"]) == {}


def test_data_links_end_at_a_bridge_where_there_is_no_switch() -> None:
    state = desired(None)
    assert "tf-sw" not in state
    controller = state["tf-localhost"]
    assert ports_in(controller) == {f"tf-d{index}": "tf-dbr" for index in range(3, 8)}
    assert controller.links["tf-dbr"].addresses == frozenset()
    assert {controller.links[port].offloads for port in ports_in(controller)} == {False}
    assert len(state["tf-o0"].links["tf-data"].neighbours) == 4


def test_a_host_gets_the_programs_of_its_role() -> None:
    """farreach needs a switch, clients and two servers; nothing needs observers."""

    def programs(host: str) -> set[str]:
        return set(PROGRAMS.programs_by_host(hostvars(True), GROUPS)[host])

    common = {"supervisor", "nodectl"}
    assert programs("sw") >= common | {"softswitch", "switch-agent"}
    assert programs("c1") >= common | {"kvclient"}
    assert programs("s0") >= common | {"kvserver", "cache-controller"}
    assert programs("s1") >= common | {"kvserver"}
    assert programs("o0") == common


def test_a_switch_gets_the_files_that_its_nodes_read(tmp_path: Path) -> None:
    for name in ("toy.so", "toy.bfrt.json", "toy.p4info.txt"):
        (tmp_path / name).touch()
    files = {target: PROGRAMS.p4_files_of_switch(target, str(tmp_path)) for target in TARGETS}
    assert files == {"soft": ["toy.so"], "bfrt": ["toy.bfrt.json", "toy.so"], "tofino": []}
    with pytest.raises(AnsibleFilterError, match=r"'other' .*expected one of soft, bfrt, tofino"):
        PROGRAMS.p4_files_of_switch("other", str(tmp_path))


def test_hosts_get_no_programs_of_systems_that_the_testbed_is_not_for() -> None:
    groups = GROUPS | {"switches": []}
    assert "kvclient" not in PROGRAMS.programs_by_host(hostvars(False), groups)["c0"]
