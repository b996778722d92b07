"""testbed_up, testbed_down and stop, through Ansible."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import yaml

from .conftest import REPOSITORY, Testbed

EMPTY = {
    "namespaces": [],
    "links": [],
    "qdiscs": [],
    "processes": [],
    "mounts": [],
    "directories": [],
}
HOSTS = ("ctl", "switch0", "client0", "client1", "server0", "server1")


def changed(output: str) -> int:
    """The number in Ansible's recap."""
    return int(re.search(r"changed=(\d+)", output).group(1))


def ip(testbed: Testbed, host: str, *arguments: str) -> str:
    command = ["ip", "-n", testbed.namespace(host), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def start_in(testbed: Testbed, host: str, program: str) -> subprocess.Popen[str]:
    """A Python program in a namespace, once it has printed a line."""
    process = subprocess.Popen(
        testbed.inside(host, sys.executable, "-c", program), stdout=subprocess.PIPE, text=True
    )
    process.stdout.readline()
    return process


def test_up_makes_every_namespace_and_down_leaves_nothing(testbed: Testbed) -> None:
    before = testbed.fingerprint()
    assert before == EMPTY
    up = testbed.playbook("testbed_up")
    assert up.returncode == 0, up.stdout
    listed = subprocess.run(["ip", "netns"], check=True, capture_output=True, text=True).stdout
    assert {testbed.namespace(host) for host in HOSTS} <= {
        line.split()[0] for line in listed.splitlines()
    }
    assert all(testbed.fingerprint()[kind] for kind in EMPTY if kind != "processes")

    down = testbed.playbook("testbed_down")
    assert down.returncode == 0, down.stdout
    assert testbed.fingerprint() == before
    assert Path(f"/var/lib/turntable/{testbed.id}/server0").is_dir()  # stores are kept

    assert testbed.playbook("testbed_down", "-epurge=true").returncode == 0
    assert not Path(f"/var/lib/turntable/{testbed.id}").exists()


def write_hosts(inventory: Path, roles: dict[str, list[str]]) -> None:
    """A copy of the embedded inventory with these hosts at the switch's ports."""
    shutil.copytree(REPOSITORY / "inventories/embedded", inventory)
    document = yaml.safe_load((inventory / "hosts.yml").read_text())
    ports = {host: port for port, host in enumerate(h for names in roles.values() for h in names)}
    document["testbed"]["children"]["endpoints"]["children"] = {
        role: {
            "hosts": {
                host: {"turntable_index": 11 + ports[host], "turntable_switch_port": ports[host]}
                for host in names
            }
        }
        for role, names in roles.items()
    }
    (inventory / "hosts.yml").write_text(yaml.safe_dump(document))


def test_up_makes_as_many_hosts_of_as_many_roles_as_the_inventory_names(
    testbed: Testbed, tmp_path: Path
) -> None:
    roles = {"workers": ["w0", "w1", "w2"], "loads": ["l0", "l1"], "coordinators": ["c0"]}
    write_hosts(tmp_path / "inventory", roles)
    up = testbed.playbook("testbed_up", "-i", str(tmp_path / "inventory"))
    assert up.returncode == 0, up.stdout
    for host in (host for names in roles.values() for host in names):
        neighbours = ip(
            testbed, host, "neigh", "show", "dev", f"{testbed.id}-data", "nud", "permanent"
        )
        assert len(neighbours.splitlines()) == 5, host
    ports = re.findall(rf"{testbed.id}-p\d+", ip(testbed, "switch0", "link"))
    assert sorted(set(ports)) == [f"{testbed.id}-p{port}" for port in range(6)]
    assert testbed.playbook("testbed_down").returncode == 0
    assert testbed.fingerprint() == EMPTY


def test_hosts_without_a_switch_share_a_bridge_of_the_testbeds_own(testbed: Testbed) -> None:
    up = testbed.playbook("testbed_up", "-i", "inventories/embedded-hosts")
    assert up.returncode == 0, up.stdout
    assert not Path("/run/netns", testbed.namespace("switch0")).exists()
    address = testbed.data_network.removesuffix("0/24") + "21"
    assert echo(testbed, "server0", "client0", address) == "b'hello'"
    # As far away as any other host: over the bridge, not through the controller's network.
    assert "dev " + testbed.id + "-data" in ip(testbed, "client0", "route", "get", address)
    assert testbed.playbook("testbed_down", "-i", "inventories/embedded-hosts").returncode == 0
    assert testbed.fingerprint() == EMPTY


def test_second_up_changes_nothing_and_check_mode_touches_nothing(testbed: Testbed) -> None:
    check = testbed.playbook("testbed_up", "--check", "--diff")
    assert check.returncode == 0, check.stdout
    assert f"+{testbed.namespace('client0')}: veth {testbed.id}-data" in check.stdout
    assert testbed.fingerprint() == EMPTY

    assert changed(testbed.playbook("testbed_up").stdout) == 1
    fingerprint = testbed.fingerprint()
    again = testbed.playbook("testbed_up", "--diff")
    assert (again.returncode, changed(again.stdout)) == (0, 0)
    assert "+++" not in again.stdout

    assert changed(testbed.playbook("testbed_down", "--check").stdout) == 1
    assert testbed.fingerprint() == fingerprint


def test_data_links_are_ready_for_a_switch_on_packet_sockets(testbed: Testbed) -> None:
    assert testbed.playbook("testbed_up").returncode == 0
    prefix = testbed.data_network.removesuffix("0/24")
    data = f"{testbed.id}-data"
    assert f"inet {prefix}11/24" in ip(testbed, "client0", "addr", "show", data)
    neighbours = ip(testbed, "client0", "neigh", "show", "dev", data).splitlines()
    # The MAC of an address a.b.c.d is 02:00 and a, b, c, d in hexadecimal.
    octets = [int(part) for part in f"{prefix}22".split(".")]
    mac = "02:00:" + ":".join(f"{octet:02x}" for octet in octets)
    assert any(line.split() == [f"{prefix}22", "lladdr", mac, "PERMANENT"] for line in neighbours)
    assert len(neighbours) == 3

    ports = [f"{testbed.id}-{suffix}" for suffix in ("p0", "p1", "p2", "p3", "cpu", "cpuctl")]
    for host, device in [("client0", data), *(("switch0", port) for port in ports)]:
        features = subprocess.run(
            testbed.inside(host, "ethtool", "-k", device),
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for feature in (
            "tx-checksumming",
            "tx-tcp-segmentation",
            "generic-segmentation-offload",
            "generic-receive-offload",
        ):
            assert re.search(rf"^\s*{feature}: off", features, re.MULTILINE), (device, feature)
        assert "inet6" not in ip(testbed, host, "addr", "show", device)


def test_control_network_joins_all_hosts(testbed: Testbed) -> None:
    assert testbed.playbook("testbed_up").returncode == 0
    address = testbed.control_network.removesuffix("0/24") + "22"
    assert echo(testbed, "server1", "ctl", address) == "b'hello'"


def echo(testbed: Testbed, listener: str, sender: str, address: str) -> str:
    """What the listener sends back over TCP, which needs right checksums."""
    server = start_in(
        testbed,
        listener,
        "import socket; s = socket.create_server(('0.0.0.0', 7)); print('ready', flush=True);"
        "c, _ = s.accept(); c.sendall(c.recv(5))",
    )
    client = (
        "import socket, sys; c = socket.create_connection((sys.argv[1], 7), 30);"
        "c.sendall(b'hello'); print(c.recv(5))"
    )
    answer = subprocess.run(
        testbed.inside(sender, sys.executable, "-c", client, address),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert server.wait(60) == 0
    return answer.stdout.strip()


def test_nothing_appears_in_the_machines_own_namespace(testbed: Testbed) -> None:
    monitor = subprocess.Popen(
        ["ip", "monitor", "link", "address", "neigh"], stdout=subprocess.PIPE, text=True
    )
    try:
        assert testbed.playbook("testbed_up").returncode == 0
        assert testbed.playbook("testbed_down").returncode == 0
    finally:
        monitor.terminate()
        seen, _ = monitor.communicate(timeout=60)
    assert f"{testbed.id}-" not in seen


def test_stop_ends_processes_and_keeps_the_network(testbed: Testbed) -> None:
    assert testbed.playbook("testbed_up").returncode == 0
    network = testbed.fingerprint()["links"]
    process = start_in(
        testbed, "server0", "import signal; print('ready', flush=True); signal.pause()"
    )
    stop = testbed.playbook("stop")
    assert stop.returncode == 0, stop.stdout
    assert process.wait(60) == -signal.SIGTERM
    assert testbed.fingerprint()["links"] == network
    assert changed(testbed.playbook("stop").stdout) == 0


def test_killed_up_is_removed_by_down_and_repaired_by_up(testbed: Testbed) -> None:
    before = testbed.fingerprint()
    for finish in ("testbed_down", "testbed_up"):
        interrupt_up(testbed)
        result = testbed.playbook(finish)
        assert result.returncode == 0, result.stdout
        if finish == "testbed_down":
            assert testbed.fingerprint() == before
    assert changed(testbed.playbook("testbed_up").stdout) == 0


def test_down_removes_the_name_of_an_interrupted_creation(testbed: Testbed) -> None:
    """An empty file in /run/netns: named, but its namespace not yet mounted on it."""
    name = Path("/run/netns", testbed.namespace("client0"))
    name.parent.mkdir(exist_ok=True)
    name.touch()
    assert testbed.playbook("testbed_down", "--check").returncode == 0
    assert name.exists()
    assert changed(testbed.playbook("testbed_down").stdout) == 1
    assert testbed.fingerprint() == EMPTY


def interrupt_up(testbed: Testbed) -> None:
    """SIGKILL to the playbook as soon as the first namespace is there.

    Ansible's workers have sessions of their own: the module may go on for a moment, as it may for
    a user whose terminal is gone.
    """
    process = subprocess.Popen(
        testbed.command("testbed_up"),
        cwd=REPOSITORY,
        stdout=subprocess.DEVNULL,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not list(Path("/run/netns").glob(f"{testbed.id}-*")):
        assert time.monotonic() < deadline, "testbed_up made no namespace"
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def test_foreign_namespace_of_the_same_name_is_an_error_and_stays(testbed: Testbed) -> None:
    name = testbed.namespace("client1")
    subprocess.run(["ip", "netns", "add", name], check=True)
    subprocess.run(["ip", "-n", name, "link", "add", "theirs", "type", "bridge"], check=True)
    up = testbed.playbook("testbed_up")
    assert up.returncode != 0
    assert f"namespace {name} exists and belongs to something else" in up.stdout
    assert f"ip netns delete {name}" in up.stdout
    assert testbed.playbook("testbed_down").returncode == 0
    assert "theirs" in ip(testbed, "client1", "link")
    assert testbed.fingerprint()["namespaces"] == [f"/run/netns/{name}"]


@contextmanager
def interface_in(network: str) -> Iterator[str]:
    """An interface of the machine itself with an address of `network`, and nothing behind it."""
    name = f"own{os.getpid()}"
    address = network.replace(".0/", ".9/")
    subprocess.run(["ip", "link", "add", name, "type", "bridge"], check=True)
    try:
        subprocess.run(["ip", "address", "add", address, "dev", name], check=True)
        yield name
    finally:
        subprocess.run(["ip", "link", "delete", name], check=True)


def test_networks_of_this_machine_and_of_other_testbeds_are_refused(testbed: Testbed) -> None:
    with interface_in(testbed.data_network) as name:
        own = testbed.playbook("testbed_up")
    assert own.returncode != 0
    network = testbed.data_network
    assert (
        f"turntable_data_network {network} overlaps {network} (address of {name}" in own.stdout
    ), own.stdout
    assert testbed.fingerprint() == EMPTY

    other = Testbed("x" + testbed.id[1:], testbed.data_network, testbed.control_network)
    assert testbed.playbook("testbed_up").returncode == 0
    refused = other.playbook("testbed_up")
    assert refused.returncode != 0
    assert f"overlaps {testbed.data_network} (testbed '{testbed.id}')" in refused.stdout
    assert other.fingerprint() == EMPTY


PARTS_OF_OTHERS = ("check_inventory.yml", "require_free_testbed.yml")


def test_every_playbook_that_uses_a_testbed_checks_the_inventory_first() -> None:
    without_testbed = set()
    for path in REPOSITORY.glob("playbooks/**/*.yml"):
        if path.name in PARTS_OF_OTHERS or "tasks" in path.parts:
            continue
        plays = yaml.safe_load(path.read_text())
        if all(play.get("hosts") == "localhost" for play in plays):
            without_testbed.add(path.name)
            continue
        first = plays[0]
        imported = first.get("ansible.builtin.import_playbook", "")
        chained = path.parent / imported
        assert imported, f"{path} begins with {first.get('name')}"
        assert chained.name == "check_inventory.yml" or "check_inventory" in chained.read_text()
    # Analysis and comparison work from raw files alone, whatever state testbed and inventory are
    # in; the doctor checks the inventory itself and goes on; a program's resources are read from
    # the compiler's report.
    assert without_testbed == {"analyze.yml", "compare.yml", "doctor.yml", "exp10_resources.yml"}
