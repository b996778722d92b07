"""A --limit that leaves a playbook nothing to do is refused: Ansible ends with status 0 then."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]


def play(*words: str) -> subprocess.CompletedProcess[str]:
    program = Path(sys.executable).parent / "ansible-playbook"
    return subprocess.run(
        [program, *words], cwd=REPOSITORY, capture_output=True, text=True, check=False
    )


def test_an_experiment_is_refused_without_the_controller() -> None:
    refused = play(
        "playbooks/farreach/exp01_throughput.yml", "-e", "profile=smoke", "--limit", "server0"
    )
    assert refused.returncode == 2
    assert "--limit server0: no host of this playbook is in it" in refused.stderr
    assert "Traceback" not in refused.stdout + refused.stderr


def test_a_play_that_the_limit_leaves_a_host_is_played() -> None:
    played = play("playbooks/check_inventory.yml", "--limit", "localhost")
    assert played.returncode == 0, played.stdout
