"""Playbooks refuse extra variables that they do not know: a misspelt one would do nothing."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from turntable_core.errors import InputError
from turntable_core.overrides import ExtraVars
from turntable_core.playbook_variables import refuse_unknown

from .conftest import REPOSITORY

PARTS_OF_OTHERS = ("require_free_testbed",)
PLAYBOOKS = sorted(
    path.stem for path in REPOSITORY.glob("playbooks/*.yml") if path.stem not in PARTS_OF_OTHERS
)


def play(playbook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).with_name("ansible-playbook")
    return subprocess.run(
        [str(program), f"playbooks/{playbook}.yml", "--check", *arguments],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def begins_with_the_check(playbook: str) -> bool:
    """What is checked before all else is then what check_inventory.yml checks."""
    plays = yaml.safe_load((REPOSITORY / f"playbooks/{playbook}.yml").read_text())
    return plays[0].get("ansible.builtin.import_playbook") == "check_inventory.yml"


CHECKED_FIRST = [name for name in PLAYBOOKS if begins_with_the_check(name)]
# One of those stands for all of them.
ASKED = [name for name in PLAYBOOKS if name not in CHECKED_FIRST[1:]]


@pytest.mark.parametrize("playbook", ASKED)
def test_a_playbook_refuses_what_it_does_not_know_before_all_else(playbook: str) -> None:
    refused = play(playbook, "-e", "nosuch=1")
    assert refused.returncode != 0
    assert "extra variable: nosuch: '1' is not accepted; expected another name" in refused.stdout
    assert refused.stdout.count("TASK [") <= 1, refused.stdout


def test_a_misspelt_option_is_told_what_was_meant() -> None:
    refused = play("testbed_down", "-e", "prge=true")
    assert refused.returncode != 0
    said = " ".join(refused.stdout.split())
    assert "prge: 'true' is not accepted; expected another name (did you mean 'purge'?)" in said
    assert "this playbook takes force, purge and variables of the testbed" in said


def test_options_of_every_playbook_of_a_chain_are_known_to_the_chain() -> None:
    refused = play("site", "-e", "build_jbs=1")
    assert "did you mean 'build_jobs'?" in " ".join(refused.stdout.split())
    accepted = play("build", "-e", "build_jobs=1", "-e", "turntable_lease_s=10.0")
    assert "is not accepted" not in accepted.stdout


@pytest.mark.parametrize(
    ("extra", "says"),
    [
        (
            {"turntable_leas_s": 3},
            "a key of inventories/schema (did you mean 'turntable_lease_s'?)",
        ),
        ({"_raw_params": "force"}, "-e: 'force' is not accepted; expected NAME=VALUE"),
        ({"froce": True}, "another name (did you mean 'force'?); this playbook takes force, purge"),
    ],
)
def test_unknown(extra: dict[str, object], says: str) -> None:
    with pytest.raises(InputError) as refused:
        refuse_unknown(ExtraVars(extra), ["force", "purge"], ["turntable_lease_s"])
    assert says in str(refused.value)


def test_known() -> None:
    extra = {"force": "true", "turntable_lease_s": 3, "ansible_user": "ada"}
    refuse_unknown(ExtraVars(extra), ["force", "purge"], ["turntable_lease_s"])


def test_a_variable_of_a_file_is_named_by_its_line(tmp_path: Path) -> None:
    variables = tmp_path / "variables.yml"
    variables.write_text("force: false\nprge: true\n")
    refused = play("testbed_down", "-e", f"@{variables}")
    assert f"extra variable, {variables}:2: prge: True" in refused.stdout
