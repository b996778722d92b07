"""Files of programs that are replaced, and programs that others load."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from bfrt.client import CallError as BfrtError
from bfrt.client import Client as BfrtClient
from bfrt.conftest import PORTS, Server
from bfrt.test_tables import insertion
from google.protobuf import text_format
from packet.live_switch import DEADLINE_S, SoftswitchTarget
from packet.targets import CommandFailedError

from bfrt import messages as bfrt_messages

from .client import CallError, Client
from .conftest import Programs
from .test_pipeline import program_of, set_program
from .test_tables import forward, frame


def replace(library: Path, by: Path) -> None:
    """As a linker and a package manager do: another file takes the name."""
    for ending in (".so", ".p4info.txtpb"):
        new = library.with_suffix(".new")
        shutil.copy(by.with_suffix(ending), new)
        new.rename(library.with_suffix(ending))


@pytest.fixture
def own(programs: Programs, tmp_path: Path) -> Path:
    """A program in a directory of its own, to be replaced."""
    library = tmp_path / "programs" / "it.so"
    library.parent.mkdir()
    replace(library, programs.library("packets"))
    return library


@pytest.fixture
def bare_switch(build_dir: Path, programs: Programs, tmp_path: Path) -> Iterator[SoftswitchTarget]:
    target = SoftswitchTarget(
        build_dir / "bin" / "softswitch", programs.library("everything"), tmp_path, PORTS
    )
    yield target
    target.close()


@pytest.fixture
def start_in_front(
    build_dir: Path, bare_switch: SoftswitchTarget
) -> Iterator[Callable[..., Server]]:
    servers: list[Server] = []

    def start(*options: str, name: str = "p4runtime-server") -> Server:
        directory = bare_switch.directory
        servers.append(Server(build_dir / "bin" / name, directory, *options, name=name))
        return servers[-1]

    yield start
    for server in servers:
        server.close()


def primary_of(server: Server, proto: SimpleNamespace) -> Client:
    client = Client(server.address, proto)
    assert client.open().arbitration.status.code == 0
    return client


def test_a_program_that_was_built_again_is_what_runs(
    start_in_front: Callable[..., Server],
    bare_switch: SoftswitchTarget,
    programs: Programs,
    own: Path,
    proto: SimpleNamespace,
) -> None:
    """Though its file has the name of the one before, which is loaded still."""
    client = primary_of(start_in_front(f"--programs={own.parent}"), proto)
    try:
        set_program(client, "VERIFY_AND_COMMIT", programs.config("packets"))
        assert program_of(client) == {"forward"}
        replace(own, programs.library("everything"))
        config = programs.config("everything")
        set_program(client, "VERIFY_AND_COMMIT", config)
        assert client.get_config() == config
        assert bare_switch.command("info")["program"] == "everything"
    finally:
        client.close()


def test_the_hash_is_that_of_what_runs(
    build_dir: Path, programs: Programs, own: Path, proto: SimpleNamespace, tmp_path: Path
) -> None:
    """Not that of the file that has its name now."""
    switch = SoftswitchTarget(build_dir / "bin" / "softswitch", own, tmp_path, PORTS)
    replace(own, programs.library("everything"))
    binary = build_dir / "bin" / "p4runtime-server"
    server = Server(binary, tmp_path, f"--programs={own.parent}", name="p4runtime-server")
    client = primary_of(server, proto)
    try:
        assert client.get_config().p4_device_config == programs.config("packets").p4_device_config
        set_program(client, "VERIFY_AND_COMMIT", programs.config("everything"))
        assert switch.command("info")["program"] == "everything"
    finally:
        client.close()
        server.close()
        switch.close()


def test_a_library_of_another_hash_is_not_loaded(
    bare_switch: SoftswitchTarget, programs: Programs
) -> None:
    path = str(programs.library("packets"))
    with pytest.raises(CommandFailedError) as failed:
        bare_switch.command("program_load", library=path, sha256="0" * 64)
    assert "bad_argument" in str(failed.value)
    assert f"{path}: its SHA-256 is " in str(failed.value)
    assert bare_switch.command("info")["program"] == "everything"


def test_the_p4info_of_a_program_is_its_librarys(
    start_in_front: Callable[..., Server], programs: Programs, own: Path, proto: SimpleNamespace
) -> None:
    """Whatever the file beside it says, and whether there is one."""
    client = primary_of(start_in_front(f"--programs={own.parent}"), proto)
    config, other = programs.config("packets"), programs.config("packets")
    other.p4info.tables[0].size += 1
    beside = own.with_suffix(".p4info.txtpb")
    try:
        beside.write_text(text_format.MessageToString(other.p4info))
        with pytest.raises(CallError) as failed:
            client.set_config("VERIFY_AND_COMMIT", other)
        assert failed.value.code.name == "INVALID_ARGUMENT"
        assert "the P4Info is not that of program packets. First difference: " in str(failed.value)
        beside.unlink()
        client.set_config("VERIFY_AND_COMMIT", config)
        assert client.get_config() == config
    finally:
        client.close()


def test_clients_do_not_hear_where_files_are(
    start_in_front: Callable[..., Server], programs: Programs, own: Path, proto: SimpleNamespace
) -> None:
    library = own.with_name("broken.so")
    library.write_bytes(b"no library")
    client = primary_of(start_in_front(f"--programs={own.parent}"), proto)
    try:
        digest = hashlib.sha256(library.read_bytes()).hexdigest().encode()
        for device_config, code in ((digest, "INTERNAL"), (b"0" * 64, "INVALID_ARGUMENT")):
            with pytest.raises(CallError) as failed:
                client.set_config("VERIFY", programs.config("packets", of=device_config))
            assert failed.value.code.name == code
            assert str(own.parent) not in failed.value.message
    finally:
        client.close()


def test_what_is_no_file_is_not_waited_for(
    start_in_front: Callable[..., Server], programs: Programs, own: Path, proto: SimpleNamespace
) -> None:
    os.mkfifo(own.with_name("pipe.so"))
    client = primary_of(start_in_front(f"--programs={own.parent}"), proto)
    try:
        with pytest.raises(CallError) as failed:
            client.set_config("VERIFY", programs.config("everything", of=b"0" * 64))
        assert failed.value.code.name == "INVALID_ARGUMENT"
    finally:
        client.close()


def test_a_directory_of_programs_is_one_and_not_everybodys(
    start_server: Any, bare_switch: SoftswitchTarget, tmp_path: Path
) -> None:
    status, complaint = start_server(bare_switch, "--programs", str(tmp_path / "nothing"))
    assert status == 1
    assert f"--programs {tmp_path}/nothing: there is no such directory" in complaint
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    status, complaint = start_server(bare_switch, "--programs", str(open_to_all))
    assert status == 1
    assert f"--programs {open_to_all}: everybody may write there" in complaint


def test_a_program_that_somebody_else_loads_ends_the_streams(
    start_in_front: Callable[..., Server],
    bare_switch: SoftswitchTarget,
    programs: Programs,
    proto: SimpleNamespace,
) -> None:
    server = start_in_front()
    client = primary_of(server, proto)
    try:
        bare_switch.command("program_load", library=str(programs.library("packets")))
        with pytest.raises(CallError) as ended:
            client.next()
        assert ended.value.code.name == "UNAVAILABLE"
        assert "softswitch was given program packets" in ended.value.message
    finally:
        client.close()
    following = primary_of(server, proto)
    try:
        assert program_of(following) == {"forward"}
        following.write(following.update("INSERT", table_entry=forward(following)))
        assert bare_switch.send(1, frame()) == [(2, frame())]
    finally:
        following.close()


def test_bfrt_server_serves_the_program_that_was_set(
    start_in_front: Callable[..., Server],
    bare_switch: SoftswitchTarget,
    programs: Programs,
    build_dir: Path,
) -> None:
    """Nothing is written by the names of the one before, and ports stay as they were."""
    server = start_in_front(name="bfrt-server")
    proto = bfrt_messages.load(build_dir)
    client = BfrtClient(server.address, proto, 1)
    following = BfrtClient(server.address, proto, 2)
    client.open()
    client.bind()
    update = insertion(client, 1, 1)
    port = client.entry("$PORT", {"$DEV_PORT": 3}, data={"$PORT_ENABLE": False})
    client.write_updates([client.update("MODIFY", port)])
    try:
        bare_switch.command("program_load", library=str(programs.library("packets")))
        with pytest.raises(BfrtError):
            client.write_updates([update])
        assert client.config().config[0].p4_name == "packets"
        end = client.message()
        assert isinstance(end, grpc.RpcError)
        assert end.code() == grpc.StatusCode.UNAVAILABLE
        assert "the switch runs program packets now" in (end.details() or "")
        following.open()
        following.bind("packets")
        assert following.usage("forward") == 0
        ports = {each["port"]: each["enabled"] for each in bare_switch.command("info")["ports"]}
        assert ports == {1: True, 2: True, 3: False}
    finally:
        client.cut()
        following.cut()


def test_commands_are_for_the_program_that_they_name(
    bare_switch: SoftswitchTarget, programs: Programs
) -> None:
    number = bare_switch.command("info")["program_number"]
    name = "pipe.Ingress.forward"
    bare_switch.command("table_read", table=name, program_number=number)
    bare_switch.command("program_load", library=str(programs.library("packets")))
    for command in ("table_read", "table_info", "digest_wait"):
        with pytest.raises(CommandFailedError) as failed:
            bare_switch.command(command, table=name, program_number=number, deadline_s=0)
        assert "program_changed" in str(failed.value)


def test_nobody_waits_for_digests_of_a_program_that_has_gone(
    bare_switch: SoftswitchTarget, programs: Programs
) -> None:
    def wait() -> Any:
        with socket.socket(socket.AF_UNIX) as control:
            control.settimeout(DEADLINE_S)
            control.connect(str(bare_switch.directory / "softswitch.sock"))
            arguments = {"deadline_s": 3600, "program_number": 1}
            request = {"id": 1, "command": "digest_wait", "args": arguments}
            control.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(control.makefile().readline())

    with ThreadPoolExecutor(1) as threads:
        answer = threads.submit(wait)
        bare_switch.command("program_load", library=str(programs.library("packets")))
        told = answer.result(2 * DEADLINE_S)
    # It may have begun after the change.
    if told["ok"]:
        assert told["result"]["digests"] == []
    else:
        assert told["error"]["code"] == "program_changed"


def test_commands_in_sequence_are_one(bare_switch: SoftswitchTarget, programs: Programs) -> None:
    """The first that fails ends them; what is for another program does nothing."""
    name = "pipe.Ingress.forward"
    insert = {
        "table": name,
        "op": "insert",
        "key": {"hdr.ethernet.dst_addr": 5},
        "action": "Ingress.send",
        "data": {"port": 2},
    }
    write = {"command": "table_write", "args": {"updates": [insert]}}
    number = bare_switch.command("info")["program_number"]
    bare_switch.command("sequence", commands=[{"command": "register_clear"}, write])
    assert bare_switch.command("table_info", table=name)["entries"] == 1
    clear = {"command": "table_write", "args": {"updates": [{"table": name, "op": "clear"}]}}
    with pytest.raises(CommandFailedError) as failed:
        bare_switch.command("sequence", commands=[clear, write, write, clear])
    assert "exists" in str(failed.value)
    assert bare_switch.command("table_info", table=name)["entries"] == 1
    with pytest.raises(CommandFailedError) as failed:
        bare_switch.command("sequence", commands={"command": "register_clear"})
    assert "expected an array of" in str(failed.value)
    bare_switch.command("program_load", library=str(programs.library("packets")))
    with pytest.raises(CommandFailedError) as failed:
        bare_switch.command("sequence", commands=[write], program_number=number)
    assert "program_changed" in str(failed.value)
