"""Facts about a switch with an SDE that roles rely on, and that the fake one is made of.

    pytest tests/rack/test_conformance.py                                                the fake
    pytest tests/rack/test_conformance.py --rack 'ssh root@switch0' --rack-sde /opt/bf-sde-9.13.4

With --rack, a bf_switchd has to run there, on the usual ports, with a program that no control
plane owns. What is written is what an SDE takes for nothing (a port added as it is) or refuses,
and one mirror session that is disabled and deleted again; facts of starting and ending are asked
of the fake alone.
"""

from __future__ import annotations

import json
import os
import shlex
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import grpc
import pytest

from turntable_bfrt import BfrtError, Client, Update, messages
from turntable_sde import pm
from turntable_sde.relay import Relay, carrying

from .conftest import BUILD, PORTS, Rack, machine_of

DESCRIPTORS = BUILD / "lib/bfrt/bfruntime.desc"
CLIENT_ID = 29
# Of 1,023 the last but one; artifacts count from 1.
MIRROR_SESSION = 1022

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

    @contextmanager
    def bfrt(self, deadline_s: float = 10) -> Iterator[Client]:
        """A client of BF Runtime at the switch's loopback, which owns nothing yet."""
        carry = carrying(PORTS["bfrt"])
        command = [*self.prefix, "/bin/sh", "-c", carry]
        if self.prefix[:1] == ["ssh"]:
            command = [*self.prefix, f"/bin/sh -c {shlex.quote(carry)}"]
        with (
            Relay(command) as relay,
            Client(relay.address, CLIENT_ID, DESCRIPTORS, deadline_s) as client,
        ):
            yield client


@pytest.fixture
def switch(request: pytest.FixtureRequest) -> Switch:
    return asked(request, "running_rack")


def asked(request: pytest.FixtureRequest, fake: str) -> Switch:
    """The one of --rack, otherwise that of the fixture."""
    prefix, sde = request.config.getoption("--rack"), request.config.getoption("--rack-sde")
    if prefix:
        if not sde:
            pytest.fail("--rack without --rack-sde; expected the path of the SDE's tree there")
        return Switch(shlex.split(prefix), sde)
    rack: Rack = request.getfixturevalue(fake)
    return Switch(rack.inside(), str(rack.root / "fake/sde"))


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


# --- BF Runtime ---


@pytest.fixture
def bfrt(switch: Switch) -> Iterator[Client]:
    with switch.bfrt() as client:
        client.bind(client.programs()[0])
        yield client


@pytest.fixture
def rows(switch: Switch) -> dict[str, dict[str, str]]:
    """All ports of the board, as the command line shows them."""
    return pm.rows_of(show(switch, "show -a"))


@pytest.fixture
def added(request: pytest.FixtureRequest, bfrt: Client) -> Iterator[dict[str, Any]]:
    """The row of a port that is there."""
    ours = not request.config.getoption("--rack")
    if ours:
        first = {"$SPEED": "BF_SPEED_100G", "$FEC": "BF_FEC_TYP_NONE"}
        bfrt.write([Update("insert", "$PORT", {"$DEV_PORT": 28}, first)])
    there = [entry.key | entry.data for entry in bfrt.read("$PORT")]
    if not there:
        pytest.skip("no port has been added on this switch")
    yield there[0]
    if ours:
        bfrt.write([Update("delete", "$PORT", {"$DEV_PORT": 28})])


@pytest.fixture
def missing(bfrt: Client, rows: dict[str, dict[str, str]]) -> dict[str, int]:
    """The key of a port that the board has and nobody has added."""
    there = {entry.key["$DEV_PORT"] for entry in bfrt.read("$PORT")}
    numbers = [number for row in rows.values() if (number := int(row["D_P"])) not in there]
    if not numbers:
        pytest.skip("all ports of this switch have been added")
    return {"$DEV_PORT": numbers[0]}


def refusals(client: Client, *updates: Update) -> list[str]:
    """The status of each update that was not done."""
    try:
        client.write(updates)
    except BfrtError as error:
        return [code for _, code, _ in error.updates] or [error.code]
    return []


def test_program_is_bound_once_by_the_same_client_too(switch: Switch) -> None:
    with switch.bfrt(deadline_s=3) as client:
        client.bind(client.programs()[0])
        with pytest.raises(BfrtError) as refused:
            client.bind(client.programs()[0])
    assert refused.value.code == "ALREADY_EXISTS"


def test_shared_is_no_program_beside_another(switch: Switch) -> None:
    """Fixed tables alone have it, where no program is loaded."""
    with switch.bfrt() as client:
        assert "$SHARED" not in client.programs()
    carry = ["/bin/sh", "-c", carrying(PORTS["bfrt"])]
    if switch.prefix[:1] == ["ssh"]:
        carry = [shlex.join(carry)]
    proto = messages.load(DESCRIPTORS)
    with Relay([*switch.prefix, *carry]) as relay, grpc.insecure_channel(relay.address) as channel:
        calls = messages.Calls(channel, proto)
        request = proto.ReadRequest(client_id=CLIENT_ID, p4_name="$SHARED")
        request.target.pipe_id = 0xFFFF
        with pytest.raises(grpc.RpcError) as refused:
            list(calls.read(request, timeout=10))
    assert refused.value.code() is grpc.StatusCode.NOT_FOUND


def test_names_of_ports_are_looked_up_without_asking_the_hardware(
    bfrt: Client, rows: dict[str, dict[str, str]]
) -> None:
    """Also of ports that nobody has added."""
    for name, row in list(rows.items())[:8]:
        key = {"$PORT_NAME": name}
        [entry] = bfrt.read("$PORT_STR_INFO", [key])
        assert entry.data["$DEV_PORT"] == int(row["D_P"])
        with pytest.raises(BfrtError) as refused:
            bfrt.read("$PORT_STR_INFO", [key], from_hardware=True)
        assert [code for _, code, _ in refused.value.updates] == ["UNIMPLEMENTED"]


def test_port_that_is_there_is_added_again_without_a_word(
    bfrt: Client, added: dict[str, Any]
) -> None:
    key = {"$DEV_PORT": added["$DEV_PORT"]}
    same = {name: added[name] for name in ("$SPEED", "$FEC")}
    assert refusals(bfrt, Update("insert", "$PORT", key, same)) == []
    [entry] = bfrt.read("$PORT", [key])
    assert entry.key | entry.data == added


def test_missing_port_is_deleted_without_a_word(bfrt: Client, missing: dict[str, int]) -> None:
    assert refusals(bfrt, Update("delete", "$PORT", missing)) == []


def test_missing_port_is_not_found(bfrt: Client, missing: dict[str, int]) -> None:
    with pytest.raises(BfrtError):
        bfrt.read("$PORT", [missing])


@pytest.mark.parametrize("given", [{"$SPEED": "BF_SPEED_100G"}, {"$FEC": "BF_FEC_TYP_NONE"}])
def test_port_is_added_with_speed_and_fec_only(
    bfrt: Client, missing: dict[str, int], given: dict[str, str]
) -> None:
    assert refusals(bfrt, Update("insert", "$PORT", missing, given)) == ["INVALID_ARGUMENT"]


def test_mirror_session_that_is_there_or_missing_is_an_invalid_argument(bfrt: Client) -> None:
    key = {"$sid": MIRROR_SESSION}
    off = {"$session_enable": False, "$direction": "INGRESS"}
    insert = Update("insert", "$mirror.cfg", key, off, "$normal")
    modify = Update("modify", "$mirror.cfg", key, off, "$normal")
    delete = Update("delete", "$mirror.cfg", key)
    if refusals(bfrt, insert):
        pytest.skip(f"mirror session {MIRROR_SESSION} is in use")
    try:
        assert refusals(bfrt, insert) == ["INVALID_ARGUMENT"]
    finally:
        bfrt.write([delete])
    assert refusals(bfrt, delete) == ["INVALID_ARGUMENT"]
    assert refusals(bfrt, modify) == ["INVALID_ARGUMENT"]


@pytest.fixture(scope="module")
def farreach_rack() -> Iterator[Rack]:
    """Its chip runs a program that has registers and counters."""
    with machine_of("cells") as made:
        made.fake("other_schema", other_program="farreach")
        made.start()
        yield made


@pytest.mark.parametrize(
    ("kind", "index"), [("Register", "$REGISTER_INDEX"), ("Counter", "$COUNTER_INDEX")]
)
def test_one_cell_is_not_deleted(request: pytest.FixtureRequest, kind: str, index: str) -> None:
    with asked(request, "farreach_rack").bfrt() as client:
        client.bind(client.programs()[0])
        table = next((one for one in client.tables().values() if one.type == kind), None)
        if table is None:
            pytest.skip(f"the switch runs a program without a {kind}")
        assert refusals(client, Update("delete", table.name, {index: 0})) == ["UNIMPLEMENTED"]


def test_port_that_is_there_keeps_its_speed_when_it_is_added_with_another(rack: Rack) -> None:
    """Of the fake alone: elsewhere it would be tried on a port in use."""
    rack.start()
    key = {"$DEV_PORT": 28}
    with Switch(rack.inside(), "").bfrt() as client:
        client.bind(client.programs()[0])
        for speed, fec in (("100G", "NONE"), ("25G", "FIRECODE")):
            data = {"$SPEED": f"BF_SPEED_{speed}", "$FEC": f"BF_FEC_TYP_{fec}"}
            assert refusals(client, Update("insert", "$PORT", key, data)) == []
        [entry] = client.read("$PORT", [key])
    assert (entry.data["$SPEED"], entry.data["$FEC"]) == ("BF_SPEED_100G", "BF_FEC_TYP_NONE")


# --- Starting and ending: of the fake alone ---


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
