"""provision.yml and unprovision.yml on two machines."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .conftest import DEADLINE_S, RECORD, REPOSITORY, Rack, changes, sentences

MADE = 20  # settings at least, of SETTINGS and of the network


@pytest.fixture
def provisioned(one: Rack) -> Rack:
    one.played("provision")
    return one


def test_twice_and_back_as_another_user(rack: Rack) -> None:
    before = rack.fingerprints()
    first = rack.played("provision")
    assert "no clock service on this emulated host: its clock is not checked" in sentences(first)
    server = rack.server
    assert server.run("sysctl", "-n", "net.core.somaxconn").strip() == "1234"
    assert "mtu 1400" in server.run("ip", "link", "show", "data0")
    assert "198.18.0.21/24" in server.run("ip", "-4", "address", "show", "data0")
    neighbours = server.run("ip", "neigh", "show", "dev", "data0", "nud", "permanent").split()
    assert neighbours == ["198.18.0.11", "lladdr", "02:00:00:00:00:0b", "PERMANENT"]
    assert "tx-checksumming: off" in server.run("ethtool", "-k", "data0")
    assert re.search(r"hardware settings:\nRX:\s+1\nTX:\s+1", server.run("ethtool", "-l", "data0"))
    assert [server.read(f"/proc/irq/{n}/smp_affinity_list") for n in (40, 41, 42)] == [*"010"]
    assert not server.exists("/tmp/service/irqbalance")
    assert "* - nofile 4096" in server.read("/etc/security/limits.d/90-turntable.conf")
    limit = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    login = server.run("su", "-", "rackuser", "-c", f'python3 -c "{limit}"')
    assert login.strip() == "(4096, 4096)"
    assert server.run("dpkg-query", "-f", "${db:Status-Status}", "-W", "turntable-test-library")
    assert server.exists("/opt/turntable/bin/supervisor")
    assert server.run("stat", "-c", "%a", "/var/lib/turntable/rack/server0").strip() == "700"
    # Through the cable, with what both ends know of each other.
    assert heard(rack) == "hello"

    provisioned = rack.fingerprints()
    second = rack.played("provision", "--diff", "--tags", "provision", "-v")
    assert changes(second) == {"client0": 0, "server0": 0}, second
    assert "+++" not in second
    for thing in ("Set kernel parameters", "Set queues (ethtool -L)", "Bring the NIC up"):
        assert thing in second, "tasks are named with -v"
    assert "TASK [Check the inventory against inventories/schema]" in second
    assert rack.fingerprints() == provisioned

    back = rack.played("unprovision")
    assert changes(back) == {"client0": 1, "server0": 1}
    assert rack.fingerprints() == before
    again = rack.played("unprovision")
    assert changes(again) == {"client0": 0, "server0": 0}


def heard(rack: Rack) -> str:
    """What the server hears of the client, by UDP and the addresses that they were given."""
    listen = "import socket; s = socket.socket(type=socket.SOCK_DGRAM); s.bind(('198.18.0.21', 9));"
    listen += "s.settimeout(60); print('ready', flush=True); print(s.recv(9).decode())"
    program = rack.server.inside("/usr/bin/python3", "-c", listen)
    with subprocess.Popen(program, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout.readline() == "ready\n"
        say = "import socket; s = socket.socket(type=socket.SOCK_DGRAM);"
        say += "s.sendto(b'hello', ('198.18.0.21', 9))"
        rack.client.run("/usr/bin/python3", "-c", say)
        return server.stdout.readline().strip()


@pytest.mark.long
def test_check_mode_changes_nothing_and_says_what_would_be(rack: Rack) -> None:
    rack.write_inventory(user="root")
    rack.server.run("apt-get", "update")
    before = rack.fingerprints()
    foretold = rack.played("provision", "--check", "--diff", "--limit", "server0")
    assert rack.fingerprints() == before
    done = rack.played("provision", "--diff", "--limit", "server0")
    assert lines_of_diff(foretold) == lines_of_diff(done)
    assert len(lines_of_diff(done)) > 2 * MADE
    provisioned = rack.fingerprints()
    foretold = rack.played("unprovision", "--check", "--diff", "--limit", "server0")
    assert rack.fingerprints() == provisioned
    done = rack.played("unprovision", "--diff", "--limit", "server0")
    assert lines_of_diff(foretold) == lines_of_diff(done)
    assert rack.fingerprints() == before


def lines_of_diff(output: str) -> list[str]:
    """Without those of files that are staged."""
    return [line for line in output.splitlines() if re.match(r"[-+](?![-+])", line)]


@pytest.mark.long
def test_a_limit_leaves_other_hosts_alone_and_is_checked_all_the_same(rack: Rack) -> None:
    before = rack.client.fingerprint()
    output = rack.played("provision", "--limit", "server0")
    assert list(changes(output)) == ["server0"]
    assert "TASK [host_settings" not in output, "tasks are named with -v, or where they differ"
    assert rack.client.fingerprint() == before
    rack.write_inventory(turntable_nic_pause={"rx": "perhaps"})
    refused = rack.play("provision", "--limit", "server0")
    assert refused.returncode != 0
    assert "turntable_nic_pause.rx is 'perhaps'; expected autoneg, rx and tx" in sentences(
        refused.stdout
    )


@pytest.mark.long
@pytest.mark.parametrize("entries", [1, 14])
def test_an_interrupted_provisioning_can_be_undone(one: Rack, entries: int) -> None:
    """Killed as soon as the record of one machine has so many entries."""
    before = one.fingerprints()
    play = subprocess.Popen(
        one.command("provision"), cwd=REPOSITORY, stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.STDOUT, start_new_session=True,
    )  # fmt: skip
    limit = time.monotonic() + 4 * DEADLINE_S
    while count(one) < entries and play.poll() is None:
        assert time.monotonic() < limit
        time.sleep(0.02)
    os.killpg(play.pid, signal.SIGKILL)
    play.wait()
    assert one.fingerprints() != before
    one.played("unprovision")
    assert one.fingerprints() == before


def count(one: Rack) -> int:
    if not one.server.exists(RECORD):
        return 0
    return len(json.loads(one.server.read(RECORD))["entries"])


@pytest.mark.long
def test_what_somebody_has_changed_since_is_not_overwritten(provisioned: Rack) -> None:
    rack = provisioned
    ours = rack.fingerprints()
    rack.server.run("sysctl", "-q", "-w", "net.core.somaxconn=999")
    rack.server.run("ip", "link", "set", "data0", "mtu", "1450")
    theirs = rack.fingerprints()
    refused = rack.play("provision")
    assert refused.returncode != 0
    said = sentences(refused.stdout)
    assert "sysctl net.core.somaxconn is 999; expected 1234, as provision.yml set it" in said
    assert "-e changed_settings=overwrite sets them again" in said
    assert rack.fingerprints() == theirs

    kept = rack.played("provision", "-e", "changed_settings=keep")
    assert changes(kept) == {"server0": 0}
    assert "sysctl net.core.somaxconn: 999 is kept as somebody set it" in sentences(kept)
    assert rack.fingerprints() == theirs

    rack.played("provision", "-e", "changed_settings=overwrite")
    assert without_record(rack.fingerprints()) == without_record(ours)


def without_record(lines: dict[str, str]) -> dict[str, str]:
    return {key: value for key, value in lines.items() if not key.endswith(RECORD[1:])}


@pytest.mark.long
def test_unprovision_leaves_what_somebody_has_changed_since_and_says_so(one: Rack) -> None:
    before = one.fingerprints()
    one.played("provision")
    one.server.run("sysctl", "-q", "-w", "net.core.somaxconn=999")
    refused = one.play("unprovision")
    assert refused.returncode != 0
    said = sentences(refused.stdout)
    assert "sysctl net.core.somaxconn: 999; expected 1234, as provision.yml set it" in said
    left = dict(set(one.fingerprints().items()) - set(before.items()))
    assert set(left) == {
        "server0 sysctls net.core.somaxconn = 999",
        "server0 files var/lib/turntable/host_settings.json",
    }
    kept = one.played("unprovision", "-e", "changed_settings=keep")
    assert "sysctl net.core.somaxconn: 999 is kept as somebody set it" in sentences(kept)
    assert not one.server.exists(RECORD)
    default = next(key.split()[-1] for key in before if "server0 sysctls net.core.somaxconn" in key)
    one.server.run("sysctl", "-q", "-w", f"net.core.somaxconn={default}")
    assert one.fingerprints() == before


@pytest.mark.long
def test_stores_stay_unless_they_are_purged(one: Rack) -> None:
    before = one.fingerprints()
    one.played("provision")
    one.server.write("/var/lib/turntable/rack/server0/stores/of-an-experiment", "records")
    one.server.write("/run/turntable/rack/server0/kvserver.log", "lines")
    said = sentences(one.played("unprovision"))
    assert "directory /var/lib/turntable/rack/server0 is left: it is not empty (stores)" in said
    assert one.server.exists("/var/lib/turntable/rack/server0/stores/of-an-experiment")
    assert not one.server.exists("/run/turntable")
    one.played("unprovision", "-e", "purge=true")
    assert one.fingerprints() == before


@pytest.mark.long
def test_a_changed_inventory_changes_what_was_set_and_the_way_back_is_the_same(one: Rack) -> None:
    before = one.fingerprints()
    one.played("provision")
    one.write_inventory(turntable_host_sysctls={"net.core.somaxconn": 777})
    output = one.played("provision")
    assert changes(output) == {"server0": 1}
    assert one.server.run("sysctl", "-n", "net.core.somaxconn").strip() == "777"
    one.played("unprovision")
    assert one.fingerprints() == before


@pytest.mark.long
def test_another_build_is_copied_and_what_was_there_before_comes_back(one: Rack) -> None:
    one.server.write("/opt/turntable/bin/nodectl", "somebody's own", 0o755)
    before = one.fingerprints()
    one.played("provision")
    program = one.directory / "build/bin/supervisor"
    text = program.read_text()
    program.write_text(text + "# another build\n")
    output = one.played("provision")
    program.write_text(text)
    assert changes(output) == {"server0": 1}
    assert one.server.read("/opt/turntable/bin/supervisor") == text + "# another build\n"
    one.played("unprovision")
    assert one.server.read("/opt/turntable/bin/nodectl") == "somebody's own"
    assert one.fingerprints() == before


REFUSED = [
    (
        {"nic": {"name": "data7"}},
        "NIC data7 does not exist on this host, which has data0, lo; expected the one on the",
    ),
    (
        {"nic": {"name": "data0", "mac": "02:00:00:00:00:99"}},
        "NIC data0 has the MAC address 02:00:00:00:00:15; expected 02:00:00:00:00:99",
    ),
    (
        {"sysctls": {"net.core.somaxconn": "many"}},
        "sysctl net.core.somaxconn: the kernel refuses 'many'",
    ),
    (
        {"sysctls": {"net.core.no_such_thing": 1}},
        "sysctl net.core.no_such_thing: this host has no /proc/sys/net/core/no_such_thing",
    ),
    ({"huge_pages": {"4096": 1}}, "huge pages of KiB 4096: this host has no"),
    (
        {"nic": {"name": "data0", "channels": {"combined": 2}}},
        "channels of data0: the driver lets nobody set combined; expected some of rx, tx",
    ),
    (
        {"nic": {"name": "data0", "features": {"no-such-feature": True}}},
        "features of data0: the driver lets nobody set no-such-feature; expected some of",
    ),
    (
        {"nic": {"name": "lo", "interrupt_cpus": "0"}},
        "NIC lo has no interrupts of its own",
    ),
    (
        {"nic": {"name": "data0", "interrupt_cpus": "3-1"}},
        "processors '3-1': '3-1' is no range; expected numbers and ranges such as 0-7,16",
    ),
    (
        {"packages": ["turntable-no-such-package"]},
        "packages turntable-no-such-package: apt knows none of these names on this host",
    ),
    ({"directories": {"/etc/hostname": "0700"}}, "/etc/hostname is a file; expected a direc"),
]


@pytest.mark.long
def test_what_a_host_cannot_do_is_said(one: Rack) -> None:
    before = one.fingerprints()
    for settings, says in REFUSED:
        answer = one.module("host_settings", record=RECORD, testbed="rack", **settings)
        assert answer["failed"], settings
        assert says in answer["msg"], answer
    # A value that the kernel refused may be in the record, as what could be there.
    restored = one.module("host_settings", record=RECORD, testbed="rack", state="absent")
    assert not restored["changed"], restored
    assert one.fingerprints() == before


def test_a_host_belongs_to_one_testbed(one: Rack) -> None:
    made = one.module("host_settings", record=RECORD, testbed="rack", limits={"nofile": 4096})
    assert made["changed"], made
    refused = one.play("provision", "-e", "turntable_testbed_id=other")
    assert refused.returncode != 0
    assert "this host is provisioned for testbed 'rack'" in sentences(refused.stdout)


def test_a_clock_that_is_kept_passes_and_one_that_is_off_does_not(one: Rack) -> None:
    """chronyd, as far as it is asked: a process of that name, and a chronyc that answers."""
    none = one.module("host_clock", bound_us=1000)
    assert "no clock service that says how far the clock may be off: none runs" in none["msg"]
    server = one.server
    server.run("cp", "/bin/sleep", "/usr/local/sbin/chronyd")
    server.run("sh", "-c", "/usr/local/sbin/chronyd 3600 >/dev/null 2>&1 &")
    # 200 µs off, dispersion 100 µs, half of a delay of 400 µs: 500 µs.
    answer = "C0000201,192.0.2.1,2,1700000000.0,-0.0002,0,0,0,0,0,0.0004,0.0001,64.0,Normal"
    server.write("/usr/local/bin/chronyc", f"#!/bin/sh\necho {answer}\n", 0o755)
    kept = one.module("host_clock", bound_us=501)
    assert (kept["service"], round(kept["error_us"])) == ("chronyd", 500)
    off = one.module("host_clock", bound_us=499, deadline_s=0)
    assert "the clock may be off by 500 µs (chronyd) after 0 s; expected at most" in off["msg"]


def test_a_package_that_another_one_needs_stays_and_is_said(one: Rack) -> None:
    server = one.server
    with_record = {"record": RECORD, "testbed": "rack"}
    installed = one.module("host_settings", packages=["turntable-test-library"], **with_record)
    assert installed["settings"] == ["package turntable-test-library"]
    server.run("apt-get", "--yes", "install", "turntable-test-tool")
    refused = one.module("host_settings", state="absent", **with_record)
    assert refused["failed"]
    assert "turntable-test-tool need it, and were installed since; remove them" in refused["msg"]
    assert server.exists("/etc/turntable-test-library.conf")
    server.run("apt-get", "--yes", "purge", "turntable-test-tool")
    restored = one.module("host_settings", state="absent", **with_record)
    assert not restored["failed"], restored
    assert not server.exists("/etc/turntable-test-library.conf")


def test_services_of_packages_that_were_there_before_are_not_masked(one: Rack) -> None:
    one.server.write("/usr/lib/systemd/system/turntable-there.service", "[Unit]\n")
    before = one.fingerprints()
    with_record = {"record": RECORD, "testbed": "rack"}
    units = ["turntable-there.service", "turntable-new.service"]
    masked = one.module("host_settings", masked_services=units, **with_record)
    assert masked["settings"] == ["mask of turntable-new.service"]
    one.server.write("/usr/lib/systemd/system/turntable-new.service", "[Unit]\n")
    assert not one.module("host_settings", masked_services=units, **with_record)["changed"]
    assert one.module("host_settings", state="absent", **with_record)["changed"]
    assert one.fingerprints() == before


def test_a_tag_that_no_task_has_is_refused(one: Rack) -> None:
    refused = one.play("provision", "--check", "--tags", "measure", "-v")
    assert refused.returncode != 0
    assert "measure: no such tag in this playbook; expected provision" in sentences(refused.stdout)
    assert "Set kernel parameters" not in refused.stdout


def test_playbooks_of_namespaces_and_switches_leave_machines_alone(one: Rack) -> None:
    before = one.fingerprints()
    for playbook in ("testbed_up", "stop", "testbed_down", "switch"):
        output = one.played(playbook)
        recap = re.findall(r"^(\w+) +: ok=.*changed=(\d+)", output, re.MULTILINE)
        assert recap == [("localhost", "0")], output
    assert one.fingerprints() == before


def test_a_host_that_lacks_ethtool_can_be_checked(one: Rack) -> None:
    one.server.run("mv", "/usr/sbin/ethtool", "/usr/sbin/ethtool.away")
    checked = one.module("host_settings", nic={"name": "data0", "features": {"gro": True}},
                         testbed="rack", check=True)  # fmt: skip
    assert "features of data0 is not known yet: the program ethtool is not in" in checked["warned"]


@pytest.mark.parametrize(
    "words",
    [
        "-t module host_settings",
        "-t module host_clock",
        "-t filter settings_of_host",
        "-t filter record_of_host",
        "-t role -r roles host_settings",
    ],
)
def test_what_is_taken_is_documented(words: str) -> None:
    program = Path(sys.executable).parent / "ansible-doc"
    command = [program, *words.split()]
    shown = subprocess.run(command, cwd=REPOSITORY, capture_output=True, text=True, check=True)
    assert len(shown.stdout.splitlines()) > 20, shown.stderr
