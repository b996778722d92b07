"""Clients of others, as they are published, write and read all that there is. Each has an
environment of its own, made from the pinned requirements beside its programs (clients/).
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

import pytest
from bfrt.conftest import Server
from google.protobuf import text_format
from packet.live_switch import SoftswitchTarget

from .certificates import Authority
from .client import Client
from .conftest import InnerSwitch, Programs, StartCompiling
from .test_action_sets import colours
from .test_cells import registers
from .test_digests import source
from .test_sources import PACKETS
from .test_tables import frame
from .test_value_sets import members

CLIENTS = Path(__file__).parent / "clients"
ARP = 0x0806

# Their programs: `shell` is p4runtime-shell.
PYTHONS = pytest.mark.parametrize("kind", ["shell", "finsy"])


@pytest.fixture(scope="session")
def environments(build_dir: Path) -> dict[str, Path]:
    """The Python of each; kept in the build directory until the requirements change."""
    return {kind: environment(build_dir, kind) for kind in ("shell", "finsy")}


def environment(build_dir: Path, kind: str) -> Path:
    requirements = CLIENTS / f"{kind}-constraints.txt"  # all of them, exactly
    wanted = hashlib.sha256(requirements.read_bytes() + sys.version.encode()).hexdigest()
    directory = build_dir / "p4runtime-clients" / kind
    python, made_of = directory / "bin" / "python", directory / "made-of"
    if made_of.exists() and made_of.read_text() == wanted:
        return python
    shutil.rmtree(directory, ignore_errors=True)
    subprocess.run([sys.executable, "-m", "venv", directory], check=True)
    install = [python, "-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*install, "--requirement", requirements], check=True)
    made_of.write_text(wanted)
    return python


class Session:
    """A program of clients/, which waits after each of its steps."""

    def __init__(self, python: Path, program: str, *arguments: Any) -> None:
        self._process = subprocess.Popen(
            [python, CLIENTS / program, *map(str, arguments)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._begun = False

    def next(self, name: str) -> dict[str, Any]:
        """The step that the program has come to, which has to be this one; with its facts."""
        stdin, stdout = self._pipes()
        if self._begun:
            stdin.write("\n")
            stdin.flush()
        self._begun = True
        line = stdout.readline()
        assert line, f'the client ended before "{name}"'
        told: dict[str, Any] = json.loads(line)
        assert told.pop("step") == name
        return told

    def _pipes(self) -> tuple[IO[str], IO[str]]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        return self._process.stdin, self._process.stdout

    def end(self) -> None:
        stdin, _ = self._pipes()
        stdin.write("\n")
        stdin.flush()
        assert self._process.wait(timeout=20) == 0

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()


@pytest.fixture
def p4info(client: Client, tmp_path: Path) -> Path:
    path = tmp_path / "program.p4info.txtpb"
    path.write_text(text_format.MessageToString(client.get_config().p4info))
    return path


@PYTHONS
def test_every_kind_of_entity(
    environments: dict[str, Path],
    kind: str,
    client: Client,
    server: Server,
    switch: SoftswitchTarget,
    election_ids: Iterator[int],
    p4info: Path,
) -> None:
    session = Session(
        environments[kind], f"{kind}_entities.py", server.address, next(election_ids), p4info
    )
    try:
        look_at_every_step(session, client, switch)
        session.end()
    finally:
        session.kill()


def look_at_every_step(session: Session, client: Client, switch: SoftswitchTarget) -> None:
    session.next("tables")
    # The source ends with 1: of both entries that match, the one with the higher priority.
    ((port, sent),) = switch.send(1, frame())
    assert (port, sent[11]) == (2, 0x99)
    session.next("modified")
    assert [port for port, _ in switch.send(1, frame())] == [3]
    assert session.next("direct counter") == {"packets": 2}
    session.next("group")
    chosen = colours(client, switch)
    assert (chosen.count(0x10), chosen.count(0x20)) == (16, 48)
    session.next("one-shot set")
    chosen = colours(client, switch)
    assert (chosen.count(0x30), chosen.count(0x40)) == (16, 48)
    session.next("cells")
    assert members(client) == [ARP.to_bytes(2, "big")]
    assert registers(client, "hits", 9)[0].data.bitstring == b"\x20"
    assert switch.send(1, frame(ARP)) == []
    session.next("replication")
    groups = switch.command("table_read", table="$pre.node")["entries"]
    assert sorted(each["data"]["$MULTICAST_RID"] for each in groups) == [1, 1, 2]
    session.next("digest wanted")
    switch.send(1, frame(source=source(7)))
    assert session.next("digest").items() >= {"mac": source(7).hex(), "port": "01"}.items()
    switch.send(2, frame(source=source(8)))
    assert session.next("digest").items() >= {"mac": source(8).hex(), "port": "02"}.items()
    assert session.next("idle") == {"timeouts_ns": [100_000_001]}
    session.next("end")


@PYTHONS
def test_packets(
    environments: dict[str, Path], kind: str, inner: InnerSwitch, election_ids: Iterator[int]
) -> None:
    session = Session(
        environments[kind], f"{kind}_packets.py", inner.address, next(election_ids), "-"
    )
    try:
        told = session.next("packet out")
        assert inner.switch.next_frame(3).hex() == told["payload"]
        inner.switch.send(2, frame())
        told = session.next("packet in")
        assert told == {"payload": frame().hex(), "ingress_port": "02", "reason": "01"}
        session.end()
    finally:
        session.kill()


@PYTHONS
def test_certificates(
    environments: dict[str, Path],
    kind: str,
    client: Client,
    tls_server: Server,
    authority: Authority,
    election_ids: Iterator[int],
    p4info: Path,
) -> None:
    certificate, key = authority.vouch_for(f"{kind}-client")
    session = Session(
        environments[kind],
        f"{kind}_entities.py",
        *(tls_server.address, next(election_ids), p4info),
        *(authority.certificate, certificate, key),
    )
    try:
        session.next("tables")
        assert len(list(client.entries("forward"))) == 1
    finally:
        session.kill()


@PYTHONS
def test_p4_source(
    environments: dict[str, Path],
    kind: str,
    start_compiling: StartCompiling,
    p4soft: Path,
    programs: Programs,
    tmp_path: Path,
) -> None:
    it = start_compiling(p4soft)
    it.client.close()
    p4info = tmp_path / "program.p4info.txtpb"
    shutil.copy(programs.library("packets").with_suffix(".p4info.txtpb"), p4info)
    shutil.copy(PACKETS, tmp_path / "source.p4")
    session = Session(environments[kind], f"{kind}_source.py", it.server.address, 2, p4info)
    try:
        session.next("set")
        assert it.switch.send(1, frame()) == [(3, frame())]
        session.end()
    finally:
        session.kill()
