"""The connection plugin, as Ansible and as an action plugin's threads use it."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from ansible import constants
from ansible.errors import AnsibleConnectionFailure
from ansible.playbook.play_context import PlayContext
from ansible.plugins.connection import ConnectionBase
from ansible.plugins.loader import connection_loader
from ansible.utils.vars import load_extra_vars

from .conftest import REPOSITORY, Testbed


def connect(namespace: str, **variables: object) -> ConnectionBase:
    connection_loader.add_directory(str(REPOSITORY / "plugins/connection"))
    connection = connection_loader.get("netns", PlayContext())
    connection.set_options(
        var_options={"inventory_hostname": "nobody", "ansible_netns_name": namespace, **variables}
    )
    return connection


def test_commands_run_in_the_namespace(running: Testbed) -> None:
    connection = connect(running.namespace("client0"))
    status, out, _ = connection.exec_command("readlink /proc/self/ns/net; exit 3")
    inode = Path("/run/netns", running.namespace("client0")).stat().st_ino
    assert (status, out.strip()) == (3, f"net:[{inode}]".encode())


def test_standard_input_quotes_and_streams_arrive_as_they_are(running: Testbed) -> None:
    connection = connect(running.namespace("client0"))
    status, out, err = connection.exec_command(
        """cat; echo 'it''s "$HOME" \\ ' >&2""", in_data=b"line\n\x00\xff"
    )
    assert (status, out, err) == (0, b"line\n\x00\xff", b'its "$HOME" \\ \n')


def test_only_the_network_is_another_one(running: Testbed) -> None:
    """`ip netns exec` would have mounted another /sys in a mount namespace of its own."""
    connection = connect(running.namespace("client0"))
    _, out, _ = connection.exec_command("readlink /proc/self/ns/mnt")
    assert out.decode().strip() == str(Path("/proc/self/ns/mnt").readlink())


def test_files_are_copied_both_ways(running: Testbed, tmp_path: Path) -> None:
    connection = connect(running.namespace("client0"))
    source, there, back = (tmp_path / name for name in ("source", "there", "back"))
    source.write_bytes(os.urandom(1 << 16))
    connection.put_file(str(source), str(there))
    connection.fetch_file(str(there), str(back))
    assert back.read_bytes() == source.read_bytes()


def test_each_thread_stays_in_its_own_namespace(running: Testbed) -> None:
    hosts = ["client0", "server0", "switch0", "ctl"] * 8

    def inode(host: str) -> str:
        _, out, _ = connect(running.namespace(host)).exec_command("readlink /proc/self/ns/net")
        return out.decode().strip()

    with ThreadPoolExecutor(8) as pool:
        seen = list(pool.map(inode, hosts))
    assert seen == [
        f"net:[{Path('/run/netns', running.namespace(host)).stat().st_ino}]" for host in hosts
    ]


def test_a_missing_namespace_says_what_to_do(testbed: Testbed) -> None:
    name = testbed.namespace("client0")
    with pytest.raises(AnsibleConnectionFailure, match=rf"{name}.*playbooks/testbed_up\.yml"):
        connect(name).exec_command("true")


@pytest.mark.parametrize(
    ("inventory", "command"),
    [
        ("embedded", "ansible-playbook playbooks/testbed_up.yml"),  # the default of ansible.cfg
        (
            "embedded-hosts",
            "ansible-playbook -i inventories/embedded-hosts playbooks/testbed_up.yml",
        ),
    ],
)
def test_a_missing_namespace_says_the_command_of_its_inventory(
    monkeypatch: pytest.MonkeyPatch, inventory: str, command: str
) -> None:
    monkeypatch.chdir(REPOSITORY)
    monkeypatch.setattr(constants, "DEFAULT_HOST_LIST", [f"{REPOSITORY}/inventories/embedded"])
    sources = [f"{REPOSITORY}/inventories/{inventory}"]
    with pytest.raises(AnsibleConnectionFailure, match=rf"testbed up: {command}$"):
        connect("there-is-none", ansible_inventory_sources=sources).exec_command("true")


def test_a_missing_namespace_says_the_command_of_its_testbed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given = {"turntable_testbed_id": "tb", "profile": "smoke"}
    monkeypatch.setattr(load_extra_vars, "extra_vars", given, raising=False)
    with pytest.raises(AnsibleConnectionFailure, match=r"up\.yml -e turntable_testbed_id=tb$"):
        connect("there-is-none").exec_command("true")


def test_pipelining_is_declared() -> None:
    assert connect("any").has_pipelining
