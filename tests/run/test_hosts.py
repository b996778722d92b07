"""Hosts that a system needs: what is said when an inventory lacks some, and which ones do not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core.checks import check_hosts
from turntable_core.errors import TurntableError
from turntable_core.system import Role, System
from turntable_core.testbed import DataHost, SwitchHost, Testbed
from turntable_inventory.roles import roles_of


class Cloning(System):
    name = "cloning"
    roles = (Role("loads"), Role("workers", 2, 6), Role("coordinators", 1, 1))
    needs_switch = True


class Prioritizing(System):
    name = "prioritizing"
    roles = (Role("loads"),)
    needs_switch = True
    needs_switch_program = False


SWITCH = SwitchHost("sw", "/bin", "/run", "/var", 0, "soft", "/p4", 64, "cpu", "af_packet")


def host(name: str) -> DataHost:
    return DataHost(name, "/bin", "/run", "/var", 0, "10.0.0.1", "02:00:00:00:00:01", None, None)


def make(switch: SwitchHost | None, **roles: int) -> Testbed:
    made = {
        role: tuple(host(f"{role[0]}{i}") for i in range(count)) for role, count in roles.items()
    }
    return Testbed("t", "emulated", 10.0, switch, made)


def write_inventory(directory: Path, workers: int, switch: bool) -> None:
    directory.mkdir(parents=True)
    switches = "switches: {hosts: {sw: {}}}" if switch else "switches: {hosts: {}}"
    (directory / "hosts.yml").write_text(
        f"""
controller: {{hosts: {{localhost: {{}}}}}}
testbed:
  children:
    {switches}
    endpoints:
      children:
        loads: {{hosts: {{load0: {{}}}}}}
        workers: {{hosts: {{"worker[0:{workers - 1}]": {{}}}}}}
        coordinators: {{hosts: {{boss: {{}}}}}}
"""
    )


def refusal(made: Testbed, inventories: Path) -> list[str]:
    with pytest.raises(TurntableError) as raised:
        check_hosts(Cloning(), made, inventories)
    return str(raised.value).splitlines()


def test_enough_hosts_are_accepted_and_no_other_inventory_is_read() -> None:
    check_hosts(Cloning(), make(SWITCH, loads=1, workers=6, coordinators=1), Path("/nonexistent"))


def test_a_refusal_names_each_group_and_the_inventories_that_fit(tmp_path: Path) -> None:
    write_inventory(tmp_path / "rack", workers=4, switch=True)
    write_inventory(tmp_path / "big", workers=6, switch=True)
    write_inventory(tmp_path / "too-big", workers=7, switch=True)
    write_inventory(tmp_path / "plain", workers=4, switch=False)
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/hosts.yml").write_text("testbed: [")
    made = make(None, workers=1, coordinators=2, others=3)
    assert refusal(made, tmp_path) == [
        "inventory: not the hosts that cloning needs",
        "  group switches has no hosts; expected 1 host",
        "  group loads has no hosts; expected 1 host or more",
        "  group workers has 1 host (w0); expected 2 to 6 hosts",
        "  group coordinators has 2 hosts (c0, c1); expected 1 host",
        "Inventories that have what it needs: big, rack. Choose one, for instance "
        f"-i {tmp_path}/big",
    ]


def test_a_refusal_says_when_no_inventory_fits(tmp_path: Path) -> None:
    write_inventory(tmp_path / "plain", workers=4, switch=False)
    said = refusal(make(SWITCH, workers=2, loads=1), tmp_path)
    assert said[1:] == [
        "  group coordinators has no hosts; expected 1 host",
        f"No inventory of {tmp_path} has what it needs: docs/inventory.md says how to write one",
    ]


def test_roles_are_groups_whose_hosts_are_all_endpoints() -> None:
    groups = {
        "all": ["localhost", "sw", "a", "b", "c"],
        "ungrouped": [],
        "testbed": ["a", "b", "c"],  # as it is without a switch
        "controller": ["localhost"],
        "endpoints": ["a", "b", "c"],
        "loads": ["a"],
        "workers": ["b", "c"],
        "idle": [],
        "rack7": ["sw", "a"],
    }
    assert roles_of(groups) == {"loads": ["a"], "workers": ["b", "c"]}


VENDORS = replace(make(None, loads=1, workers=2, coordinators=1), vendors_switch="tor")


def test_a_vendors_switch_runs_no_program(tmp_path: Path) -> None:
    write_inventory(tmp_path / "fits", 2, True)
    with pytest.raises(TurntableError) as caught:
        check_hosts(Cloning(), VENDORS, tmp_path)
    assert str(caught.value).splitlines()[:2] == [
        "inventory: not the hosts that cloning needs",
        "  switch tor is a vendor's (turntable_switch_target vendor); expected one that runs the "
        "P4 program of cloning",
    ]
    assert "Inventories that have what it needs: fits." in str(caught.value)


def test_a_vendors_switch_is_one_for_a_system_without_a_program(tmp_path: Path) -> None:
    check_hosts(Prioritizing(), VENDORS, tmp_path)
    with pytest.raises(TurntableError, match="group switches has no hosts; expected 1 host"):
        check_hosts(Prioritizing(), replace(VENDORS, vendors_switch=""), tmp_path)
