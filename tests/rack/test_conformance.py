"""Facts about a switch with an SDE that roles rely on, and that the fake one is made of.

    pytest tests/rack/test_conformance.py                                                the fake
    pytest tests/rack/test_conformance.py --rack 'ssh root@switch0' --rack-sde /opt/bf-sde-9.13.4

With --rack, a bf_switchd has to run there, on the usual ports. Nothing is changed: ports are only
shown, and facts of
starting and ending are asked of the fake alone.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from turntable_sde import pm

from .conftest import Rack

# Bytes that are sent to a port of the switch, and what comes back until it is silent or closed.
EXCHANGE = """
import json, socket, sys, time
port, sent, until = json.loads({arguments!r})
with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
    said = b""
    for text, end in zip(sent, until):
        connection.sendall(text.encode())
        while not said.decode(errors="replace").endswith(end):
            data = connection.recv(65536)
            if not data:
                break
            said += data
    connection.settimeout(0.3)
    try:
        closed = connection.recv(1) == b""
    except socket.timeout:
        closed = False
print(json.dumps([said.decode(errors="replace"), closed]))
"""


@dataclass
class Switch:
    prefix: list[str]
    sde: str

    def run(self, *command: str, text: str | None = None) -> subprocess.CompletedProcess[str]:
        """text: standard input; without one it is at its end at once."""
        words = [*self.prefix, *command]
        if self.prefix[:1] == ["ssh"]:
            words = [*self.prefix, shlex.join(command)]
        return subprocess.run(
            words, input=text or "", capture_output=True, text=True, timeout=120, check=False
        )

    def program(self, name: str, *arguments: str, text: str | None = None) -> Any:
        environment = ["env", f"SDE={self.sde}", f"SDE_INSTALL={self.sde}/install"]
        return self.run(*environment, f"{self.sde}/{name}", *arguments, text=text)

    def exchange(self, port: int, *turns: tuple[str, str]) -> tuple[str, bool]:
        """turns: what is sent, what ends the answer. All that was said; whether it closed."""
        sent, until = [turn[0] for turn in turns], [turn[1] for turn in turns]
        program = EXCHANGE.format(arguments=json.dumps([port, sent, until]))
        done = self.run("python3", "-", text=program)
        assert done.returncode == 0, done.stderr
        said, closed = json.loads(done.stdout)
        return said, closed


@pytest.fixture
def switch(request: pytest.FixtureRequest) -> Iterator[Switch]:
    prefix, sde = request.config.getoption("--rack"), request.config.getoption("--rack-sde")
    if prefix:
        if not sde:
            pytest.fail("--rack without --rack-sde; expected the path of the SDE's tree there")
        yield Switch(shlex.split(prefix), sde)
        return
    rack: Rack = request.getfixturevalue("running_rack")
    yield Switch(rack.inside(), str(rack.root / "fake/sde"))


def test_status_is_one_digit_in_and_one_out(switch: Switch) -> None:
    assert switch.exchange(7777, ("0", "1")) == ("1", True)


def test_arguments_that_are_missing_end_with_0_and_a_text(switch: Switch) -> None:
    done = switch.program("install/bin/bf_switchd")
    assert done.returncode == 0
    assert "ERROR" in done.stdout + done.stderr


def test_help_names_the_arguments_that_roles_use(switch: Switch) -> None:
    done = switch.program("install/bin/bf_switchd", "--help")
    text = done.stdout + done.stderr
    for option in (
        "install-dir",
        "conf-file",
        "background",
        "status-port",
        "server-listen-local-only",
    ):
        assert option in text


def test_prompts_of_the_command_line(switch: Switch) -> None:
    said, _ = switch.exchange(
        9999, ("", "bfshell> "), ("ucli\n", "bf-sde> "), ("pm\n", "bf-sde.pm> "),
        ("..\n", "bf-sde> "), ("exit\n", "bfshell> "),
    )  # fmt: skip
    assert "ucli\r\n" in said, "input is echoed, with CRLF"


def test_exit_leaves_the_command_line(switch: Switch) -> None:
    _, closed = switch.exchange(9999, ("", "bfshell> "), ("exit\n", "the other end closes"))
    assert closed


def show(switch: Switch, command: str) -> str:
    said, _ = switch.exchange(
        9999, ("", "bfshell> "), ("ucli\n", "bf-sde> "), ("pm\n", "bf-sde.pm> "),
        (f"{command}\n", "bf-sde.pm> "), ("exit\n", "bfshell> "),
    )  # fmt: skip
    return said


def test_all_ports_have_a_row_with_the_columns_that_are_read(switch: Switch) -> None:
    rows = pm.rows_of(show(switch, "show -a"))
    assert rows
    for row in rows.values():
        assert 0 <= int(row["D_P"]) < 512
        assert row["OPR"] in ("UP", "DWN") and row["ADM"] in ("ENB", "DIS")


def test_command_without_arguments_says_its_usage(switch: Switch) -> None:
    assert "Usage" in (pm.error_in(show(switch, "port-add").replace("\r\n", "\n")) or "")


def test_unknown_command_is_named(switch: Switch) -> None:
    assert pm.error_in(show(switch, "port-nonsense").replace("\r\n", "\n"))


def test_bfshell_ends_with_0_whatever_happened(switch: Switch) -> None:
    done = switch.program(
        "install/bin/bfshell", text="ucli\npm\nport-add\nport-nonsense\nexit\nexit\n"
    )
    assert done.returncode == 0


def test_bfshell_loses_output_when_its_input_ends(switch: Switch) -> None:
    done = switch.program("install/bin/bfshell", text="ucli\npm\nshow -a\n")
    assert done.returncode == 0
    assert "FRAMES TX" not in done.stdout


def test_module_is_not_loaded_twice(rack: Rack) -> None:
    module = str(rack.machine.install / "lib/modules/bf_kdrv.ko")
    done = rack.execute("insmod", module)
    assert done.returncode != 0
    assert "File exists" in done.stderr


def test_sigint_prints_a_hint_and_sigterm_ends(rack: Rack) -> None:
    rack.start()
    (pid,) = rack.switchds()
    os.kill(pid, signal.SIGINT)
    assert rack.role("switchd", tasks="stop").returncode == 0
    hint, quitting = rack.log.find("Ctrl-\\"), rack.log.find("Quitting")
    assert 0 <= hint < quitting


def test_second_switchd_cannot_bind(rack: Rack) -> None:
    rack.start()
    argv = ["--install-dir", str(rack.machine.install), "--conf-file", str(rack.conf)]
    program = str(rack.machine.install / "bin/bf_switchd")
    second = rack.execute(program, *argv, "--background", "--status-port", "7777")
    assert second.returncode != 0
    assert "bind" in second.stdout
    assert len(rack.switchds()) == 1


def test_unknown_argument_prints_the_usage(rack: Rack) -> None:
    done = rack.execute(str(rack.machine.install / "bin/bf_switchd"), "--no-such-option")
    assert "Usage" in done.stdout


def test_status_is_answered_before_it_is_ready(rack: Rack) -> None:
    """7777 opens first: an open port says nothing."""
    rack.fake("never_ready")
    rack.role("p4_program")
    argv = ["--install-dir", str(rack.machine.install), "--conf-file", str(rack.conf)]
    program = str(rack.machine.install / "bin/bf_switchd")
    command = rack.inside(program, *argv, "--background", "--status-port", "7777")
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout and "Install dir" in process.stdout.readline()
        assert "system services" in process.stdout.readline()
        switch = Switch(rack.inside(), "")
        assert switch.exchange(7777, ("0", "0")) == ("0", True)
        process.kill()
