"""Commands on several hosts at once, through Ansible's own connection plugins."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest
from ansible.playbook.play_context import PlayContext
from ansible.plugins.loader import init_plugin_loader

from turntable_core.connections import Command, HostConnections

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
