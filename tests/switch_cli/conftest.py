"""What the templates of a vendor give, and sessions with a switch that is none."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jinja2
import pytest
import yaml

from turntable_switch_cli.converge import Outcome, Setting, converge, settings_of
from turntable_switch_cli.dialogue import Dialogue, dialogue_of
from turntable_switch_cli.session import Access, session_with

from .fake_comware import PASSWORD, PORTS, USER, FakeComware, SshServer

REPOSITORY = Path(__file__).parents[2]
VENDOR = REPOSITORY / "templates/switch_qos/comware"
DEFAULTS = yaml.safe_load((REPOSITORY / "roles/switch_qos/defaults/main.yml").read_text())


def settings(trust: str, **variables: Any) -> list[Setting]:
    """As the role renders them."""
    ours = jinja2.Environment(trim_blocks=True, undefined=jinja2.StrictUndefined)
    template = ours.from_string((VENDOR / "settings.yml.j2").read_text())
    given = DEFAULTS | {"switch_qos_ports": list(PORTS), "switch_qos_trust": trust} | variables
    return settings_of(yaml.safe_load(template.render(given)))


def dialogue() -> Dialogue:
    return dialogue_of(yaml.safe_load((VENDOR / "dialogue.yml").read_text()))


@dataclass
class Reached:
    """A switch that serves, and the file that has its host key."""

    server: SshServer
    known_hosts: Path
    deadline_s: float = 10

    @property
    def switch(self) -> FakeComware:
        return self.server.switch

    def access(self, **other: Any) -> Access:
        of_test = {"user": USER, "password": PASSWORD, "known_hosts": self.known_hosts}
        given = {"switch": "switch0", "address": "127.0.0.1", "port": self.server.port} | of_test
        return Access(**(given | other))

    def apply(self, trust: str = "dot1p", check: bool = False, **access: Any) -> Outcome:
        with session_with(self.access(**access), dialogue(), self.deadline_s) as session:
            return converge(session, "switch0", settings(trust), dialogue(), check)


@pytest.fixture
def reached(tmp_path: Path) -> Iterator[Reached]:
    with SshServer(FakeComware()) as server:
        known_hosts = tmp_path / "known_hosts"
        known_hosts.write_text(server.known_hosts_line())
        yield Reached(server, known_hosts)
