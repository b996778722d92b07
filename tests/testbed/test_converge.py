"""From any state to the desired one: interrupted, drifted or damaged testbeds."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from turntable_testbed import lock, namespaces, processes
from turntable_testbed.errors import TestbedError
from turntable_testbed.marker import Marker
from turntable_testbed.plan import plan
from turntable_testbed.state import VETH, Link

from .conftest import Testbed


def ip(testbed: Testbed, host: str, command: str) -> None:
    subprocess.run(["ip", "-n", testbed.namespace(host), *command.split()], check=True)


def ethtool(testbed: Testbed, host: str, command: str) -> None:
    subprocess.run(testbed.inside(host, "ethtool", *command.split()), check=True)


def test_all_steps_lead_to_a_state_without_steps(testbed: Testbed) -> None:
    steps = testbed.steps()
    assert len(steps) > 30
    testbed.take(steps)
    assert testbed.steps() == []


def test_any_prefix_of_the_steps_is_repaired(testbed: Testbed) -> None:
    """An interruption leaves a prefix behind; a damaged testbed is reached from there as well."""
    total = len(testbed.steps())
    for length in range(1, total, 5):
        testbed.take(testbed.steps()[:length])
        testbed.take(testbed.steps())
        assert testbed.steps() == [], f"after the first {length} of {total} steps"
        testbed.remove()


DRIFTS: dict[str, Callable[[Testbed], None]] = {
    "address removed": lambda t: ip(t, "client0", f"addr flush dev {t.id}-data"),
    "address added": lambda t: ip(t, "client0", f"addr add 198.19.255.1/32 dev {t.id}-data"),
    "neighbour removed": lambda t: ip(t, "client0", f"neigh flush dev {t.id}-data nud permanent"),
    "link down": lambda t: ip(t, "switch0", f"link set {t.id}-p1 down"),
    "host link down": lambda t: ip(t, "client0", f"link set {t.id}-data down"),
    "link deleted": lambda t: ip(t, "server0", f"link del {t.id}-data"),
    "bridge deleted": lambda t: ip(t, "ctl", f"link del {t.id}-br"),
    "port out of its bridge": lambda t: ip(t, "ctl", f"link set {t.id}-b11 nomaster"),
    "mtu": lambda t: ip(t, "switch0", f"link set {t.id}-p0 mtu 1300"),
    "mac": lambda t: ip(t, "client0", f"link set {t.id}-data address 02:11:11:11:11:11"),
    "checksum offload": lambda t: ethtool(t, "client0", f"-K {t.id}-data tx on"),
    "receive offload": lambda t: ethtool(t, "switch0", f"-K {t.id}-p0 gro on"),
    "loopback down": lambda t: ip(t, "server0", "link set lo down"),
    "sysctl": lambda t: subprocess.run(
        t.inside("client0", "sh", "-c", "echo 0 > /proc/sys/net/ipv6/conf/all/disable_ipv6"),
        check=True,
    ).check_returncode(),
    "namespace deleted": lambda t: subprocess.run(
        ["ip", "netns", "delete", t.namespace("server0")], check=True
    ).check_returncode(),
    "stale link of an earlier inventory": lambda t: ip(
        t, "client0", f"link add {t.id}-old type veth peer name {t.id}-old2"
    ),
}


@pytest.mark.parametrize("drift", DRIFTS)
def test_drift_is_seen_and_repaired(running: Testbed, drift: str) -> None:
    assert running.steps() == []
    DRIFTS[drift](running)
    steps = running.steps()
    assert steps
    running.take(steps)
    assert running.steps() == []


BRIDGE_DRIFTS: dict[str, Callable[[Testbed], None]] = {
    "data bridge deleted": lambda t: ip(t, "ctl", f"link del {t.id}-dbr"),
    "data bridge down": lambda t: ip(t, "ctl", f"link set {t.id}-dbr down"),
    "port out of the data bridge": lambda t: ip(t, "ctl", f"link set {t.id}-d11 nomaster"),
    "port in the other bridge": lambda t: ip(t, "ctl", f"link set {t.id}-d11 master {t.id}-br"),
    "port's offload": lambda t: ethtool(t, "ctl", f"-K {t.id}-d21 tx on"),
}


def test_drift_of_the_bridge_that_stands_for_a_switch_is_repaired(testbed: Testbed) -> None:
    bridged = replace(testbed, has_switch=False)
    bridged.take(bridged.steps())
    assert bridged.steps() == []
    for name, drift in BRIDGE_DRIFTS.items():
        drift(bridged)
        steps = bridged.steps()
        assert steps, name
        bridged.take(steps)
        assert bridged.steps() == [], name


def test_a_switch_gives_way_to_a_bridge_and_comes_back(running: Testbed) -> None:
    bridged = replace(running, has_switch=False)
    bridged.take(bridged.steps())
    assert bridged.steps() == []
    assert not namespaces.path_of(running.namespace("switch0")).exists()
    running.take(running.steps())
    assert running.steps() == []


def test_a_veth_plugged_into_the_wrong_port_is_replaced(running: Testbed) -> None:
    """Same names, same addresses, but crossed ends: only the kernel's peer indexes tell."""
    for port in ("p0", "p1"):
        ip(running, "switch0", f"link set {running.id}-{port} down")
    ip(running, "switch0", f"link set {running.id}-p0 name {running.id}-x")
    ip(running, "switch0", f"link set {running.id}-p1 name {running.id}-p0")
    ip(running, "switch0", f"link set {running.id}-x name {running.id}-p1")
    steps = running.steps()
    assert {"remove_link", "create_link"} <= {step.operation for step in steps}
    running.take(steps)
    assert running.steps() == []


def test_devices_put_there_by_hand_are_left_alone(running: Testbed) -> None:
    ip(running, "client0", "link add mine type bridge")
    assert running.steps() == []


def test_a_host_that_left_the_inventory_loses_its_namespace(running: Testbed) -> None:
    marker = Marker(running.id, "client9", running.data_network, running.control_network)
    namespaces.create(running.namespace("client9"), marker)
    running.take(running.steps())
    assert not namespaces.path_of(running.namespace("client9")).exists()


def test_a_name_without_namespace_is_taken_over(testbed: Testbed) -> None:
    """Interrupted between making the file in /run/netns and mounting the namespace on it."""
    testbed.take(testbed.steps()[:1])
    leftover = namespaces.path_of(testbed.namespace("client0"))
    leftover.unlink(missing_ok=True)
    leftover.touch()
    assert testbed.fingerprint()["namespaces"]
    testbed.take(testbed.steps())
    assert testbed.steps() == []


def test_plan_replaces_a_device_of_another_kind(testbed: Testbed) -> None:
    desired = testbed.topology().desired()
    observed = testbed.topology().desired()
    device = f"{testbed.id}-br"
    observed[testbed.namespace("ctl")].links[device] = Link(VETH)
    operations = [
        step.operation
        for step in plan(observed, desired, testbed.id)
        if step.device == device and step.namespace == testbed.namespace("ctl")
    ]
    assert operations[:2] == ["remove_link", "create_link"]


def start(arguments: list[str]) -> subprocess.Popen[str]:
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
    process.stdout.readline()
    return process


READY = "import signal; print('ready', flush=True);"


def test_processes_get_a_chance_and_then_sigkill(running: Testbed) -> None:
    polite = start(running.inside("client0", sys.executable, "-c", READY + "signal.pause()"))
    stubborn = start(
        running.inside(
            "server0",
            sys.executable,
            "-c",
            "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN);" + READY + "\n"
            "while True: signal.pause()",
        )
    )
    ended = processes.end(running.id, deadline_s=0.3)
    assert {process.pid for process in ended} == {polite.pid, stubborn.pid}
    assert polite.wait(60) == -signal.SIGTERM
    assert stubborn.wait(60) == -signal.SIGKILL
    assert processes.find(running.id) == []


def test_a_slow_search_takes_nothing_from_the_chance(running: Testbed) -> None:
    polite = start(running.inside("client0", sys.executable, "-c", READY + "signal.pause()"))

    def find_slowly(testbed: str) -> list[processes.Process]:
        time.sleep(0.2)
        return processes.find(testbed)

    processes.end(running.id, 0.1, find_slowly)
    assert polite.wait(60) == -signal.SIGTERM


def test_supervisors_are_known_by_their_testbed_argument(running: Testbed, tmp_path: Path) -> None:
    program = tmp_path / "supervisor"
    program.symlink_to(sys.executable)
    wait = READY + "signal.pause()"
    ours = start([str(program), "-c", wait, "--testbed", running.id])
    other = start([str(program), "-c", wait, "--testbed", "x" + running.id[1:]])
    try:
        assert [process.pid for process in processes.end(running.id, deadline_s=5)] == [ours.pid]
        assert other.poll() is None
    finally:
        for process in (ours, other):
            process.kill()
            process.wait()


def test_whoever_asks_survives(running: Testbed) -> None:
    """A playbook started from a shell inside a namespace ends the others, not itself."""
    script = (
        f"import os; from turntable_testbed import processes;"
        f"processes.end({running.id!r}, 1); print(os.getpid())"
    )
    command = running.inside("client0", sys.executable, "-c", script)
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stderr) == (0, "")


def test_whoever_looks_into_a_namespace_is_not_found_in_it(running: Testbed) -> None:
    def this_process_and_this_thread() -> list[int | None]:
        tasks = ("self", "thread-self")
        return [namespaces.inode_of(Path(f"/proc/{task}/ns/net")) for task in tasks]

    home = namespaces.inode_of(Path("/proc/self/ns/net"))
    path = namespaces.path_of(running.namespace("client0"))
    inside = namespaces.inode_of(path)
    assert home != inside
    assert namespaces.call_inside(path, this_process_and_this_thread) == [home, inside]


def test_a_namespace_kept_alive_by_a_process_is_still_found(running: Testbed) -> None:
    name = running.namespace("client0")
    process = start(running.inside("client0", sys.executable, "-c", READY + "signal.pause()"))
    try:
        subprocess.run(["ip", "netns", "delete", name], check=True)
        assert [found.pid for found in processes.find(running.id)] == [process.pid]
        assert f"/proc/{process.pid}/ns/net" in running.fingerprint()["namespaces"]
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()


def test_a_namespace_of_many_processes_is_read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []
    monkeypatch.setattr(
        namespaces, "_read_marker", lambda path: read.append(namespaces.inode_of(path))
    )
    assert namespaces.find() == []
    assert read.count(namespaces.inode_of(Path("/proc/self/ns/net"))) == 1


def test_of_two_processes_in_a_namespace_one_may_end(monkeypatch: pytest.MonkeyPatch) -> None:
    marker = Marker("t", "h", "198.18.0.0/24", "198.19.0.0/24")
    here = Path("/proc/self/ns/net")
    answers = iter([FileNotFoundError(), marker])

    def read_marker(path: Path) -> Marker:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    monkeypatch.setattr(namespaces, "_candidates", lambda: [(here, None), (here, None)])
    monkeypatch.setattr(namespaces, "_read_marker", read_marker)
    assert [found.marker for found in namespaces.find()] == [marker]


def test_changes_of_one_testbed_wait_for_each_other(testbed: Testbed) -> None:
    script = (
        "from turntable_testbed import lock; import time\n"
        f"with lock.held({testbed.id!r}, 5): print('ready', flush=True); time.sleep(60)"
    )
    holder = start([sys.executable, "-c", script])
    try:
        with (
            pytest.raises(TestbedError, match="being changed by another process"),
            lock.held(testbed.id, deadline_s=0.1),
        ):
            pass
    finally:
        holder.kill()  # as a playbook that was killed: the lock must be free at once
        holder.wait()
    with lock.held(testbed.id, deadline_s=0):
        pass
