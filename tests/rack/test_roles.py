"""Roles for a switch with an SDE: what they do to it, twice, and in check mode."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from subprocess import PIPE
from typing import Any

import pytest

from .conftest import CLI, PORTS, WANTED, Rack, changed, record_of


def test_preflight_of_a_good_switch_changes_nothing(rack: Rack) -> None:
    assert changed(rack.role("sde_preflight")) == 0


@pytest.mark.parametrize(
    ("variables", "says"),
    [
        ({"sde_preflight_install": "/nonexistent"}, "has no bin/bf_switchd and bin/bfshell"),
        ({"sde_preflight_version": "9.7.0"}, "is release 9.13.4; expected 9.7.0"),
        ({"sde_preflight_module": "bf_kpkt"}, "kernel module bf_kpkt is not loaded"),
        ({"sde_preflight_module": ""}, "bf_kdrv is loaded; expected none where a model"),
        ({"sde_preflight_huge_pages": 512}, "vm.nr_hugepages is 196; expected at least 512"),
    ],
    ids=["no_sde", "version", "module", "module_beside_model", "huge_pages"],
)
def test_preflight_names_what_is_wrong(rack: Rack, variables: dict, says: str) -> None:
    done = rack.role("sde_preflight", **variables)
    assert done.returncode != 0
    assert says in " ".join(done.stdout.split()), done.stdout


def test_preflight_names_a_port_that_something_else_has(rack: Rack) -> None:
    listener = (
        "import socket, sys; s = socket.create_server(('', 9999)); print(flush=True); "
        "sys.stdin.read()"
    )
    command = rack.inside("python3", "-c", listener)
    with subprocess.Popen(command, stdin=PIPE, stdout=PIPE, text=True) as process:
        assert process.stdout and process.stdout.readline()
        done = rack.role("sde_preflight")
        process.communicate()
    assert "ports 9999 are taken, and not by a bf_switchd" in " ".join(done.stdout.split())
    assert done.returncode != 0


def test_program_is_compiled_once_per_source_and_flag(rack: Rack) -> None:
    assert changed(rack.role("p4_program", "--check")) == 1
    assert not list(rack.root.glob("compiled/*")), "check mode leaves nothing"
    assert changed(rack.role("p4_program")) == 1
    assert changed(rack.role("p4_program")) == 0
    assert changed(rack.role("p4_program", p4_program_flags=["--verbose"])) == 1
    source = rack.root / "p4/nocache/nocache.p4"
    source.write_text(source.read_text() + "// another\n")
    assert changed(rack.role("p4_program")) == 1
    assert len(list(rack.root.glob("compiled/nocache-*"))) == 3


def test_conf_of_a_program_names_its_files_wherever_it_lies(rack: Rack) -> None:
    changed(rack.role("p4_program"))
    (device,) = json.loads(rack.conf.read_text())["p4_devices"]
    (program,) = device["p4_programs"]
    (pipeline,) = program["p4_pipelines"]
    for path in (program["bfrt-config"], pipeline["context"], pipeline["config"]):
        assert path.startswith(str(rack.root)), path
        assert os.path.getsize(path) > 0, path  # noqa: PTH202  a path of JSON


def test_reports_come_to_the_controller(rack: Rack) -> None:
    changed(rack.role("p4_program"))
    reports = {path.name for path in (rack.root / "reports").iterdir()}
    assert {"context.json", "resources.json", "phv.json", "bfrt.json"} <= reports
    (rack.root / "reports/phv.json").unlink()
    assert changed(rack.role("p4_program")) == 1, "what is lost is fetched again"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"compiler_status": 1}, "the program does not compile (exit status 1)"),
        ({"compiler_status": 3}, "does not fit the chip or breaks one of its rules"),
        ({"compiler_status": 4}, "the compiler itself failed on this program (exit status 4)"),
        ({"compiler_status": 100}, "a tool of the compiler's chain was not found"),
        ({"compiler_leaves_no_binary": True}, "ended with 0 but left no tofino.bin"),
    ],
)
def test_failed_compilation_is_told_by_its_kind(rack: Rack, settings: dict, says: str) -> None:
    rack.fake(**settings)
    done = rack.role("p4_program")
    assert done.returncode != 0
    assert says in " ".join(done.stdout.split()), done.stdout
    (kept,) = rack.root.glob("compiled/*")
    assert kept.name.endswith(".failed"), "a failed output is never taken for one that succeeded"
    rack.fake()
    assert changed(rack.role("p4_program")) == 1


def test_switchd_is_started_once_and_stopped(rack: Rack) -> None:
    changed(rack.role("p4_program"))
    assert changed(rack.role("switchd", "--check")) == 1
    assert rack.switchds() == []
    assert changed(rack.role("switchd")) == 1
    (pid,) = rack.switchds()
    assert record_of(rack)["pid"] == pid
    assert rack.ports_open() == list(PORTS.values())
    assert changed(rack.role("switchd")) == 0
    assert changed(rack.role("sde_preflight")) == 0, "its own switchd is not in its way"
    assert rack.switchds() == [pid]
    assert changed(rack.role("switchd", "--check", tasks="stop")) == 1
    assert rack.switchds() == [pid]
    assert changed(rack.role("switchd", tasks="stop")) == 1
    assert (rack.switchds(), rack.ports_open()) == ([], [])
    assert changed(rack.role("switchd", tasks="stop")) == 0


def test_check_mode_needs_no_program_that_would_be_compiled_first(rack: Rack) -> None:
    assert changed(rack.role("switchd", "--check")) == 1
    assert rack.switchds() == []


def test_switchd_is_started_anew_for_other_arguments(rack: Rack) -> None:
    rack.start()
    (first,) = rack.switchds()
    assert changed(rack.role("switchd", switchd_arguments=["--skip-port-add"])) == 1
    (second,) = rack.switchds()
    assert second != first


def test_switchd_that_died_is_started_again(rack: Rack) -> None:
    rack.start()
    (pid,) = rack.switchds()
    os.kill(pid, signal.SIGKILL)
    assert changed(rack.role("switchd")) == 1
    assert len(rack.switchds()) == 1


def test_signal_goes_to_switchd_below_its_wrapper(rack: Rack) -> None:
    """run_switchd.sh starts sudo, which hands SIGTERM on to nobody."""
    changed(rack.role("p4_program"))
    wrapper = [str(rack.root / "fake/sde/run_switchd.sh"), "-c", str(rack.conf), "--"]
    argv = [*wrapper, "--background"]
    assert changed(rack.role("switchd", switchd_argv=argv)) == 1
    (pid,) = rack.switchds()
    assert record_of(rack)["pid"] == pid
    done = rack.role("switchd", tasks="stop")
    assert changed(done) == 1
    assert "was killed" not in done.stdout
    assert (rack.switchds(), rack.ports_open()) == ([], [])
    assert "Quitting" in rack.log


def test_switchd_without_a_program_is_not_started(rack: Rack) -> None:
    done = rack.role("switchd")
    assert done.returncode != 0
    assert "no.conf is missing; expected the conf of a compiled program" in done.stdout
    assert rack.switchds() == []


@pytest.mark.parametrize("ending", ["exit", "crash", "hang"])
def test_conf_that_switchd_cannot_read(rack: Rack, ending: str) -> None:
    """What follows is undefined in the real one: it ends somehow, or hangs."""
    rack.fake(conf_failure=ending)
    conf = rack.root / "broken.conf"
    conf.write_text("{")
    done = rack.role("switchd", switchd_conf=str(conf), switchd_ready_deadline_s=10)
    assert done.returncode != 0
    assert "Loading conf_file failed" in done.stdout, "the log says why"
    assert rack.switchds() == []


def test_module_is_loaded_once(rack: Rack) -> None:
    rack.fake("module_missing")
    assert changed(rack.role("switchd", tasks="configure", switchd_module="bf_kdrv")) == 1
    assert changed(rack.role("switchd", tasks="configure", switchd_module="bf_kdrv")) == 0
    assert changed(rack.role("sde_preflight")) == 0


def test_ports_are_set_once(rack: Rack) -> None:
    rack.start()
    assert rack.chip("info")["ports"][0]["enabled"] is False
    checked = rack.role("switch_ports", "--check", "--diff")
    assert changed(checked) == 1
    assert "9/0 (28): absent" in checked.stdout
    row = "9/0 (28): BF_SPEED_100G BF_FEC_TYP_REED_SOLOMON PM_AN_FORCE_DISABLE BF_LPBK_NONE True"
    assert row in checked.stdout
    written = rack.role("switch_ports", "--diff")
    assert changed(written) == 1
    assert row in written.stdout
    assert changed(rack.role("switch_ports")) == 0
    assert changed(rack.role("switch_ports", "--check", **CLI)) == 0, "the other way sees the same"
    up = {port["port"]: port["enabled"] for port in rack.chip("info")["ports"]}
    assert up.pop(64) is False, "the CPU port: nobody has added it"
    assert up == {28: True, 20: False, 12: True, 36: False, 132: False}, "packets pass there alone"


def test_ports_are_set_once_on_the_command_line(rack: Rack) -> None:
    rack.start()
    assert changed(rack.role("switch_ports", "--check", **CLI)) == 1
    assert changed(rack.role("switch_ports", **CLI)) == 1
    assert changed(rack.role("switch_ports", **CLI)) == 0
    assert changed(rack.role("switch_ports", "--check")) == 0, "the other way sees the same"


def test_port_with_another_speed_is_added_anew_and_others_stay(rack: Rack) -> None:
    rack.start()
    assert changed(rack.role("switch_ports")) == 1
    other = {"name": "17/0", "speed": "25G", "fec": "none", "loopback": "pcs-near"}
    done = rack.role("switch_ports", "--diff", switch_ports_wanted=[other])
    assert changed(done) == 1
    assert "17/0 (44): BF_SPEED_25G BF_FEC_TYP_NONE PM_AN_DEFAULT BF_LPBK_PCS_NEAR" in done.stdout
    assert changed(rack.role("switch_ports", switch_ports_wanted=[*WANTED[:2], other])) == 0


def test_queues_are_set_once(rack: Rack) -> None:
    rack.start()
    queues = [
        {"port": "9/0", "queue": 5, "priority": 5, "max_rate_kbps": 40000},
        {"port": "11/0", "max_rate_kbps": 250000, "max_burst_bytes": 9000},
    ]
    assert changed(rack.role("switch_ports", "--check", switch_ports_queues=queues)) == 1
    assert changed(rack.role("switch_ports", switch_ports_queues=queues)) == 1
    assert changed(rack.role("switch_ports", switch_ports_queues=queues)) == 0
    found = {port["port"]: port for port in rack.chip("tm_read")["ports"]}
    assert found[28]["queues"][5]["max_rate_bps"] == 40_000_000
    assert found[12]["max_rate_bps"] == 250_000_000
    weighted = [{"port": "9/0", "queue": 5, "priority": 7}]
    refused = rack.role("switch_ports", switch_ports_queues=weighted)
    assert refused.returncode != 0
    assert "softswitch serves this queue with priority 5" in " ".join(refused.stdout.split())


def test_bf_runtime_is_reached_at_an_address_without_the_hosts_connection(rack: Rack) -> None:
    """Where the controller is in a network that bf_switchd listens on."""
    assert rack.execute("ip", "address", "add", "192.0.2.2/32", "dev", "lo").returncode == 0
    address = "192.0.2.2:50052"
    far: dict[str, Any] = {"in_its_network": True, "ansible_netns_name": "there-is-none"}
    ports: dict[str, Any] = far | {"switch_ports_grpc_address": address}
    route = {"dst_addr": {"value": 0xC6120000, "prefix_len": 24}}
    entry = {"table": "ipv4_lpm", "key": route, "action": "forward", "data": {"port": 28, "mac": 5}}
    entries = far | {
        "switch_program_grpc_address": address,
        "switch_program_entries": [entry],
    }
    rack.start()
    quick = ports | {"switch_ports_command_deadline_s": 2}
    refused = rack.role("switch_ports", **quick)
    assert refused.returncode != 0, "--server-listen-local-only"
    assert f"switch {address}: UNAVAILABLE" in " ".join(refused.stdout.split()), refused.stdout
    assert changed(rack.role("switch_ports", "--check", **quick)) == 1, "as of one not started"
    assert changed(rack.role("switchd", switchd_arguments=[])) == 1
    assert changed(rack.role("switch_ports", **ports)) == 1
    assert changed(rack.role("switch_ports")) == 0, "the other way sees the same"
    assert changed(rack.role("switch_program", **entries)) == 1
    assert changed(rack.role("switch_program", **entries)) == 0
    lost = rack.role("switch_ports", **far)
    assert lost.returncode != 0, "without the address this connection is needed"


@pytest.mark.parametrize("way", [{}, CLI], ids=["grpc", "cli"])
def test_ports_of_a_switch_that_is_not_started_would_all_be_added(
    rack: Rack, way: dict[str, str]
) -> None:
    assert changed(rack.role("switch_ports", "--check", **way)) == 1
    refused = rack.role("switch_ports", **way)
    assert refused.returncode != 0
    assert "expected a bf_switchd that is ready" in " ".join(refused.stdout.split())


@pytest.mark.parametrize("way", [{}, CLI], ids=["grpc", "cli"])
def test_inventory_with_another_dev_port_than_the_board_is_refused(
    running_rack: Rack, way: dict[str, str]
) -> None:
    wanted = [{"name": "9/0", "dev_port": 132, "speed": "100G", "fec": "rs", "peer": "server0"}]
    done = running_rack.role("switch_ports", switch_ports_wanted=wanted, **way)
    assert done.returncode != 0
    assert "9/0 is dev_port 28 of this board; the inventory says 132 (server0)" in " ".join(
        done.stdout.split()
    )


@pytest.mark.parametrize(
    ("way", "wanted", "says"),
    [
        ({}, {"name": "9/0", "speed": "100G", "fec": "none"}, "expected a cable, and the same"),
        ({}, {"name": "5/0", "speed": "100G", "fec": "none"}, "the board has no port 5/0"),
        (CLI, {"name": "9/0", "speed": "100G", "fec": "none"}, "expected the same speed, FEC"),
        (CLI, {"name": "17/0", "speed": "100G", "fec": "none"}, "17/0: no cable or module (RDY NO"),
        (CLI, {"name": "5/0", "speed": "100G", "fec": "none"}, "the board has no port 5/0"),
    ],
    ids=["other_fec", "no_port", "cli_other_fec", "cli_no_cable", "cli_no_port"],
)
def test_port_that_does_not_come_up_is_named_with_the_reason(
    running_rack: Rack, way: dict[str, str], wanted: dict[str, str], says: str
) -> None:
    done = running_rack.role(
        "switch_ports", switch_ports_wanted=[wanted], switch_ports_up_deadline_s=1, **way
    )
    assert done.returncode != 0
    assert says in " ".join(done.stdout.split()), done.stdout


def test_multicast_mirrors_and_entries_are_written_once(rack: Rack) -> None:
    rack.start()
    route = {"dst_addr": {"value": 0xC6120000, "prefix_len": 24}}
    given = {
        "switch_program_multicast": [
            {"group": 1, "nodes": [{"id": 7, "rid": 3, "ports": ["9/0", 12]}]}
        ],
        "switch_program_mirrors": [{"session": 5, "port": "10/0", "max_length": 128}],
        "switch_program_entries": [
            {"table": "ipv4_lpm", "key": route, "action": "forward", "data": {"port": 28, "mac": 5}}
        ],
    }
    assert changed(rack.role("switch_program", "--check", "--diff", **given)) == 1
    written = rack.role("switch_program", "--diff", **given)
    assert changed(written) == 1
    assert "insert $pre.mgid 1" in written.stdout
    assert changed(rack.role("switch_program", **given)) == 0
    [node] = rack.chip("table_read", table="$pre.node")["entries"]
    assert node["data"]["$DEV_PORT"] == [12, 28]
    [session] = rack.chip("table_read", table="$mirror.cfg")["entries"]
    assert session["data"]["$ucast_egress_port"] == 20
    given["switch_program_entries"][0]["data"]["port"] = 36
    other = rack.role("switch_program", "--diff", **given)
    assert changed(other) == 1
    assert "modify ipv4_lpm" in other.stdout and "insert" not in other.stdout
    [entry] = rack.chip("table_read", table="ipv4_lpm")["entries"]
    assert entry["data"] == {"port": 36, "mac": 5}
