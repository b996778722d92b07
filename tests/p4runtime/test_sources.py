"""P4 source as a device config, compiled by a translator: the real one, and scripts that wait."""

from __future__ import annotations

import signal
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from softswitch.processes import await_end, await_file

from .client import SERVICE, CallError, Client
from .conftest import TESTS, Programs, StartCompiling, let_go
from .test_pipeline import program_of, set_program, wait_until
from .test_tables import forward, frame

PACKETS = TESTS / "p4runtime" / "packets.p4"
WRONG = "// one\nconst bit<8> ONE = nothing;\n"
# Writes its process's id and waits, as a compiler of a large program does, with a child that waits.
WAITING_COMPILER = """\
#!/bin/sh
[ "$1" != --version ] || { echo "compiler 1"; exit; }
sleep infinity &
echo "$$ $!" >"$PIDS.new"
mv "$PIDS.new" "$PIDS"
wait
"""


def config(programs: Programs, source: str | None = None) -> Any:
    """Of packets.p4; source: another text."""
    text = PACKETS.read_text() if source is None else source
    return programs.config("packets", of=text.encode())


def refusal(client: Client, action: str, wanted: Any) -> tuple[str, str]:
    with pytest.raises(CallError) as failed:
        client.set_config(action, wanted)
    return failed.value.code.name, failed.value.message


def test_source_is_compiled_and_runs(
    start_compiling: StartCompiling, p4soft: Path, programs: Programs
) -> None:
    it = start_compiling(p4soft)
    source = config(programs)
    source.cookie.cookie = 7
    it.client.write(it.client.update("INSERT", table_entry=forward(it.client)))
    it.client.set_config("VERIFY", source)
    assert [port for port, _ in it.switch.send(1, frame())] == [2], "VERIFY changes nothing"
    it.client.set_config("VERIFY_AND_SAVE", source)
    set_program(it.client, "COMMIT", None)
    assert program_of(it.client) == {"forward"}
    assert it.client.get_config() == source
    it.client.write(it.client.update("INSERT", table_entry=forward(it.client, b"\x03")))
    assert it.switch.send(1, frame()) == [(3, frame())]
    number = it.switch.command("info")["program_number"]
    set_program(it.client, "VERIFY_AND_COMMIT", source)
    assert list(it.client.entries("forward")) == []
    assert it.switch.command("info")["program_number"] == number, "the same library"
    assert len(list((it.directory / "programs").iterdir())) == 1


def test_wrong_source_is_refused_with_its_place(
    start_compiling: StartCompiling, p4soft: Path, programs: Programs
) -> None:
    it = start_compiling(p4soft)
    other = config(programs)
    other.p4info.tables[0].size += 1
    it.client.write(it.client.update("INSERT", table_entry=forward(it.client)))
    for wrong, complaint in (
        (config(programs, WRONG), "program.p4:2:20: error: "),
        (other, "tables[0].size"),
        (config(programs, "x" * ((1 << 20) + 1)), "has 1048577 bytes; expected up to 1048576"),
        (programs.config("packets", of=b"// \xff\n"), "expected the SHA-256"),
        (programs.config("packets", of=b"// \x00\n"), "expected the SHA-256"),
    ):
        for action in ("VERIFY", "VERIFY_AND_SAVE", "VERIFY_AND_COMMIT", "RECONCILE_AND_COMMIT"):
            code, message = refusal(it.client, action, wrong)
            assert code == "INVALID_ARGUMENT"
            assert complaint in message
            assert str(it.directory) not in message
    assert [port for port, _ in it.switch.send(1, frame())] == [2]


def test_source_includes_what_the_translator_brings_alone(
    start_compiling: StartCompiling, p4soft: Path, programs: Programs, tmp_path: Path
) -> None:
    """tests/softswitch/test_compile.py has all ways to name a file."""
    it = start_compiling(p4soft)
    (tmp_path / "secret.p4").write_text("secret\n")
    for name in ("secret.p4", "none.p4"):
        path = tmp_path / name
        code, message = refusal(it.client, "VERIFY", config(programs, f'#include "{path}"\n'))
        assert code == "INVALID_ARGUMENT"
        assert message.startswith(f"program.p4:1:10: error: '{path}' may not be included; these")


def test_a_name_does_not_become_code(
    start_compiling: StartCompiling, p4soft: Path, programs: Programs
) -> None:
    name = '@name("x\\"); __builtin_trap(); (\\"") table forward {'
    source = PACKETS.read_text().replace("table forward {", name)
    code, message = refusal(start_compiling(p4soft).client, "VERIFY", config(programs, source))
    assert code == "INVALID_ARGUMENT"
    assert "error: @name needs one name in quotes" in message


def test_without_a_translator_there_is_no_source(primary: Client, programs: Programs) -> None:
    code, message = refusal(primary, "VERIFY", config(programs))
    assert code == "INVALID_ARGUMENT"
    assert "P4 source is not compiled here: start p4runtime-server with --translator" in message


def test_others_go_on_while_a_program_is_compiled(
    start_compiling: StartCompiling,
    waiting: SimpleNamespace,
    programs: Programs,
    proto: SimpleNamespace,
) -> None:
    it = start_compiling(waiting.translator)
    with ThreadPoolExecutor(1) as threads:
        setting = threads.submit(it.client.set_config, "VERIFY_AND_COMMIT", config(programs))
        await_file(waiting.pids)
        it.client.write(it.client.update("INSERT", table_entry=forward(it.client)))
        assert len(list(it.client.entries("forward"))) == 1
        assert [port for port, _ in it.switch.send(1, frame())] == [2]
        backup = Client(it.server.address, proto)
        assert backup.open(0).arbitration.status.code != 0
        backup.close()
        # Also one that has nothing to be compiled: it would be undone by the one that waits.
        for second in (config(programs), it.client.get_config()):
            code, message = refusal(it.client, "VERIFY_AND_COMMIT", second)
            assert code == "UNAVAILABLE"
            assert "the program of another configuration is being compiled" in message
        let_go(waiting, programs)
        setting.result()
    assert it.client.get_config() == config(programs)
    assert list(it.directory.iterdir()) == [], "nothing of the compilation stays"


def test_whoever_is_no_primary_when_it_has_been_compiled_sets_nothing(
    start_compiling: StartCompiling,
    waiting: SimpleNamespace,
    programs: Programs,
    proto: SimpleNamespace,
) -> None:
    it = start_compiling(waiting.translator)
    with ThreadPoolExecutor(1) as threads:
        setting = threads.submit(refusal, it.client, "VERIFY_AND_COMMIT", config(programs))
        await_file(waiting.pids)
        other = Client(it.server.address, proto, 2)
        assert other.open().arbitration.status.code == 0
        let_go(waiting, programs)
        assert setting.result()[0] == "PERMISSION_DENIED"
        other.close()
    assert it.switch.command("info")["program"] == "everything"


def test_a_compilation_ends_with_its_call(
    start_compiling: StartCompiling, waiting: SimpleNamespace, programs: Programs
) -> None:
    it = start_compiling(waiting.translator)
    proto = it.client.proto
    request = it.client.request(
        "SetForwardingPipelineConfigRequest", action="VERIFY_AND_COMMIT", config=config(programs)
    )
    call = it.client.channel.unary_unary(
        f"/{SERVICE}/SetForwardingPipelineConfig",
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=proto.SetForwardingPipelineConfigResponse.FromString,
    ).future(request)
    pid = int(await_file(waiting.pids))
    call.cancel()
    await_end([pid])
    with pytest.raises(grpc.FutureCancelledError):
        call.result()
    wait_until(lambda: list(it.directory.iterdir()) == [])


def test_a_compilation_has_a_deadline(
    start_compiling: StartCompiling, waiting: SimpleNamespace, programs: Programs
) -> None:
    it = start_compiling(waiting.translator, "--translator-deadline-s=1")
    code, message = refusal(it.client, "VERIFY", config(programs))
    assert code == "RESOURCE_EXHAUSTED"
    assert "was not compiled in 1 s" in message
    await_end([int(await_file(waiting.pids))])


def test_a_translator_that_fails_keeps_its_reason_from_clients(
    start_compiling: StartCompiling, programs: Programs, tmp_path: Path
) -> None:
    """It may name files of the installation; standard error has it."""
    translator = tmp_path / "failing"
    translator.write_text(f"#!/bin/sh\necho {tmp_path}/lib/p4soft/cli.py is broken >&2\nexit 3\n")
    translator.chmod(0o755)
    code, message = refusal(start_compiling(translator).client, "VERIFY", config(programs))
    assert code == "INTERNAL"
    assert message.startswith("the translator failed, for another reason than the program")
    assert "/" not in message


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGKILL])
def test_a_compilation_ends_with_the_server(
    start_compiling: StartCompiling,
    p4soft: Path,
    programs: Programs,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    number: signal.Signals,
) -> None:
    """The compiler and its children, too; and the next server removes what a killed one left."""
    compiler, pids = tmp_path / "compiler", tmp_path / "pids"
    compiler.write_text(WAITING_COMPILER)
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    monkeypatch.setenv("PIDS", str(pids))
    it = start_compiling(p4soft)
    with ThreadPoolExecutor(1) as threads:
        setting = threads.submit(refusal, it.client, "VERIFY", config(programs))
        running = [int(word) for word in await_file(pids).split()]
        it.server.process.send_signal(number)
        it.server.process.wait(timeout=20)
        assert setting.result()[0] == "UNAVAILABLE"
    await_end(running)
    start_compiling(p4soft)
    assert [each for each in it.directory.iterdir() if each.name != "programs"] == []


def test_the_programs_of_clients_are_the_servers_alone(
    start_compiling: StartCompiling, start_server: Any, p4soft: Path, programs: Programs
) -> None:
    it = start_compiling(p4soft)
    assert stat.S_IMODE(it.directory.stat().st_mode) == 0o700
    status, complaint = start_server(it.switch, "--translator", str(it.directory / "p4soft"))
    assert status == 1
    assert f"--translator {it.directory}/p4soft: there is no such program" in complaint
    others = it.directory.with_name("refused.programs")
    others.mkdir()
    others.chmod(0o755)
    status, complaint = start_server(it.switch, "--translator", str(p4soft))
    assert status == 1
    assert f"{others}: expected a directory that belongs to this user and that nobody" in complaint
    others.rmdir()
    others.symlink_to(it.directory)
    status, complaint = start_server(it.switch, "--translator", str(p4soft))
    assert status == 1
    assert f"{others}: expected a directory" in complaint
