"""playbooks/switch.yml with a copy of inventories/homa-10g, whose hosts are this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from .conftest import REPOSITORY, Reached
from .fake_comware import PASSWORD, PORTS, USER


def write_inventory(directory: Path, reached: Reached) -> None:
    shutil.copytree(REPOSITORY / "inventories/homa-10g", directory)
    of_switch = {
        "ansible_host": "127.0.0.1",
        "switch_qos_ssh_port": reached.server.port,
        "switch_qos_user": USER,
        "switch_qos_password": PASSWORD,
        "switch_qos_known_hosts": str(reached.known_hosts),
        "switch_qos_ports": list(PORTS),
    }
    for host, variables in {
        "switch0": of_switch,
        "client0": {"ansible_connection": "local"},
        "server0": {"ansible_connection": "local"},
    }.items():
        (directory / "host_vars").mkdir(exist_ok=True)
        (directory / f"host_vars/{host}.yml").write_text(yaml.safe_dump(variables))
    hosts = yaml.safe_load((directory / "hosts.yml").read_text())
    roles = hosts["testbed"]["children"]["endpoints"]["children"]
    for name, role in roles.items():
        first = f"{name.removesuffix('s')}0"
        role["hosts"] = {first: role["hosts"][first]}
    (directory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    everywhere = {"turntable_repository_dir": str(REPOSITORY)}
    (directory / "group_vars/all/zz_test.yml").write_text(yaml.safe_dump(everywhere))


def test_switch_yml_sets_a_vendors_switch(reached: Reached, tmp_path: Path) -> None:
    write_inventory(tmp_path / "inventory", reached)
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, "-i", tmp_path / "inventory", "playbooks/switch.yml"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert reached.switch.trust == dict.fromkeys(PORTS, "dscp")
    assert set(reached.switch.scheduling.values()) == {"Strict Priority queuing"}
    # Nothing else of the playbook is for such a switch.
    assert "Require a program to start with" not in done.stdout
