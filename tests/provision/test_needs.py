"""Which values a host gets: of systems and of the inventory."""

from __future__ import annotations

from typing import Any

import pytest

from turntable_core.errors import InputError
from turntable_core.host_settings import is_machine, record_of, settings_of
from turntable_core.system import HostNeeds, Role, System
from turntable_core.testbed import Testbed, read_testbed

NEEDS = HostNeeds(
    packages=("tool-of-one",),
    masked_services=("one.service",),
    sysctls={"net.core.rmem_max": 10, "net.ipv4.conf.{interface}.rp_filter": 0},
    limits={"nofile": 1024, "memlock": 64},
    transparent_huge_pages="never",
)


class One(System):
    name = "one"
    roles = (Role("clients"), Role("servers", needs=NEEDS))


class Other(System):
    name = "other"
    roles = (
        Role(
            "servers",
            needs=HostNeeds(sysctls={"net.core.rmem_max": 20}, limits={"memlock": "unlimited"}),
        ),
    )


class Against(System):
    name = "against"
    roles = (Role("servers", needs=HostNeeds(transparent_huge_pages="always")),)


def variables(index: int, **more: Any) -> dict[str, Any]:
    return {
        "turntable_testbed_id": "rack",
        "turntable_fidelity_class": "hardware",
        "turntable_lease_s": 10,
        "turntable_bin_dir": "/opt/bin",
        "turntable_run_dir": "/run/t",
        "turntable_state_dir": "/var/t",
        "turntable_data_network": "198.18.0.0/20",
        "turntable_data_address": f"198.18.0.{index}",
        "turntable_data_mac": f"02:00:00:00:00:{index:02x}",
        "turntable_data_interface": "ens1",
        **more,
    }


def of(host: str, systems: list[System], **more: Any) -> dict[str, Any]:
    hosts = {"c0": variables(11), "s0": variables(21), "s1": variables(22)}
    hosts[host].update(more)
    testbed: Testbed = read_testbed(
        hosts, {"endpoints": ["c0", "s0", "s1"], "clients": ["c0"], "servers": ["s0", "s1"]}
    )
    its = next(it for it in testbed.data_hosts if it.name == host)
    return settings_of(its, hosts[host], testbed, systems)


def test_a_host_gets_what_systems_need_of_its_role() -> None:
    server = of("s0", [One()])
    assert server["packages"] == ["ethtool", "iproute2", "tool-of-one"]
    assert server["masked_services"] == ["one.service"]
    assert server["sysctls"] == {"net.core.rmem_max": 10, "net.ipv4.conf.ens1.rp_filter": 0}
    assert server["transparent_huge_pages"] == "never"
    client = of("c0", [One()])
    assert client.keys() == {"packages", "nic"}


def test_the_larger_number_holds_and_the_inventory_before_all() -> None:
    both = of("s0", [One(), Other()])
    assert both["sysctls"]["net.core.rmem_max"] == 20
    assert both["limits"] == {"nofile": 1024, "memlock": "unlimited"}
    given = of(
        "s0",
        [One(), Other()],
        turntable_host_sysctls={"net.core.rmem_max": 5, "vm.swappiness": 1},
        turntable_host_transparent_huge_pages="madvise",
    )
    assert given["sysctls"] == {
        "net.core.rmem_max": 5,
        "net.ipv4.conf.ens1.rp_filter": 0,
        "vm.swappiness": 1,
    }
    assert given["transparent_huge_pages"] == "madvise"


def test_what_cannot_be_compared_is_for_the_inventory_to_say() -> None:
    with pytest.raises(InputError, match=r"one wants never, against wants always\)\. Say which"):
        of("s0", [One(), Against()])
    said = of("s0", [One(), Against()], turntable_host_transparent_huge_pages="never")
    assert said["transparent_huge_pages"] == "never"


def test_the_nic_has_the_networks_length_and_all_others_as_neighbours() -> None:
    settings = of("s0", [], turntable_data_mtu=9000, turntable_nic_interrupt_cpus="0-3")
    assert settings["nic"] == {
        "name": "ens1",
        "mac": "02:00:00:00:00:15",
        "address": "198.18.0.21/20",
        "neighbours": {"198.18.0.11": "02:00:00:00:00:0b", "198.18.0.22": "02:00:00:00:00:16"},
        "mtu": 9000,
        "interrupt_cpus": "0-3",
    }
    assert settings["stopped_services"] == ["irqbalance"]


def test_nothing_is_recorded_of_a_namespace() -> None:
    assert record_of(variables(11)) == "/var/lib/turntable/host_settings.json"
    assert record_of(variables(11, turntable_host_record="/srv/record.json")) == "/srv/record.json"
    assert not is_machine(variables(11, turntable_namespace="tt-c0"))
    assert record_of(variables(11, turntable_namespace="tt-c0")) is None
