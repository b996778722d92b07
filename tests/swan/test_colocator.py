"""colocator with the real memcached and stress-ng: what it does to the machine, and undoes."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.kv.nodes import Node, NodeError, running
from turntable_systems.swan.isolation import SETTINGS

from .conftest import (
    CGROUPS,
    HOST,
    Colocator,
    Supervised,
    eventually,
    groups_of,
    processes_of,
)

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not (CGROUPS / "cpu" / "cpu.shares").exists(),
    reason="needs root and control groups of version 1",
)

CACHE = {
    "name": "stress-ng-cache-l1",
    "command": ["stress-ng", "--cache", "{count}", "--cache-level", "1"],
    "placement": "l1",
    "count": 1,
    "probe": {"kind": "cpu", "seconds": 0.05},
    "progress": {"kind": "stress-ng"},
    "version": ["stress-ng", "--version"],
}
L1D = {
    "name": "l1d",
    "command": ["{bin_dir}/pressure", "--kernel", "l1d"],
    "placement": "l3",
    "count": 2,
    "probe": {"kind": "line", "pattern": "progress "},
    "progress": {"kind": "lines", "unit": "steps"},
}
SLEEP = {"name": "placebo", "command": ["sleep", "1000"], "probe": {"kind": "alive"}}


def aggressor_pids(colocator: Colocator) -> list[int]:
    """What is in the group that counts the aggressor's time."""
    top = f"turntable.{os.environ['TURNTABLE_TESTBED']}.{HOST}.{colocator.node.process.pid}"
    procs = CGROUPS / "cpuacct" / top / "be" / "cgroup.procs"
    return sorted(int(pid) for pid in procs.read_text().split())


def group_of(pid: int, controller: str) -> str:
    """Below the colocator's directory."""
    lines = Path(f"/proc/{pid}/cgroup").read_text().splitlines()
    (path,) = (line.split(":")[2] for line in lines if line.split(":")[1] == controller)
    return path.partition(f".{HOST}.")[2].partition("/")[2]


def threads_of(pid: int) -> list[int]:
    return [int(thread.name) for thread in Path(f"/proc/{pid}/task").iterdir()]


def nice_of(pid: int) -> set[int]:
    return {os.getpriority(os.PRIO_PROCESS, thread) for thread in threads_of(pid)}


def policy_of(pid: int) -> set[int]:
    return {os.sched_getscheduler(thread) for thread in threads_of(pid)}


def test_a_window_with_stress_ng(colocator: Colocator) -> None:
    prepared = colocator.prepare("shares", CACHE)
    socket_path = colocator.memcached["socket"]
    assert prepared["memcached"]["fresh"] is True
    assert prepared["memcached"]["command"][1:] == (
        ["-u", "root", "-t", "1", "-c", "64", "-m", "64", "-s", socket_path]
    )
    assert prepared["placement"]["hp"] == prepared["placement"]["l1"] == [0]
    settled = colocator.settle()
    assert settled["command"][0][:5] == [*CACHE["command"][:2], "1", *CACHE["command"][3:]]
    assert settled["version"].startswith("stress-ng, version ")
    assert settled["processes"] == 2 and settled["cpus"] == [0]
    colocator.measure()
    assert colocator.finish()["gone"] is True
    assert not aggressor_pids(colocator)

    stats = colocator.stats()
    assert stats["window_ns"] == pytest.approx(0.3e9, rel=0.5)
    assert stats["memcached"]["restarted"] is False
    assert stats["memcached"]["stats"]["curr_items"] == 0
    aggressor = stats["aggressor"]
    assert aggressor["ended_early"] is None
    assert 0 < aggressor["user_ns"] + aggressor["system_ns"] < 1.2 * stats["window_ns"]
    assert aggressor["progress"]["unit"] == "bogo ops" and aggressor["progress"]["amount"] > 0
    assert 0 <= stats["others_share"] < 1.1


def test_mechanisms_are_what_the_kernel_says(colocator: Colocator, testbed: str) -> None:
    """All of them after each other, with one memcached: nothing is left of the one before."""
    (top,) = [CGROUPS / "cpu" / f"turntable.{testbed}.{HOST}.{colocator.node.process.pid}"]
    every_cpu = os.sched_getaffinity(0)

    def apply(mechanism: str, **isolation: Any) -> tuple[int, int]:
        assert set(isolation) == set(SETTINGS[mechanism])  # what a run asks for
        pid = colocator.prepare(mechanism, SLEEP, isolation=isolation)["memcached"]["pid"]
        colocator.settle()
        (aggressor,) = aggressor_pids(colocator)
        for process in (pid, aggressor):
            assert os.sched_getaffinity(process) == {min(every_cpu)}
        groups = [group_of(process, "cpu") for process in (pid, aggressor)]
        apart = mechanism in ("shares", "idle", "quota", "fifo")
        assert groups == (["hp", "be"] if apart else ["both", "both"])
        assert [group_of(process, "cpuacct") for process in (pid, aggressor)] == ["hp", "be"]
        cpusets = [group_of(process, "cpuset") for process in (pid, aggressor)]
        assert cpusets == (["hp", "be"] if mechanism == "cpuset" else ["", ""])
        fifo = os.SCHED_FIFO if mechanism == "fifo" else os.SCHED_OTHER
        idle = os.SCHED_IDLE if mechanism == "sched_idle" else os.SCHED_OTHER
        assert (policy_of(pid), policy_of(aggressor)) == ({fifo}, {idle})
        assert (nice_of(pid), nice_of(aggressor)) == ({0}, {isolation.get("be_nice", 0)})
        return pid, aggressor

    first, _ = apply("fifo", rt_runtime_share=0.9)
    apply("fifo", rt_runtime_share=0.5)  # the share of the iteration before is free again
    assert (top / "hp" / "cpu.rt_runtime_us").read_text() == "500000\n"
    memcacheds = {first}
    for mechanism, isolation, file, text in (
        ("none", {}, None, None),
        ("cpuset", {}, None, None),
        ("shares", {"be_shares": 20}, "be/cpu.shares", "20\n"),
        ("idle", {}, "be/cpu.idle", "1\n"),
        ("quota", {"quota_share": 0.25}, "be/cpu.cfs_quota_us", "25000\n"),
        ("sched_idle", {}, None, None),
        ("nice", {"be_nice": 7}, None, None),
        ("taskset", {}, None, None),
    ):
        pid, _ = apply(mechanism, **isolation)
        memcacheds.add(pid)
        if file is not None:
            assert (top / file).read_text() == text
    assert memcacheds == {first}
    colocator.node.call("reset")
    assert not groups_of(testbed) and not Path(f"/proc/{first}").exists()


def test_progress_lines_of_several_processes_are_added(colocator: Colocator) -> None:
    colocator.prepare("none", L1D, layout="shared-cache")
    settled = colocator.settle()
    assert settled["processes"] == len(settled["command"]) == 2
    assert settled["cpus"] == [1]
    colocator.measure(0.5)
    colocator.finish()
    progress = colocator.stats()["aggressor"]["progress"]
    assert progress["unit"] == "steps" and progress["amount"] > 1_000
    assert progress["seconds"] == pytest.approx(0.5, rel=0.3)


def test_a_job_is_held_to_a_part_of_a_cache(colocator: Colocator) -> None:
    cache = Path("/sys/devices/system/cpu/cpu0/cache/index2")
    if not (cache / "ways_of_associativity").exists():
        pytest.skip("the kernel does not say what caches have")
    kib, ways = (
        int((cache / name).read_text().rstrip("K\n")) for name in ("size", "ways_of_associativity")
    )
    command = ["stress-ng", "--cache", "1", "--cache-level", "2"]
    command += ["--cache-ways", "{cache_ways}", "--cache-no-affinity"]
    part = {"level": 2, "kib": kib // 2}
    colocator.prepare("none", CACHE | {"command": command, "cache": part})
    settled = colocator.settle()
    expected = {
        "level": 2, "ways": ways // 2, "kib": kib // 2, "all_ways": ways, "all_kib": kib,
    }  # fmt: skip
    assert settled["cache"] == expected
    words = settled["command"][0]
    assert words[words.index("--cache-ways") + 1] == str(ways // 2)
    colocator.measure(0.1)
    colocator.finish()
    assert colocator.stats()["aggressor"]["cache"] == expected


def test_baseline_and_memcached_on_a_port(colocator: Colocator) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    colocator.memcached = {"threads": 2, "address": "127.0.0.1", "port": port, "affinity": True}
    first = colocator.prepare(memcached={"fresh": True})["memcached"]
    assert colocator.settle() == {"settled_s": 0}
    colocator.measure(0.05)
    colocator.finish()
    stats = colocator.stats()
    assert stats["aggressor"] is None
    assert stats["memcached"]["stats"]["curr_connections"] >= 1
    second = colocator.prepare(memcached={"fresh": True})["memcached"]
    assert second["fresh"] and second["pid"] != first["pid"]
    assert colocator.prepare(memcached={"fresh": False})["memcached"]["pid"] == second["pid"]


def test_a_killed_aggressor_and_a_killed_memcached_are_noticed(colocator: Colocator) -> None:
    command = ["sh", "-c", "echo begins >&2; exec sleep 1000"]
    memcached = colocator.prepare("none", SLEEP | {"command": command})["memcached"]["pid"]
    colocator.settle()
    (aggressor,) = aggressor_pids(colocator)
    os.kill(aggressor, signal.SIGKILL)
    colocator.measure(0.1)
    os.kill(memcached, signal.SIGKILL)
    eventually(lambda: not Path(f"/proc/{memcached}/exe").exists())
    colocator.finish()
    stats = colocator.stats()
    assert stats["memcached"]["restarted"] is True
    early = stats["aggressor"]["ended_early"]
    assert early.startswith("was ended by signal 9 (Killed); last lines of its log:\n  begins")
    assert colocator.prepare()["memcached"]["fresh"] is True


def test_workers_of_a_killed_stress_ng_are_ended_too(colocator: Colocator) -> None:
    colocator.prepare("none", CACHE)
    colocator.settle()
    parent, *workers = aggressor_pids(colocator)
    assert workers
    os.kill(parent, signal.SIGKILL)
    colocator.finish()
    assert not aggressor_pids(colocator)


def children_of(pid: int) -> list[int]:
    """None of a process that has ended."""
    with contextlib.suppress(FileNotFoundError, ProcessLookupError):
        return [int(one) for one in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return []


FORKING = SLEEP | {
    "name": "two",
    "command": ["sh", "-c", "sleep 1000 & sleep 1000 & wait"],
    "probe": {"kind": "alive"},
}


@pytest.mark.parametrize(
    ("job", "noticed"),
    [
        (CACHE | {"count": 2}, True),
        (FORKING | {"fixed_workers": True}, True),
        (FORKING, False),  # such jobs may be made of short programs
    ],
    ids=["stress-ng", "fixed", "not fixed"],
)
@pytest.mark.parametrize("mechanism", ["none", "shares"])
def test_a_worker_that_dies_alone_is_noticed(
    colocator: Colocator, job: dict[str, Any], noticed: bool, mechanism: str
) -> None:
    colocator.prepare(mechanism, job)
    colocator.settle()
    every: set[int] = set()

    def parents() -> list[int]:
        """Those of the job's processes that have two children among them."""
        every.update(aggressor_pids(colocator))
        return [pid for pid in every if len(every & set(children_of(pid))) == 2]

    eventually(lambda: len(parents()) == 1)
    (parent,) = parents()
    colocator.measure(0.1)
    first, second = children_of(parent)
    os.kill(first, signal.SIGKILL)
    eventually(lambda: children_of(parent) == [second])
    colocator.finish()
    early = colocator.stats()["aggressor"]["ended_early"]
    assert (early or "").startswith("lost 1 of its 2 workers") == noticed


def test_a_job_whose_workers_live_has_lost_none(colocator: Colocator) -> None:
    colocator.prepare("none", CACHE | {"count": 2})
    colocator.settle()
    colocator.measure(0.1)
    colocator.finish()
    assert colocator.stats()["aggressor"]["ended_early"] is None


@pytest.fixture
def without_sys_nice(build_dir: Path, tmp_path: Path) -> Path:
    """colocator, on a kernel that forbids it to raise priorities."""
    program = tmp_path / "colocator"
    program.write_text(
        "#!/bin/sh\nrenice --priority 0 $$ >/dev/null\n"
        "exec setpriv --bounding-set -sys_nice --inh-caps -sys_nice "
        f"'{build_dir}/bin/colocator' \"$@\"\n"
    )
    program.chmod(0o755)
    return program


def test_settings_of_the_job_that_the_kernel_forbids_are_unsupported(
    without_sys_nice: Path, tmp_path: Path, testbed: str
) -> None:
    with running(without_sys_nice, tmp_path) as node:
        colocator = Colocator(node, tmp_path)
        colocator.prepare("nice", SLEEP, isolation={"be_nice": -5})
        with pytest.raises(NodeError, match="nice -5: Permission denied") as error:
            colocator.settle()
        assert error.value.code == "unsupported"
        with pytest.raises(NodeError, match="SCHED_FIFO") as error:
            colocator.prepare("fifo", SLEEP)
        assert error.value.code == "unsupported"
        # A command that ends in the same way was not forbidden.
        colocator.prepare("none", SLEEP | {"command": ["sh", "-c", "exit 126"]})
        with pytest.raises(NodeError) as error:
            colocator.settle()
        assert error.value.code == "unavailable"
    assert not groups_of(testbed)


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        ({"command": ["sh", "-c", "echo no luck; exit 3"]}, "unavailable", "no luck"),
        ({"probe": {"kind": "line", "pattern": "ready"}}, "timeout", "probe did not hold"),
    ],
)
def test_an_aggressor_that_does_not_settle(
    colocator: Colocator, change: dict[str, Any], code: str, message: str
) -> None:
    colocator.prepare("none", SLEEP | change)
    with pytest.raises(NodeError, match=message) as error:
        colocator.node.call("settle", deadline_s=0.5)
    assert error.value.code == code
    with pytest.raises(NodeError, match=f"(?s)`settle` failed; send `prepare`.*{message}") as error:
        colocator.measure()
    assert error.value.code == "wrong_state"
    colocator.prepare("none")
    colocator.settle()
    colocator.measure(0.05)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"mechanism": "cat"}, "no CAT"),
        ({"mechanism": "magic"}, '"mechanism" is "magic"; expected one of none, taskset'),
        ({"aggressor": {"name": "x", "command": ["no-such-program"]}}, "install it"),
        ({"aggressor": {"name": "x", "command": ["sleep", "{no}"]}}, "{no} in"),
        ({"layout": "automatic"}, "no processor is left for the load generator"),
        ({"hp_count": 64}, "64 processors needed"),
        ({"memcached": {"user": "nobody-at-all"}}, "memcached exited with status"),
    ],
)
def test_what_cannot_be_done_is_said(
    colocator: Colocator, arguments: dict[str, Any], message: str
) -> None:
    if Path("/sys/fs/resctrl/info/L3").exists() and arguments.get("mechanism") == "cat":
        pytest.skip("this machine has CAT")
    if len(os.sched_getaffinity(0)) != 2 and "layout" in arguments:
        pytest.skip("expects two processors")
    with pytest.raises(NodeError) as error:
        colocator.prepare(**arguments)
    assert message in error.value.message
    with pytest.raises(NodeError, match="nothing is prepared"):
        colocator.settle()


def test_what_is_no_socket_is_not_removed_for_one(colocator: Colocator, tmp_path: Path) -> None:
    file = tmp_path / "precious"
    file.write_text("kept")
    with pytest.raises(NodeError, match="memcached exited"):
        colocator.prepare(memcached={"socket": str(file)})
    assert file.read_text() == "kept"
    with pytest.raises(NodeError, match="an absolute path of at most 107 characters"):
        colocator.prepare(memcached={"socket": "/" + 107 * "x"})


def test_nothing_is_left_of_a_killed_colocator(
    build_dir: Path, tmp_path: Path, testbed: str
) -> None:
    node = Node(build_dir / "bin" / "colocator", tmp_path)
    try:
        node.wait_ready()
        colocator = Colocator(node, tmp_path)
        colocator.prepare("quota", CACHE)
        colocator.settle()
        assert groups_of(testbed) and len(aggressor_pids(colocator)) == 2
    finally:
        node.process.kill()
        node.process.wait()
    eventually(lambda: not processes_of(testbed) and not groups_of(testbed))


@pytest.mark.parametrize("victim", ["colocator", "supervisor"])
def test_nothing_is_left_of_a_killed_node_of_a_supervisor(
    build_dir: Path, tmp_path: Path, testbed: str, victim: str
) -> None:
    supervised = Supervised(build_dir, tmp_path, testbed)
    pid = supervised.spawn()
    arguments = {
        "placement": {"layout": "same-core"},
        "isolation": {"mechanism": "idle"},
        "memcached": {"socket": str(tmp_path / "memcached.sock")},
        "aggressor": CACHE,
    }
    supervised.ask("colocator", "prepare", **arguments)
    supervised.ask("colocator", "settle", deadline_s=20)
    assert groups_of(testbed)
    supervisor = supervised.ask("supervisor", "ping")["pid"]
    if victim == "colocator":
        os.kill(pid, signal.SIGKILL)
        eventually(lambda: not groups_of(testbed) and len(processes_of(testbed)) == 1)
        supervised.spawn()  # the next one finds the machine as it was
        supervised.ask("colocator", "prepare", **arguments)
        supervised.ask("supervisor", "shutdown")
    else:
        os.kill(supervisor, signal.SIGKILL)
    eventually(lambda: not groups_of(testbed) and not processes_of(testbed))


def test_groups_of_a_dead_one_are_removed_and_others_are_not(
    build_dir: Path, tmp_path: Path, testbed: str
) -> None:
    cpu = CGROUPS / "cpu"
    dead = cpu / f"turntable.{testbed}.{HOST}.1"
    strangers = [cpu / f"turntable.{testbed}.other.1", cpu / f"turntable.{testbed}.{HOST}.x"]
    for directory in (dead / "hp", *strangers):
        directory.mkdir(parents=True)
    with subprocess.Popen(["sleep", "1000"]) as sleeper:
        (dead / "hp" / "cgroup.procs").write_text(str(sleeper.pid))
        first = Node(build_dir / "bin" / "colocator", tmp_path)
        try:
            first.wait_ready()
            assert not dead.exists()
            assert sleeper.wait(timeout=5) == -signal.SIGKILL
            Colocator(first, tmp_path).prepare()
            second_directory = tmp_path / "second"
            second_directory.mkdir()
            second = Node(build_dir / "bin" / "colocator", second_directory)
            second.wait_ready()
            second.end()
            alive = cpu / f"turntable.{testbed}.{HOST}.{first.process.pid}"
            assert alive.exists() and all(stranger.exists() for stranger in strangers)
        finally:
            first.end()
            for directory in strangers:
                directory.rmdir()
    assert not groups_of(testbed)


def test_nodes_at_another_priority_start_memcached_at_none(
    build_dir: Path, tmp_path: Path, testbed: str
) -> None:
    before = os.getpriority(os.PRIO_PROCESS, 0)
    os.setpriority(os.PRIO_PROCESS, 0, -15)
    try:
        node = Node(build_dir / "bin" / "colocator", tmp_path)
    finally:
        os.setpriority(os.PRIO_PROCESS, 0, before)
    node.wait_ready()
    colocator = Colocator(node, tmp_path)
    memcached = colocator.prepare("none", SLEEP)["memcached"]["pid"]
    colocator.settle()
    (aggressor,) = aggressor_pids(colocator)
    assert nice_of(memcached) == nice_of(aggressor) == {0}
    node.end()
    eventually(lambda: not processes_of(testbed))


def test_platform_and_probe(colocator: Colocator) -> None:
    platform = colocator.node.call("platform")
    assert platform["versions"]["memcached"].startswith("1.")
    assert platform["cgroup"]["version"] == 1
    assert [row["cpu"] for row in platform["topology"]] == sorted(os.sched_getaffinity(0))
    assert platform["load"]["running_others"] >= 0
    rows = colocator.node.call("probe", cpus=[[0], [1]], size_mb=4, seconds=0.01)["rows"]
    assert {row["what"] for row in rows} == {"chase", "stream", "integer"}
    chases = [row for row in rows if row["what"] == "chase" and row["beside"] is None]
    assert chases[0]["ns_per_step"] < chases[-1]["ns_per_step"]


def test_the_first_probe_of_a_run_outlives_its_node(
    build_dir: Path, tmp_path: Path, testbed: str
) -> None:
    def probed_and_measured(key: str) -> tuple[Any, Any]:
        """What the probe answered, and the one that the statistics have as the first."""
        with running(build_dir / "bin" / "colocator", tmp_path) as node:
            colocator = Colocator(node, tmp_path)
            asked = {"size_mb": 1, "seconds": 0.001, "directory": str(tmp_path)}
            answer = node.call("probe", key=key, **asked)
            colocator.prepare()
            colocator.measure(0.02)
            colocator.finish()
            first = colocator.stats()["first_probe"]
            first.pop("key", None)
            return answer, first

    answer, first = probed_and_measured("one run")
    assert first == answer
    again, later = probed_and_measured("one run")
    assert later == answer and again != answer
    other, of_other = probed_and_measured("another run")
    assert of_other == other
