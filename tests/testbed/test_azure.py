"""inventories/azure with a plugin in the place of Azure's, which asks nobody."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
INVENTORY = "inventories/azure"


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    collections = tmp_path_factory.mktemp("collections")
    plugins = collections / "ansible_collections/azure/azcollection/plugins/inventory"
    plugins.mkdir(parents=True)
    shutil.copy(HERE / "azure/azure_rm.py", plugins)
    return {
        **os.environ,
        "ANSIBLE_COLLECTIONS_PATH": str(collections),
        "TURNTABLE_TEST_MACHINES": str(HERE / "azure/machines.json"),
    }


def answer(words: list[str], environment: dict[str, str]) -> Any:
    done = subprocess.run(
        words, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def test_machines_have_their_roles_and_wiring(environment: dict[str, str]) -> None:
    program = str(Path(sys.executable).parent / "ansible-inventory")
    listed = answer([program, "-i", INVENTORY, "--list"], environment)
    assert listed["clients"]["hosts"] == ["client0"]
    assert listed["servers"]["hosts"] == ["server0", "server1"]
    variables = listed["_meta"]["hostvars"]
    # As ansible-inventory writes what comes from elsewhere.
    address = {
        name: of_host["ansible_host"]["__ansible_unsafe"]
        for name, of_host in variables.items()
        if name != "localhost"
    }
    assert address["client0"] == "198.51.100.11"  # the public one
    assert address["server0"] == "10.0.5.21"
    assert "elsewhere" not in variables
    assert "bastion" in listed["ungrouped"]["hosts"]


def test_the_inventory_is_accepted(environment: dict[str, str]) -> None:
    words = [sys.executable, str(HERE / "check_inventories.py"), INVENTORY]
    assert answer(words, environment) == {INVENTORY: ""}
