"""Role switch_qos, as a playbook applies it: what the user sees."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from .conftest import REPOSITORY, Reached
from .fake_comware import PASSWORD, PORTS, USER, FakeComware


def role(reached: Reached, *options: str, **variables: Any) -> subprocess.CompletedProcess[str]:
    root = reached.known_hosts.parent
    given = {
        "ansible_host": "127.0.0.1",
        "switch_qos_ssh_port": reached.server.port,
        "switch_qos_user": USER,
        "switch_qos_password": PASSWORD,
        "switch_qos_known_hosts": str(reached.known_hosts),
        "switch_qos_templates": str(REPOSITORY / "templates/switch_qos"),
        "switch_qos_ports": list(PORTS),
        "switch_qos_deadline_s": 20,
    }
    hosts = {"switch0": given | variables}
    (root / "hosts.yml").write_text(yaml.safe_dump({"switches": {"hosts": hosts}}))
    play = {"hosts": "switches", "gather_facts": False, "roles": ["switch_qos"]}
    (root / "play.yml").write_text(yaml.safe_dump([play]))
    program = Path(sys.executable).parent / "ansible-playbook"
    done = subprocess.run(
        [program, root / "play.yml", "-i", root / "hosts.yml", *options],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert PASSWORD not in done.stdout + done.stderr
    assert "Traceback" not in done.stdout + done.stderr
    return done


def test_the_second_time_nothing_changes(reached: Reached) -> None:
    first = role(reached)
    assert first.returncode == 0, first.stdout
    assert "changed=1 " in first.stdout
    assert reached.switch.trust[PORTS[0]] == "dscp"  # the default
    assert not reached.switch.saved
    second = role(reached)
    assert second.returncode == 0
    assert "changed=0 " in second.stdout, second.stdout


def test_a_check_shows_the_lines_and_changes_nothing(reached: Reached) -> None:
    shown = role(reached, "--check", "--diff", switch_qos_trust="dot1p")
    assert shown.returncode == 0, shown.stdout
    for line in (
        "-qos map-table dot1p-lp: import 2 export 1",
        "+qos map-table dot1p-lp: import 2 export 2",
        f"-interface {PORTS[1]}: undo qos trust",
        f"+interface {PORTS[1]}: qos trust dot1p",
    ):
        assert line in shown.stdout, shown.stdout
    assert "changed=1 " in shown.stdout
    assert reached.switch.maps == FakeComware().maps


def test_the_running_configuration_is_kept_if_that_is_wanted(reached: Reached) -> None:
    """Also where nothing has to be changed: somebody may have changed it without keeping it."""
    assert role(reached).returncode == 0
    assert not reached.switch.saved
    kept = role(reached, switch_qos_save=True)
    assert "changed=0 " in kept.stdout, kept.stdout
    assert reached.switch.saved


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"switch_qos_password": "guessed"}, "the switch does not let this user in"),
        ({"switch_qos_vendor": "acme"}, "switch_qos_vendor is acme; expected a directory of"),
        ({"switch_qos_trust": "tos"}, "must be one of: dscp, dot1p"),
        ({"switch_qos_ports": None}, "switch_qos_ports"),
    ],
    ids=["password", "vendor", "trust", "ports"],
)
def test_a_mistake_is_named(reached: Reached, variables: dict[str, Any], says: str) -> None:
    refused = role(reached, **variables)
    assert refused.returncode != 0
    assert says in refused.stdout + refused.stderr, refused.stdout
    assert "system-view" not in reached.switch.received
