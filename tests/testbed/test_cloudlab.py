"""Inventories of CloudLab: a manifest and a wiring table."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from turntable_core import cloudlab

REPOSITORY = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent / "cloudlab"
MANIFEST, WIRING = HERE / "manifest.xml", HERE / "wiring.csv"


def made(tmp_path: Path, manifest: str | None = None, wiring: str | None = None) -> tuple[int, str]:
    """Status, and what hosts.yml became."""
    files = []
    for name, text, given in (("m.xml", manifest, MANIFEST), ("w.csv", wiring, WIRING)):
        files.append(tmp_path / name)
        files[-1].write_text(given.read_text() if text is None else text)
    output = tmp_path / "hosts.yml"
    status = cloudlab.main([*map(str, files), "--output", str(output)])
    return status, output.read_text() if output.exists() else ""


def test_hosts_are_what_manifest_and_table_say(tmp_path: Path) -> None:
    status, text = made(tmp_path)
    assert status == 0
    hosts = yaml.safe_load(text)
    assert hosts["all"]["vars"]["turntable_data_network"] == "10.10.1.0/24"
    groups = hosts["testbed"]["children"]["endpoints"]["children"]
    assert groups["clients"]["hosts"]["client0"] == {
        "ansible_host": "clnode201.example.net",
        "ansible_port": 22,
        "ansible_user": "alice",
        "turntable_data_address": "10.10.1.1",
        "turntable_data_mac": "02:00:0a:00:04:0b",
        "turntable_data_interface": "enp94s0f0",
    }
    assert list(groups["servers"]["hosts"]) == ["server0", "server1"]
    assert groups["servers"]["hosts"]["server1"]["turntable_data_mac"] == "02:00:0a:00:04:1f"
    assert "2 c6420" in text
    assert "1 c6220" in text


def test_the_shipped_example_is_made_of_the_fixtures(tmp_path: Path) -> None:
    assert (REPOSITORY / "inventories/cloudlab/hosts.yml").read_text() == made(tmp_path)[1]


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            "node-2,",
            "node-9,",
            "line 4, node 'node-9': there is no node 'node-9'; expected one of node-0",
        ),
        (
            "server1,lan-0",
            "server1,lan-9",
            "there is no link 'lan-9'; expected one of lan-0, link-1",
        ),
        ("server1,lan-0", "server1,link-1", "it has 0 interfaces at link 'link-1'; expected one"),
        (
            "server0,lan-0",
            "server0,link-1",
            "line 3: its link has network 10.10.2.0/24; expected 10.10.1.0/24",
        ),
        ("server1,", "server0,", "w.csv:4: host 'server0' is in line 3 too"),
        ("node-2,", "node-1,", "w.csv:4: node 'node-1' is in line 3 too"),
        ("clients", "Clients", "w.csv:2: role 'Clients'; expected a group such as clients"),
        ("enp129s0f0", "", "w.csv:4: nic ''; expected an interface's name"),
        (",enp129s0f0", "", "w.csv:4: expected 5 fields"),
        (
            "node,role",
            "host,role",
            "w.csv:1: host,role,host,link,nic; expected the columns node,role",
        ),
    ],
)
def test_a_table_that_does_not_fit_is_refused(
    tmp_path: Path, old: str, new: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made(tmp_path, wiring=WIRING.read_text().replace(old, new)) == (2, "")
    error = capsys.readouterr().err
    assert says in error


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'type="manifest"',
            'type="request"',
            "of type request; expected an rspec of type manifest",
        ),
        ("</rspec>", "", "expected a manifest in XML"),
        ("02000a000415", "nothing", "its mac_address is 'nothing'; expected 12 hex digits"),
        ('address="10.10.1.2" ', "", "says no IPv4 address"),
        (
            '<login authentication="ssh-keys" hostname="clnode202',
            '<other hostname="x',
            "it has no login",
        ),
        ("<rspec", '<!DOCTYPE r [<!ENTITY a "b">]><rspec', "has a DOCTYPE; expected none"),
    ],
)
def test_a_manifest_that_does_not_say_it_is_refused(
    tmp_path: Path, old: str, new: str, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert made(tmp_path, manifest=MANIFEST.read_text().replace(old, new)) == (2, "")
    assert says in capsys.readouterr().err


def test_nodes_that_take_no_part_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = WIRING.read_text().splitlines(keepends=True)
    status, text = made(tmp_path, wiring="".join(lines[:3]))
    assert status == 0
    assert "server1" not in text
    assert "left out: node-2" in capsys.readouterr().err


def test_a_file_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cloudlab.main([str(tmp_path / "none.xml"), str(WIRING)]) == 2
    assert "none.xml" in capsys.readouterr().err
