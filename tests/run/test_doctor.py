"""What the doctor makes of what it sees: texts as the tools print them -> findings."""

from __future__ import annotations

import configparser
import json
import socket
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_core import catalogue
from turntable_core import testbed as core_testbed
from turntable_core.checks import systems_for
from turntable_core.connections import Outcome
from turntable_core.doctor import looks, machines, nodes, page, programs
from turntable_core.doctor.finding import NOTE, OK, PROBLEM, Finding
from turntable_core.programs import programs_of
from turntable_core.testbed import DataHost, SwitchHost

SWITCH = SwitchHost("sw", "/bin", "/run/sw", "/var/sw", 0, "soft", "/p4", 64, "cpu", "af_packet")
CLIENT = DataHost("c0", "/bin", "/run/c0", "/var/c0", 0, "10.0.0.1", "02:00:00:00:00:01", 0, "p0")
SERVER = DataHost("s0", "/bin", "/run/s0", "/var/s0", 0, "10.0.0.2", "02:00:00:00:00:02", 1, "p1")
OTHER = DataHost("s1", "/bin", "/run/s1", "/var/s1", 0, "10.0.0.3", "02:00:00:00:00:03", 2, "p2")
TESTBED = core_testbed.Testbed(
    "td", "emulated", 10.0, SWITCH, {"senders": (CLIENT,), "receivers": (SERVER, OTHER)}
)

HEALTHY = {
    "cpu-before": "cpu  100 0 100 1000 0 0 0 0 0 0",
    "cpu-after": "cpu  110 0 110 1180 0 0 0 0 0 0",  # 20 of 200 ticks busy
    "kernel": "6.1.0-13-amd64\n",
    "processors": "2\n",
    "memory": "MemTotal: 9 kB\nMemAvailable:    8000000 kB\n",
    "open-files": "1048576\n",
    "user": "0\n",
    "packet-sockets": "yes\n",
    "disk-run": "tmpfs 100000000 1 90000000 1% /run\n",
    "disk-state": "/dev/vda 100000000 1 90000000 1% /\n",
    "links": "",
    "sockets": "",
    "processes": "",
}


def host_view(host, clock=(0.0, 0.001), **seen: str) -> looks.HostView:
    return looks.HostView(host, None, HEALTHY | seen, clock)


def of(findings, topic: str) -> list[tuple[str, str]]:
    return [(f.level, f.text) for f in findings if f.topic == topic]


def machine(clock=(0.0, 0.001), **seen: str) -> list[Finding]:
    return list(machines.findings([host_view(CLIENT, clock, **seen), host_view(SERVER)], True))


def answer(result: dict) -> dict:
    return {"id": 1, "ok": True, "result": result}


def supervisor(*running: dict, pid: int = 5) -> dict[str, str]:
    ping = answer(
        {
            "node": "supervisor",
            "pid": 10,
            "lease_left_ms": 7_000,
            "owner": {"user": "ada", "controller": "desk", "pid": pid, "run": "night"}
            | {"since_ns": 0},
        }
    )
    return {"answers-supervisor.json": json.dumps([ping, answer({"nodes": list(running)})])}


def test_a_healthy_host_has_no_problem() -> None:
    assert {finding.level for finding in machine()} == {OK}


@pytest.mark.parametrize(
    ("seen", "topic", "level", "text"),
    [
        ({"memory": "MemAvailable: 100000 kB"}, "memory", PROBLEM, "98 MiB available"),
        ({"memory": "MemAvailable: 700000 kB"}, "memory", NOTE, "684 MiB available"),
        ({"disk-state": "t 9 9 102400 9% /"}, "disk", PROBLEM, "c0: 100 MiB left for stores"),
        ({"disk-run": "t 9 9 1048576 9% /"}, "disk", NOTE, "1.0 GiB left for sockets"),
        ({"kernel": "4.19.0"}, "kernel", PROBLEM, "Linux 4.19.0; 5.3 or newer is needed"),
        ({"open-files": "256"}, "limits", PROBLEM, "256 open files"),
        ({"user": "1000"}, "limits", PROBLEM, "user 1000, not as root"),
        ({"packet-sockets": ""}, "kernel", PROBLEM, "no packet sockets"),
        ({"links": 'Device "d0" does not exist.'}, "links", PROBLEM, "d0 does not exist"),
        ({"links": "3: d0: <BROADCAST> mtu 9 state DOWN mode"}, "links", PROBLEM, "d0 is down"),
        ({"cpu-after": "cpu 280 0 100 1020 0 0 0 0 0 0"}, "processors", NOTE, "90% busy"),
        ({"cpu-after": "cpu 100 0 100 1180 0 0 0 20 0 0"}, "processors", NOTE, "takes 10%"),
    ],
)
def test_what_is_wrong_with_a_machine(seen: dict, topic: str, level: str, text: str) -> None:
    found = of(machine(**seen), topic)
    assert any(found_level == level and text in said for found_level, said in found), found


@pytest.mark.parametrize(
    ("clock", "level", "text"),
    [
        ((0.5, 0.002), PROBLEM, "c0 is 0.500 s ahead of the controller"),
        ((-0.5, 0.002), PROBLEM, "c0 is 0.500 s behind the controller"),
        ((0.005, 0.001), OK, "agree with the controller's to 6 ms"),
        ((0.011, 0.005), OK, "to 16 ms"),  # a slow connection proves nothing
    ],
)
def test_clocks(clock: tuple[float, float], level: str, text: str) -> None:
    ((found, said),) = of(machine(clock), "clocks")
    assert found == level
    assert text in said


def test_a_host_that_cannot_be_reached_says_why_unless_the_network_did() -> None:
    gone = looks.view(CLIENT, Outcome("c0", None, failure="unreachable", message="no route"), None)
    ((level, text),) = of(machines.findings([gone, host_view(SERVER)], True), "hosts")
    assert (level, text) == (PROBLEM, "c0: unreachable: no route")
    ((level, text),) = of(machines.findings([gone, host_view(SERVER)], False), "hosts")
    assert level == NOTE
    assert "until the network is up" in text


def test_a_held_testbed_names_its_holder_and_lease() -> None:
    found = list(nodes.findings(TESTBED, [host_view(SWITCH, **supervisor())]))
    ((level, text),) = of(found, "lock")
    assert level == PROBLEM
    assert "run night of ada@desk (pid 5)" in text
    assert "7 s of its lease left" in text
    assert of(found, "leftovers") == [(OK, "none")]


def test_a_testbed_whose_playbook_has_ended_is_free_soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "gethostname", lambda: "desk")  # where no process 2**22 + 1 can be
    seen = supervisor(pid=2**22 + 1)
    found = list(nodes.findings(TESTBED, [host_view(SWITCH, **seen)]))
    ((level, text),) = of(found, "lock")
    assert level == NOTE
    assert "whose playbook has ended; free in 7 s" in text


def test_a_free_testbed_is_free() -> None:
    assert of(nodes.findings(TESTBED, [host_view(SWITCH)]), "lock")[0][0] == OK


@pytest.mark.parametrize(
    ("node", "seen", "level", "text"),
    [
        ({}, {"answers-n.json": json.dumps([answer({"state": "idle"})])}, OK, "c0 n idle"),
        ({}, {"answers-n.json": '[{"ok": false, "error": {}}]'}, PROBLEM, "n (pid 20) hangs"),
        ({}, {"processes": "20 T n /bin/n"}, PROBLEM, "n (pid 20) stopped by a signal"),
        ({"state": "exited", "exit_signal": 9}, {}, OK, "n has ended (exit signal 9)"),
    ],
)
def test_states_of_nodes(node: dict, seen: dict, level: str, text: str) -> None:
    row = {"name": "n", "pid": 20, "state": "running"} | node
    found = of(nodes.findings(TESTBED, [host_view(CLIENT, **supervisor(row), **seen)]), "nodes")
    assert found[0][0] == level
    assert text in found[0][1]


def test_what_a_dead_supervisor_left_is_told_but_stops_nobody() -> None:
    left = {"processes": "33 S receiver /bin/receiver", "answers-receiver.json": "[]"}
    ((level, text),) = of(nodes.findings(TESTBED, [host_view(SERVER, **left)]), "leftovers")
    assert level == NOTE
    assert "s0: process 33 (/bin/receiver)" in text
    assert "receiver.sock" in text


def test_what_nodes_of_a_live_run_have_begun_is_not_left() -> None:
    seen = supervisor() | {"processes": "33 S memcached /usr/bin/memcached"}
    found = nodes.findings(TESTBED, [host_view(SWITCH, **seen)])
    assert of(found, "leftovers") == [(OK, "none")]


def test_a_port_in_use_names_its_holder() -> None:
    line = 'UNCONN 0 0 10.0.0.2:7001 0.0.0.0:* users:(("python3",pid=9,fd=3))\n'
    other = 'UNCONN 0 0 10.0.0.2:53 0.0.0.0:* users:(("dns",pid=8,fd=3))\n'
    found = nodes.findings(TESTBED, [host_view(SERVER, sockets=line + other)])
    ((level, text),) = of(found, "ports")
    assert level == PROBLEM
    assert "10.0.0.2:7001" in text
    assert "python3" in text


def test_programs_must_be_there_and_the_same(tmp_path: Path) -> None:
    names = (
        "supervisor",
        "nodectl",
        "sender",
        "receiver",
        "keeper",
        "softswitch",
        "agent",
        "planner",
    )
    controller = dict.fromkeys((*names, "p.so"), "a" * 64)

    def found(views: list, built: dict) -> list[tuple[str, str]]:
        return of(programs.findings(TESTBED, views, built, tmp_path), "programs")

    def digests(host, of_first: str = "a") -> str:
        paths = programs_of(host, TESTBED, systems_for(TESTBED))
        return "\n".join(f"{(of_first if i == 0 else 'a') * 64}  {p}" for i, p in enumerate(paths))

    switch = host_view(SWITCH, programs=digests(SWITCH), p4="a" * 64 + "  p.so")
    assert found([switch], controller)[0][0] == OK
    other = host_view(CLIENT, programs=digests(CLIENT, "b"))
    ((level, text),) = found([switch, other], controller)
    assert (level, text) == (
        PROBLEM,
        "c0: /bin/supervisor is another build than the controller's",
    )
    texts = [text for _, text in found([host_view(CLIENT, programs="")], controller)]
    assert any("/bin/sender is missing" in text for text in texts)
    ((level, text),) = found([switch], {})
    assert level == PROBLEM
    assert "not built" in text


def test_a_chip_has_no_devices_and_reads_no_files_of_the_build(tmp_path: Path) -> None:
    chip = replace(SWITCH, target="tofino")
    testbed = replace(TESTBED, switch=chip)
    assert looks.interfaces_of(chip, testbed, {}) == [chip.cpu_interface]
    assert chip.p4_dir not in looks.script_for(chip, testbed, [])
    wanted = systems_for(testbed)
    paths = programs_of(chip, testbed, wanted)
    seen = host_view(chip, programs="\n".join(f"{'a' * 64}  {path}" for path in paths))
    names = [Path(p).name for host in testbed.hosts for p in programs_of(host, testbed, wanted)]
    built = dict.fromkeys([*names, "planner", "p.so"], "a" * 64)
    (finding,) = of(programs.findings(testbed, [seen], built, tmp_path), "programs")
    assert finding[0] == OK, finding


def test_the_script_of_a_host_is_a_shell_script(tmp_path: Path) -> None:
    host = replace(CLIENT, run_dir=str(tmp_path / "run"), state_dir=str(tmp_path / "state"))
    text = looks.script_for(host, replace(TESTBED, roles={"senders": (host,)}), ["lo"])
    done = subprocess.run(["/bin/sh", "-c", text], capture_output=True, check=True)
    seen = looks.view(host, Outcome("c0", 0, done.stdout), (0.0, 0.0))
    levels = {f.topic: f.level for f in machines.findings([seen], True)}
    assert {"hosts", "clocks", "kernel"} <= set(levels)
    assert seen.text("disk-state").strip().endswith("/") or "%" in seen.text("disk-state")
    assert not (tmp_path / "run").exists()


def test_an_unfinished_run_is_continued_with_its_testbed() -> None:
    manifest = {
        "experiment_file": "experiments/farreach/exp01_throughput.yml",
        "extra_vars": {"profile": "smoke", "turntable_lease_s": 3, "turntable_testbed_id": "tb"},
    }
    assert catalogue.resume_command(manifest, "night") == (
        "ansible-playbook playbooks/farreach/exp01_throughput.yml "
        """-e '{"turntable_lease_s": 3}' -e turntable_testbed_id=tb -e run=night"""
    )


@pytest.mark.parametrize(
    ("inventories", "options"),
    [
        (["inventories/embedded"], ""),  # the default
        (["inventories/embedded-hosts"], "-i inventories/embedded-hosts "),
        (["/my racks/one", "extra.yml"], "-i '/my racks/one' -i extra.yml "),
    ],
)
def test_an_unfinished_run_is_continued_with_its_inventory(
    inventories: list[str], options: str
) -> None:
    manifest = {"experiment_file": "experiments/echo/sweep.yml", "inventories": inventories}
    assert catalogue.resume_command(manifest, "night") == (
        f"ansible-playbook {options}playbooks/echo/sweep.yml -e run=night"
    )


def test_the_default_inventory_is_that_of_the_configuration() -> None:
    configured = configparser.ConfigParser(strict=False)
    configured.read(Path(__file__).resolve().parents[2] / "ansible.cfg")
    assert configured["defaults"]["inventory"] == catalogue.DEFAULT_INVENTORY


@pytest.mark.parametrize("width", [60, 80, 120])
def test_a_page_fits_its_terminal(width: int) -> None:
    long = Finding(PROBLEM, "topic", "word " * 60, "do " * 60, "a command " * 20)
    text = page.render("title", [long], width, lambda text, color: text)
    lines = [line for line in text.splitlines() if not line.startswith("  a command")]
    assert max(map(len, lines)) <= width
    assert "a command " * 20 in text
    assert page.conclusion([long], width).startswith("A run cannot start now: topic.")
