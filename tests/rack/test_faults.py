"""Each fault of a rack: what the operator is told, and how the switch is left. docs/rack.md has
the table.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from turntable_sde import pm

from .conftest import CLI, PORTS, REPOSITORY, Rack, changed
from .fake.machine import FAULTS

# For what is waited for until the deadline: a short one first, at last the usual one.
DEADLINES_S = (1, 4, 30)


def said(done: subprocess.CompletedProcess[str]) -> str:
    """Of a role that failed, on one line."""
    assert done.returncode != 0, done.stdout
    return " ".join(done.stdout.split())


def test_never_ready(rack: Rack) -> None:
    rack.fake("never_ready")
    changed(rack.role("p4_program"))
    text = said(rack.role("switchd", switchd_ready_deadline_s=10))
    assert "did not become ready within 10.0 s: its status port 7777 says 0; expected 1" in text
    assert "listening on port 9999" in text, "the end of the log"
    assert (rack.switchds(), rack.ports_open()) == ([], [])


def test_crash_after_start(rack: Rack) -> None:
    rack.fake("crash_after_start")
    changed(rack.role("p4_program"))
    text = said(rack.role("switchd"))
    assert "before it was ready" in text and "Segmentation fault" in text
    assert (rack.switchds(), rack.ports_open()) == ([], [])


def test_grpc_refused(rack: Rack) -> None:
    rack.fake("grpc_refused")
    changed(rack.role("p4_program"))
    text = said(rack.role("switchd"))
    assert "bf_switchd is ready but its port 50052 (bfrt) is closed" in text
    assert len(rack.switchds()) == 1, "it runs, to be looked at"
    assert changed(rack.role("switchd", tasks="stop")) == 1
    assert rack.switchds() == []


def test_port_never_up(rack: Rack) -> None:
    rack.fake("port_never_up")
    rack.start()
    text = said(rack.role("switch_ports", switch_ports_up_deadline_s=1))
    where = "not up within 1 s: 9/0: enabled, not up "
    assert f"{where}(BF_SPEED_100G, BF_FEC_TYP_REED_SOLOMON, PM_AN_FORCE_DISABLE)" in text
    text = said(rack.role("switch_ports", switch_ports_up_deadline_s=1, **CLI))
    assert f"{where}(100G, FEC RS, AN Ds)" in text


@pytest.mark.parametrize(
    ("way", "says"),
    [
        ({}, "insert $PORT 28 SPEED=BF_SPEED_100G FEC=BF_FEC_TYP_REED_SOLOMON: ALREADY_EXISTS"),
        (CLI, "port-add 9/0 100G RS: Add failed Already exists (4)"),
    ],
    ids=["grpc", "cli"],
)
def test_port_already_exists(rack: Rack, way: dict[str, str], says: str) -> None:
    rack.fake("port_already_exists")
    rack.start()
    assert says in said(rack.role("switch_ports", **way))
    assert changed(rack.role("switch_ports", **way)) == 1, "what is there is seen, and put right"
    assert changed(rack.role("switch_ports", **way)) == 0


def test_readback_differs(rack: Rack) -> None:
    rack.fake("readback_differs")
    rack.start()
    assert "9/0: $FEC is BF_FEC_TYP_NONE after BF_FEC_TYP_REED_SOLOMON was written" in said(
        rack.role("switch_ports")
    )
    assert "9/0: FEC is NONE after RS was written" in said(rack.role("switch_ports", **CLI))


def test_truncated_output(rack: Rack) -> None:
    rack.fake("truncated_output")
    rack.start()
    text = said(rack.role("switch_ports", **CLI))
    assert "the CLI closed the session after" in text and "Its output is cut short" in text


def test_unavailable_once(rack: Rack) -> None:
    rack.fake("unavailable_once")
    rack.start()
    assert changed(rack.role("switch_ports")) == 1, "the write is sent again"
    assert "Resource temporarily not available" in rack.log, "it was refused before"
    assert changed(rack.role("switch_ports")) == 0


def test_stale_owner(rack: Rack) -> None:
    rack.fake("stale_owner", stale_for_s=None)
    rack.start()
    for deadline_s in DEADLINES_S:
        text = said(rack.role("switch_ports", switch_ports_command_deadline_s=deadline_s))
        if "bind to nocache at" in text:
            break
    assert "bind to nocache at" in text and "ALREADY_EXISTS" in text and "4711" in text
    assert ports_added(rack) == [], "nothing was written"
    rack.fake("stale_owner", stale_for_s=6)
    assert changed(rack.role("switchd", tasks="stop")) == 1
    rack.start()
    assert changed(rack.role("switch_ports")) == 1, "its end is waited for"


def test_duplicate_client_id(rack: Rack) -> None:
    rack.fake("duplicate_client_id")
    rack.start()
    for deadline_s in DEADLINES_S:
        text = said(rack.role("switch_ports", switch_ports_command_deadline_s=deadline_s))
        if "subscribe as client 20" in text:
            break
    assert "subscribe as client 20 of switch" in text and "INVALID_ARGUMENT" in text
    assert ports_added(rack) == [], "nothing was written"


def test_other_schema(rack: Rack) -> None:
    rack.fake("other_schema")
    rack.start()
    assert "it runs netclone; expected nocache" in said(rack.role("switch_ports"))
    assert ports_added(rack) == [], "nothing was written"


def test_register_list_length(rack: Rack) -> None:
    rack.fake("register_list_length")
    rack.start()
    text = said(rack.role("switch_ports"))
    assert "the chip has 4 pipes; the wiring table says 2: each register would be read as 2" in text
    assert ports_added(rack) == [], "nothing was written"
    assert changed(rack.role("switch_ports", switch_ports_pipes=4)) == 1


def test_module_missing(rack: Rack) -> None:
    rack.fake("module_missing")
    text = said(rack.role("sde_preflight"))
    assert "kernel module bf_kdrv is not loaded" in text and "intr_mode=msi" in text


def test_wrong_version(rack: Rack) -> None:
    rack.fake("wrong_version")
    assert "is release 9.2.0; expected 9.13.4" in said(rack.role("sde_preflight"))


def test_foreign_switchd(rack: Rack) -> None:
    changed(rack.role("p4_program"))
    with foreign_switchd(rack) as pid:
        for role in ("sde_preflight", "switchd"):
            text = said(rack.role(role))
            assert f"bf_switchd {pid} of user root, running for " in text
            assert f"{rack.conf} is in the way: a chip has one owner" in text
        assert changed(rack.role("switchd", tasks="stop")) == 0
        assert rack.switchds() == [pid], "nobody else's is ended"
        assert changed(rack.role("switchd", switchd_take_over=True)) == 1
        (ours,) = rack.switchds()
        assert ours != pid


def test_sigterm_ignored(rack: Rack) -> None:
    rack.fake("sigterm_ignored")
    rack.start()
    done = rack.role("switchd", tasks="stop", switchd_stop_deadline_s=1)
    assert changed(done) == 1
    assert "did not end within 1 s of SIGTERM and was killed" in " ".join(done.stdout.split())
    assert (rack.switchds(), rack.ports_open()) == ([], [])


def test_every_fault_has_a_test_and_a_row_in_the_documentation() -> None:
    page = (REPOSITORY / "docs/rack.md").read_text()
    for fault in FAULTS:
        assert f"test_{fault}" in globals()
        assert f"`{fault}`" in page


def ports_added(rack: Rack) -> list[str]:
    """As the command line shows them."""
    program = str(rack.machine.install / "bin/bfshell")
    with subprocess.Popen(
        rack.inside(program), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as shell:
        assert shell.stdin and shell.stdout
        shell.stdin.write("ucli\npm show\nexit\nexit\n")
        shell.stdin.flush()
        shown = shell.stdout.read()
    return list(pm.rows_of(shown))


@contextmanager
def foreign_switchd(rack: Rack) -> Iterator[int]:
    """One that somebody has started by hand."""
    program = str(rack.machine.install / "bin/bf_switchd")
    argv = ["--install-dir", str(rack.machine.install), "--conf-file", str(rack.conf)]
    command = rack.inside(program, *argv, "--background", "--status-port", str(PORTS["status"]))
    environment = os.environ | rack.environment
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout
        for line in process.stdout:
            if "gRPC server started" in line:
                break
        yield process.pid
        process.kill()
