"""Filters that turn inventory variables into what the embedded_network module takes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any


def embedded_topology(
    hostvars: Mapping[str, Mapping[str, Any]],
    controller: str,
    switch: str | None,
    endpoints: list[str],
) -> dict[str, Any]:
    """The `topology` parameter of the embedded_network module; hosts are given by inventory name.

    ``hostvars | embedded_topology('localhost', 'switch0', ['client0', 'server0'])``

    switch: None: the endpoints share a bridge.
    """
    common = hostvars[controller]
    return {
        "testbed": common["turntable_testbed_id"],
        "data_network": common["turntable_data_network"],
        "control_network": common["turntable_control_network"],
        "mtu": common["turntable_data_mtu"],
        "sysctls": dict(common["turntable_namespace_sysctls"]),
        "controller": {
            "namespace": common["turntable_namespace"],
            "bridge": common["turntable_control_bridge"],
            "address": common["turntable_control_address"],
            "data_bridge": None if switch else common["turntable_data_bridge"],
        },
        "switch": _switch(switch, hostvars[switch]) if switch else None,
        "endpoints": [_endpoint(name, hostvars[name], switch) for name in endpoints],
    }


def embedded_sshds(
    hostvars: Mapping[str, Mapping[str, Any]], hosts: list[str]
) -> list[dict[str, Any]]:
    """`sshd.servers` of the embedded_network module; hosts are given by inventory name."""
    return [
        {
            "host": name,
            "namespace": hostvars[name]["turntable_namespace"],
            "address": hostvars[name]["turntable_control_address"],
            "port": int(hostvars[name].get("ansible_port", 22)),
            "user": hostvars[name].get("ansible_user", "root"),
            "directory": f"{hostvars[name]['turntable_run_dir']}/sshd",
        }
        for name in hosts
    ]


def _control(name: str, host: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "name": name,
        "namespace": host["turntable_namespace"],
        "control_interface": host["turntable_control_interface"],
        "control_address": host["turntable_control_address"],
        "bridge_port": f"{host['turntable_testbed_id']}-b{host['turntable_index']}",
    }


def _switch(name: str, host: Mapping[str, Any]) -> dict[str, Any]:
    return {
        **_control(name, host),
        "cpu_interface": host["turntable_cpu_interface"],
        "cpu_control_interface": host["turntable_cpu_control_interface"],
    }


def _endpoint(name: str, host: Mapping[str, Any], switch: str | None) -> dict[str, Any]:
    bridge_port = f"{host['turntable_testbed_id']}-d{host['turntable_index']}"
    return {
        **_control(name, host),
        "data_interface": host["turntable_data_interface"],
        "data_address": host["turntable_data_address"],
        "data_mac": host["turntable_data_mac"],
        "data_port": host["turntable_switch_interface"] if switch else bridge_port,
    }


class FilterModule:
    """Ansible's hook."""

    def filters(self) -> dict[str, Callable[..., Any]]:
        return {"embedded_topology": embedded_topology, "embedded_sshds": embedded_sshds}
