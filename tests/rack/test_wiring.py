"""The wiring table is refused with a message that says where it is wrong."""

from __future__ import annotations

import copy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from turntable_inventory import wiring
from turntable_inventory.inventory import Host, Inventory
from turntable_inventory.problem import render

from .conftest import REPOSITORY


def row(number: int, port: str, dev_port: int) -> dict[str, Any]:
    return {
        "nic": "ens1f0",
        "mac": f"02:00:0a:00:01:{number:02x}",
        "address": f"10.0.1.{number}",
        "switch_port": port,
        "dev_port": dev_port,
        "speed": "100G",
        "fec": "rs",
        "autoneg": "disabled",
    }


TABLE = {
    "switch0": {
        "sde": "/opt/sde",
        "sde_install": "/opt/sde/install",
        "sde_version": "9.13.4",
        "board": "wedge100bf_32x",
        "pipes": 2,
        "ports": [{"name": "17/0", "dev_port": 44, "speed": "100G", "fec": "none"}],
    },
    "client0": row(11, "9/0", 28),
    "server0": row(21, "11/0", 12),
}


def problems(table: Any, **variables: Any) -> str:
    """variables: of server0."""
    common = {wiring.KEY: table} if table is not None else {}
    hosts = {name: Host(name, dict(common), places={wiring.KEY: "wiring.yml:3"}) for name in TABLE}
    hosts["switch0"].variables["turntable_switch_target"] = "tofino"
    hosts["server0"].variables.update(variables)
    groups = {"switches": ["switch0"], "endpoints": ["client0", "server0"]}
    return render(wiring.check(Inventory(groups, hosts, "hosts.yml")), list(hosts))


def changed(path: str, value: Any) -> dict[str, Any]:
    """The table with this value; ... takes the key away."""
    table: dict[str, Any] = copy.deepcopy(TABLE)
    place: Any = table
    *parents, key = path.split(".")
    for parent in parents:
        place = place[int(parent) if parent.isdigit() else parent]
    if value is ...:
        del place[key]
    else:
        place[key] = value
    return table


def test_good_table_is_accepted() -> None:
    assert problems(TABLE) == ""


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (
            "server0.speed",
            "90G",
            "server0: turntable_wiring.server0.speed is '90G'; expected 10G, 25G, 40G",
        ),
        (
            "server0.speed",
            ...,
            "server0: turntable_wiring.server0.speed is missing; expected 10G, 25G",
        ),
        ("server0.fec", None, "turntable_wiring.server0.fec is None; expected none, fc or rs"),
        (
            "server0.switch_port",
            "9",
            "is '9'; expected connector and channel as on the front panel",
        ),
        ("server0.mac", "0A:00:00:00:00:01", "expected its MAC address, such as 02:00:c6:12:00:0b"),
        (
            "server0.address",
            "10.0.1",
            "turntable_wiring.server0.address is '10.0.1'; expected its IPv4",
        ),
        ("server0.lane", 0, "unknown key turntable_wiring.server0.lane; expected one of nic, mac"),
        (
            "server0",
            ...,
            "server0: turntable_wiring.server0 is missing; expected a row for every host",
        ),
        ("server9", {}, "inventory: row turntable_wiring.server9; expected rows of hosts of this"),
        (
            "server0.switch_port",
            "9/0",
            "turntable_wiring.client0.switch_port has this one [wiring.yml:3]",
        ),
        (
            "server0.dev_port",
            28,
            "expected a value of its own, turntable_wiring.client0.dev_port has",
        ),
        ("server0.mac", "02:00:0a:00:01:0b", "turntable_wiring.client0.mac has this one"),
        (
            "server0.switch_port",
            "17/0",
            "ports.0.name is '17/0'; expected a value of its own, turntable_",
        ),
        (
            "server0.dev_port",
            300,
            "is 300; expected a port of one of the 2 pipes of switch0: below 256",
        ),
        (
            "switch0.pipes",
            3,
            "turntable_wiring.switch0.pipes is 3; expected the chip's pipes: 2 or 4",
        ),
        (
            "switch0.sde",
            "sde",
            "turntable_wiring.switch0.sde is 'sde'; expected the SDE's tree on the",
        ),
        ("switch0.sde_version", 9.13, "is 9.13; expected the SDE's release in quotes"),
        (
            "switch0.ports.0.loopback",
            "x",
            "ports.0.loopback is 'x'; expected none, mac-near, mac-far",
        ),
        (
            "switch0.ports.0.lane",
            0,
            "unknown key turntable_wiring.switch0.ports.0.lane; expected one of",
        ),
    ],
)
def test_bad_table_is_refused(path: str, value: Any, says: str) -> None:
    assert says in problems(changed(path, value))


def test_rack_without_a_table_is_refused() -> None:
    assert "switch0: turntable_wiring is missing; expected a table with a row" in problems(None)


def test_variable_that_says_otherwise_is_refused() -> None:
    said = problems(TABLE, turntable_switch_port=13)
    assert "server0: turntable_switch_port is 13; expected 12 as turntable_wiring.server0" in said


def test_experiment_of_several_programs_is_refused_before_anything_is_started() -> None:
    """A Tofino keeps the one that it was started with."""
    chosen = ("-e", "profile=smoke", "-e", "method=nocache,farreach")
    done = playbook("farreach/exp01_throughput", "fake-rack", *chosen)
    assert done.returncode != 0
    said = " ".join(done.stdout.split())
    assert "need the P4 programs farreach, nocache, and switch0" in said
    assert "start it with playbooks/switch.yml -e program=NAME" in said


def playbook(name: str, inventory: str, *options: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "ansible-playbook"
    return subprocess.run(
        [program, "-i", f"inventories/{inventory}", f"playbooks/{name}.yml", *options],
        cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
