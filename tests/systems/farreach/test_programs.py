"""Which programs the hosts of FarReach need: what provisioning installs and a run asks for."""

from __future__ import annotations

import importlib.util

import pytest

from .conftest import REPOSITORY
from .testbeds import GROUPS, hostvars


@pytest.fixture
def programs_by_host():
    path = REPOSITORY / "plugins" / "filter" / "programs.py"
    spec = importlib.util.spec_from_file_location("filter_programs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.FilterModule().filters()["programs_by_host"]


# Of every system that fits the testbed; these are FarReach's, and what every system has.
OWN = {"supervisor", "nodectl", "softswitch", "switch-agent", "kvclient", "kvserver"} | {
    "cache-controller"
}


def test_every_host_gets_the_programs_of_its_role(programs_by_host) -> None:
    common = {"supervisor", "nodectl"}
    by_host = programs_by_host(hostvars(), GROUPS)
    found = {host: OWN.intersection(names) for host, names in by_host.items()}
    assert found == {
        "switch0": common | {"softswitch", "switch-agent"},
        "client0": common | {"kvclient"},
        "client1": common | {"kvclient"},
        "server0": common | {"kvserver", "cache-controller"},
        "server1": common | {"kvserver"},
    }


def test_a_testbed_without_its_hosts_gets_what_every_host_has(programs_by_host) -> None:
    groups = GROUPS | {"servers": ["server0"], "endpoints": ["client0", "client1", "server0"]}
    found = programs_by_host(hostvars(), groups)
    assert OWN.intersection(found["server0"]) == {"supervisor", "nodectl"}
