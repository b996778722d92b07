"""Commands on several hosts at once, through Ansible's own connection plugins."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from threading import Event, Lock

import pytest
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import init_plugin_loader

from turntable_core import wait_notice
from turntable_core.connections import Command, HostConnections
from turntable_core.errors import PhaseError
from turntable_core.reachable import require_reachable
from turntable_core.testbed import read_testbed

from .testbeds import GROUPS, hostvars

HOSTVARS = {
    "a": {"inventory_hostname": "a", "ansible_connection": "local"},
    "b": {"inventory_hostname": "b", "ansible_connection": "local"},
    "far": {
        "inventory_hostname": "far",
        "ansible_connection": "ssh",
        "ansible_host": "127.0.0.1",
        "ansible_port": 1,
        "ansible_ssh_common_args": "-o ConnectTimeout=5",
    },
    "odd": {"inventory_hostname": "odd", "ansible_connection": "pigeon"},
}


@pytest.fixture(scope="module", autouse=True)
def _plugins() -> None:
    init_plugin_loader()


@pytest.fixture
def connections() -> HostConnections:
    return HostConnections(PlayContext(), HOSTVARS)


def test_stdin_goes_in_and_output_and_status_come_back(connections: HostConnections) -> None:
    outcomes = connections.run([Command("a", "cat; echo oops >&2; exit 3", b"text")], 60)
    assert (outcomes["a"].status, outcomes["a"].stdout) == (3, b"text")
    assert outcomes["a"].stderr == b"oops\n"


def test_hosts_are_driven_at_once(connections: HostConnections, tmp_path: Path) -> None:
    # Two ends of a pipe wait for each other: one after the other they would never end.
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    commands = [Command("a", f"echo hello > {pipe}"), Command("b", f"cat {pipe}")]
    outcomes = connections.run(commands, 60)
    assert outcomes["a"].status == 0
    assert outcomes["b"].stdout == b"hello\n"


def test_deadline_is_kept_and_the_others_answers_too(connections: HostConnections) -> None:
    for deadline_s in (0.5, 5, 20):  # a busy machine needs more time for the quick one, too
        outcomes = connections.run(
            [Command("a", "sleep 60"), Command("b", "echo done")], deadline_s
        )
        assert outcomes["a"].failure == "timeout"
        if outcomes["b"].failure is None:
            break
    assert outcomes["b"].stdout == b"done\n"


def test_idle_hosts_are_called_while_others_are_busy(
    connections: HostConnections, tmp_path: Path
) -> None:
    busy: list[set[str]] = []
    called = tmp_path / "called"

    def tick(hosts: set[str]) -> list[Command]:
        busy.append(set(hosts))
        return [Command("b", f"touch {called}")]

    waiting = Command("a", f"until [ -e {called} ]; do sleep 0.05; done")
    outcomes = connections.run([waiting], 60, every_s=0.1, tick=tick)
    assert outcomes["a"].status == 0
    assert busy[0] == {"a"}


class Shown:
    """Stands for Ansible's display; the file appears with the second line."""

    def __init__(self, second: Path) -> None:
        self._second = second
        self.lines: list[str] = []

    def display(self, line: str) -> None:
        self.lines.append(line)
        if len(self.lines) == 2:
            self._second.touch()


@pytest.mark.parametrize("expected_s", [0, 0.3])
def test_a_long_wait_names_phase_host_and_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, expected_s: float
) -> None:
    shown = Shown(tmp_path / "second")
    monkeypatch.setattr(wait_notice, "_display", shown)
    monkeypatch.setattr(wait_notice, "SHOWN_AFTER_S", 0.1)
    connections = HostConnections(PlayContext(), HOSTVARS, "Recover")
    slow = f"until [ -e {tmp_path}/second ]; do sleep 0.05; done"
    commands = [Command("a", slow, what="cache-controller recover"), Command("b", "true")]
    outcomes = connections.run(commands, 60, expected_s=expected_s)
    assert outcomes["a"].status == 0, "two lines were never shown"
    assert len(shown.lines) >= 2
    for line in shown.lines[1:]:  # at the first one a busy machine may not have run b either
        assert line.startswith("Recover: waiting for a (cache-controller recover), for ")
        assert line.endswith(" s; at most 60 s")


def test_a_wait_that_is_no_longer_than_expected_is_not_told(
    connections: HostConnections, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shown = Shown(tmp_path / "second")
    monkeypatch.setattr(wait_notice, "_display", shown)
    monkeypatch.setattr(wait_notice, "SHOWN_AFTER_S", 0)
    connections.run([Command("a", "true")], 60, expected_s=59)
    assert shown.lines == []


@pytest.mark.parametrize(
    ("host", "message"), [("far", "Connection refused"), ("odd", "no connection plugin 'pigeon'")]
)
def test_a_host_that_cannot_be_reached(
    connections: HostConnections, host: str, message: str
) -> None:
    outcome = connections.run([Command(host, "true"), Command("a", "true")], 60)[host]
    assert (outcome.failure, outcome.status) == ("unreachable", None)
    assert message in outcome.message


def test_commands_run_as_another_user_where_the_inventory_says_so(tmp_path: Path) -> None:
    # Stands for sudo: notes what it is asked for, and runs the shell behind its options.
    sudo = tmp_path / "sudo"
    sudo.write_text(
        f'#!/bin/sh\necho "$*" >>{tmp_path}/asked\n'
        'while [ "$1" != /bin/sh ]; do shift; done\nexec "$@"\n'
    )
    sudo.chmod(stat.S_IRWXU)
    host = {
        "inventory_hostname": "a",
        "ansible_connection": "local",
        "ansible_become": True,
        "ansible_become_exe": str(sudo),
    }
    hostvars = {"a": host, "b": host | {"inventory_hostname": "b", "ansible_become": "false"}}
    connections = HostConnections(PlayContext(), hostvars)
    outcomes = connections.run([Command("a", "cat", b"text"), Command("b", "cat", b"more")], 60)
    assert (outcomes["a"].status, outcomes["a"].stdout) == (0, b"text"), outcomes["a"]
    assert outcomes["b"].stdout == b"more"
    (asked,) = (tmp_path / "asked").read_text().splitlines()
    assert "-u root" in asked and "cat" in asked


def test_hosts_that_cannot_be_reached_are_all_named() -> None:
    variables = hostvars()
    for name, host in variables.items():
        host |= {"inventory_hostname": name, "ansible_connection": "local"}
    testbed = read_testbed(variables, GROUPS)
    require_reachable(HostConnections(PlayContext(), variables), testbed)
    for name in ("sender1", "switch0"):
        variables[name] |= {"ansible_connection": "pigeon"}
    with pytest.raises(PhaseError) as raised:
        require_reachable(HostConnections(PlayContext(), variables), testbed)
    first, others = str(raised.value).splitlines()
    assert first.startswith("host switch0: ")
    assert others == "nor can be reached: sender1"
    assert raised.value.failure_class == "unreachable"


class OneAtATime:
    """Stands for a connection: whether it was given a command while it carried out another."""

    become = None

    def __init__(self, began: Event, end: Event) -> None:
        self._began, self._end = began, end
        self._free = Lock()
        self.was_shared = False

    def exec_command(self, line: str, in_data: bytes, sudoable: bool) -> tuple[int, bytes, bytes]:
        self.was_shared |= not self._free.acquire(blocking=False)
        if line == "renew":
            self._began.set()
            self._end.wait(60)
        elif line == "wait":
            self._began.wait(60)
        self._free.release()
        return 0, b"", b""


def test_a_command_that_outlives_its_phase_keeps_its_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    began, end, opened = Event(), Event(), []

    def open_one(self: HostConnections, host: str) -> OneAtATime:
        opened.append(OneAtATime(began, end))
        return opened[-1]

    monkeypatch.setattr(HostConnections, "_open", open_one)
    connections = HostConnections(PlayContext(), HOSTVARS, "wait")
    renewals = iter([[Command("b", "renew")]])
    connections.run([Command("a", "wait")], 60, every_s=0.01, tick=lambda busy: next(renewals, []))
    outcomes = connections.during("collect").run([Command("b", "collect")], 60)
    end.set()
    assert outcomes["b"].status == 0
    assert not any(connection.was_shared for connection in opened)
    # What is free is used again.
    connections.run([Command("a", "collect")], 60)
    assert len(opened) == 3
