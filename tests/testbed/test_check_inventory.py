"""Bad inventories are refused with a message that helps, before anything is changed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import REPOSITORY

EMBEDDED = REPOSITORY / "inventories/embedded"
CASES = yaml.safe_load((Path(__file__).parent / "bad_inventories.yml").read_text())
# Those whose hosts a plugin says have tests of their own (test_azure.py).
GOOD = [
    path.parent
    for path in sorted(REPOSITORY.glob("inventories/*/hosts.yml"))
    if not path.with_name("azure_rm.yml").exists()
]
# Of these a playbook is asked: the first, and what the command line has a part in.
BY_PLAYBOOK = [CASES[0], *(case for case in CASES if "extra" in case)]


def groups_of(node: dict[str, Any]) -> Iterator[tuple[dict[str, Any], str]]:
    """(parent, name) of every group in hosts.yml."""
    for name, group in list(node.items()):
        yield node, name
        yield from groups_of((group or {}).get("children", {}))


def write_inventory(directory: Path, case: dict[str, Any]) -> None:
    """A copy of the embedded inventory with the mistake of `case` in it."""
    shutil.copytree(EMBEDDED, directory)
    inventory = yaml.safe_load((directory / "hosts.yml").read_text())
    for parent, name in groups_of(inventory):
        change_hosts(parent[name].get("hosts", {}), case)
    for parent, name in groups_of(inventory):
        if name in case.get("groups", {}):
            replace_group(parent, name, case["groups"][name])
    for parent, name in groups_of(inventory):
        for added, members in case.get("below", {}).get(name, {}).items():
            group = {"hosts": {member: {} for member in members}}
            parent[name].setdefault("children", {})[added] = group
    (directory / "hosts.yml").write_text(yaml.safe_dump(inventory))
    # Read after the others, by its name.
    (directory / "group_vars/all/zz_mistake.yml").write_text(yaml.safe_dump(case.get("all", {})))


def change_hosts(hosts: dict[str, Any], case: dict[str, Any]) -> None:
    for host, variables in hosts.items():
        variables.update(case.get("hosts", {}).get(host, {}))
        for key in case.get("remove", {}).get(host, []):
            del variables[key]


def replace_group(parent: dict[str, Any], name: str, members: list[str] | None) -> None:
    if members is None:
        del parent[name]
    else:
        hosts = parent[name].get("hosts", {})
        parent[name]["hosts"] = {member: hosts.get(member, {}) for member in members}


def run(playbook: str, inventory: Path, case: dict[str, Any]) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "ansible-playbook"
    command = [str(program), "-i", str(inventory), f"playbooks/{playbook}.yml", "--check", "--diff"]
    if "extra" in case:
        command += ["-e", case["extra"]]
    return subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False
    )


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What check_inventory says: by case, "unchanged" among them, and by inventory that is good."""
    directory = tmp_path_factory.mktemp("inventories")
    paths = {case["name"]: directory / str(number) for number, case in enumerate(CASES)}
    paths["unchanged"] = directory / "unchanged"
    for case in ({"name": "unchanged"}, *CASES):
        write_inventory(paths[case["name"]], case)
    paths |= {path.name: path for path in GOOD}
    program = Path(__file__).with_name("check_inventories.py")
    command = [sys.executable, program, *paths.values()]
    done = subprocess.run(
        command, cwd=REPOSITORY, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    by_path = json.loads(done.stdout)
    return {name: by_path[str(path)] for name, path in paths.items()}


def test_the_unchanged_copy_is_accepted(said: dict[str, str], tmp_path: Path) -> None:
    """Otherwise every case below would pass for a wrong reason."""
    assert said["unchanged"] == ""
    write_inventory(tmp_path / "inventory", {})
    accepted = run("check_inventory", tmp_path / "inventory", {})
    assert accepted.returncode == 0, accepted.stdout


@pytest.mark.parametrize("name", [path.name for path in GOOD])
def test_inventories_of_the_repository_are_accepted(said: dict[str, str], name: str) -> None:
    assert said[name] == ""


@pytest.mark.parametrize(
    "case", [it for it in CASES if "extra" not in it], ids=lambda case: case["name"]
)
def test_bad_inventory_is_refused(said: dict[str, str], case: dict[str, Any]) -> None:
    for text in case["says"]:
        assert text in said[case["name"]]


@pytest.mark.parametrize("case", BY_PLAYBOOK, ids=lambda case: case["name"])
def test_a_playbook_stops_before_anything_is_changed(case: dict[str, Any], tmp_path: Path) -> None:
    write_inventory(tmp_path / "inventory", case)
    refused = run("testbed_up", tmp_path / "inventory", case)
    assert refused.returncode != 0
    assert "nothing was changed" in refused.stdout
    for text in case["says"]:
        assert text in refused.stdout, refused.stdout
    # Nothing was touched: the play that would is never reached.
    assert "Bring the embedded testbed up" not in refused.stdout


def test_an_experiment_names_the_inventories_that_have_the_hosts_for_it() -> None:
    inventory = REPOSITORY / "inventories/embedded-hosts"
    refused = run("farreach/exp01_throughput", inventory, {})
    assert refused.returncode != 0
    for text in (
        "not the hosts that farreach needs",
        "group switches has no hosts; expected 1 host",
        "group servers has 1 host (server0); expected 2 hosts",
        "Inventories that have what it needs: embedded, embedded-bfrt, embedded-ssh",
    ):
        assert text in refused.stdout, refused.stdout


def test_an_experiment_with_state_in_the_switch_refuses_hosts_in_several_pipes(
    tmp_path: Path,
) -> None:
    case = {
        "hosts": {"server1": {"turntable_switch_port": 130}},
        "all": {"turntable_repository_dir": str(REPOSITORY)},
    }
    write_inventory(tmp_path / "inventory", case)
    lines = (tmp_path / "inventory/hosts.yml").read_text().splitlines()
    number = next(i for i, line in enumerate(lines, 1) if "turntable_switch_port: 130" in line)
    accepted = run("check_inventory", tmp_path / "inventory", {})
    assert accepted.returncode == 0, "a rack may be wired so: other systems do not mind"
    refused = run("farreach/exp01_throughput", tmp_path / "inventory", {})
    assert refused.returncode != 0
    for text in (
        "inventory: hosts in several pipes",
        "server1: turntable_switch_port is 130; expected a port of pipe 0 (0 to 127), where "
        f"client0 is; this one is of pipe 1 [{tmp_path}/inventory/hosts.yml:{number}]",
        "The switch keeps state of farreach in registers, and its pipes share none. Plug the hosts "
        "into ports of one pipe, and say so in the inventory",
    ):
        assert text in refused.stdout, refused.stdout


def test_a_message_names_file_and_line(tmp_path: Path) -> None:
    write_inventory(tmp_path / "inventory", {"hosts": {"client1": {"turntable_index": "12"}}})
    lines = (tmp_path / "inventory/hosts.yml").read_text().splitlines()
    number = next(i for i, line in enumerate(lines, start=1) if "turntable_index: '12'" in line)
    refused = run("check_inventory", tmp_path / "inventory", {})
    assert f"[{tmp_path}/inventory/hosts.yml:{number}]" in refused.stdout


def test_every_variable_is_documented() -> None:
    schema = yaml.safe_load((REPOSITORY / "inventories/schema/testbed.schema.json").read_text())
    page = (REPOSITORY / "docs/inventory.md").read_text()
    assert [key for key in schema["properties"] if f"`{key}`" not in page] == []
