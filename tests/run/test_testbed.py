"""The testbed that an inventory describes: roles as its groups say, with a switch or without."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from turntable_core import systems
from turntable_core.checks import check_hosts, systems_for
from turntable_core.errors import TurntableError
from turntable_core.testbed import from_json, read_testbed, to_json

from .testbeds import GROUPS, hostvars

NO_INVENTORIES = Path("/nonexistent")


def without(*names: str) -> dict[str, list[str]]:
    """GROUPS less these hosts."""
    return {group: [h for h in hosts if h not in names] for group, hosts in GROUPS.items()}


def test_roles_are_the_groups_of_endpoints() -> None:
    made = read_testbed(hostvars(), GROUPS)
    roles = {role: [host.name for host in hosts] for role, hosts in made.roles.items()}
    assert roles == {"senders": ["sender0", "sender1"], "receivers": ["receiver0", "receiver1"]}
    assert [host.name for host in made.hosts] == GROUPS["testbed"], "the switch first"
    assert made.hosts_of("nobody") == ()


def test_a_host_may_have_two_roles_and_is_one_host() -> None:
    groups = GROUPS | {"observers": ["receiver1"]}
    made = read_testbed(hostvars(), groups)
    assert [host.name for host in made.hosts_of("observers")] == ["receiver1"]
    assert [host.name for host in made.hosts] == GROUPS["testbed"]


def test_a_testbed_may_be_without_a_switch() -> None:
    made = read_testbed(hostvars(), without("switch0"))
    assert made.switch is None
    assert made.hosts[0].name == "sender0"
    assert made.data_hosts[0].switch_port is None
    assert (made.id, made.lease_s) == ("t", 7.0)


@pytest.mark.parametrize("gone", [(), ("switch0",)])
def test_a_testbed_survives_json(gone: tuple[str, ...]) -> None:
    made = read_testbed(hostvars(), without(*gone))
    assert from_json(json.loads(json.dumps(to_json(made)))) == made


def test_digests_tell_testbeds_apart() -> None:
    variables = hostvars()
    first = read_testbed(variables, GROUPS)
    assert read_testbed(hostvars(), GROUPS).digest == first.digest
    variables["sender0"]["turntable_data_mac"] = "02:00:00:00:00:99"
    assert read_testbed(variables, GROUPS).digest != first.digest


@pytest.mark.parametrize(
    ("gone", "message"),
    [
        (("receiver1",), r"group receivers has 1 host \(receiver0\); expected 2 hosts"),
        (("switch0",), r"group switches has no hosts; expected 1 host"),
        (("sender0", "sender1"), r"group senders has no hosts; expected 1 host or more"),
    ],
)
def test_hosts_that_a_system_lacks_are_named(gone: tuple[str, ...], message: str) -> None:
    made = read_testbed(hostvars(), without(*gone))
    with pytest.raises(TurntableError, match=message):
        check_hosts(systems.find("fake"), made, NO_INVENTORIES)
    assert systems_for(made) == []


def test_a_testbed_with_all_hosts_is_one_for_the_system() -> None:
    made = read_testbed(hostvars(), GROUPS)
    check_hosts(systems.find("fake"), made, NO_INVENTORIES)
    assert systems_for(made) == [systems.find("fake")]
