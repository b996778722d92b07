"""Which key a host is known by."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from turntable_ssh.known_hosts import (
    Host,
    HostKeyError,
    decide,
    fingerprint,
    parse,
    render,
    scan_batches,
)


def key_of(path: Path) -> str:
    """A new key, by OpenSSH."""
    command = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "a comment", "-f", str(path)]
    subprocess.run(command, check=True)
    return " ".join(path.with_suffix(".pub").read_text().split()[:2])


@pytest.fixture
def keys(tmp_path: Path) -> tuple[str, str]:
    return key_of(tmp_path / "one"), key_of(tmp_path / "two")


def test_fingerprint_is_the_one_that_ssh_keygen_prints(tmp_path: Path) -> None:
    key = key_of(tmp_path / "key")
    listed = subprocess.run(
        ["ssh-keygen", "-l", "-f", str(tmp_path / "key.pub")],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert fingerprint(key) == listed.split()[1]


def test_file_is_read_by_ssh_keygen_too(tmp_path: Path, keys: tuple[str, str]) -> None:
    hosts = [Host("a", "192.0.2.1", key=f"{keys[0]} root@a"), Host("b", "rack-b", 2222, keys[1])]
    file = tmp_path / "known_hosts"
    file.write_text(render(decide(hosts, {}, {}, set())))
    for pattern, key in (("192.0.2.1", keys[0]), ("[rack-b]:2222", keys[1])):
        found = subprocess.run(
            ["ssh-keygen", "-F", pattern, "-f", str(file)],
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        assert key in found
    assert parse(file.read_text()) == {"192.0.2.1": keys[0], "[rack-b]:2222": keys[1]}


@pytest.mark.parametrize(
    ("known", "shown", "source"), [(None, 0, "new"), (0, 0, "known"), (1, 0, "changed")]
)
def test_a_host_that_shows_its_key(
    keys: tuple[str, str], known: int | None, shown: int, source: str
) -> None:
    before = {} if known is None else {"192.0.2.1": keys[known]}
    (decision,) = decide(
        [Host("a", "192.0.2.1")], before, {"192.0.2.1": keys[shown]}, accept_changed={"a"}
    )
    assert (decision.key, decision.source) == (keys[shown], source)


def test_changed_silent_and_malformed_keys_are_refused_together(keys: tuple[str, str]) -> None:
    hosts = [
        Host("moved", "192.0.2.1"),
        Host("silent", "192.0.2.2", 2222),
        Host("odd", "192.0.2.3", key="ssh-rsa AAAA"),
    ]
    with pytest.raises(HostKeyError) as raised:
        decide(hosts, {"192.0.2.1": keys[0]}, {"192.0.2.1": keys[1]}, accept_changed={"other"})
    moved, silent, odd = str(raised.value).splitlines()
    assert f"its key is {fingerprint(keys[1])}; expected {fingerprint(keys[0])}" in moved
    assert "-e ssh_access_accept_changed=moved" in moved
    assert "host silent: no ssh-ed25519 key from 192.0.2.2 port 2222" in silent
    assert "host odd: turntable_ssh_host_key 'ssh-rsa AAAA' is no key" in odd


def test_hosts_are_asked_together_per_port() -> None:
    hosts = [Host("a", "192.0.2.1"), Host("b", "192.0.2.2", 2222), Host("c", "192.0.2.3")]
    assert scan_batches(hosts) == [(22, ["192.0.2.1", "192.0.2.3"]), (2222, ["192.0.2.2"])]
