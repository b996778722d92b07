"""A switch whose pipes have states of their own: P4Runtime knows no pipes, and writes them all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest
from bfrt.conftest import Server
from packet.live_switch import SoftswitchTarget

from .client import Client
from .test_cells import counters, registers
from .test_tables import frame

FIRST, SECOND = 1, 130  # ports of pipe 0 and pipe 1


@pytest.fixture
def switch(
    build_dir: Path, compiled: Callable[[Path], Path], tmp_path: Path
) -> Iterator[SoftswitchTarget]:
    program = compiled(Path(__file__).parents[1] / "bfrt" / "everything.p4")
    binary = build_dir / "bin" / "softswitch"
    target = SoftswitchTarget(binary, program, tmp_path, [FIRST, SECOND], options=["--pipes", "2"])
    yield target
    target.close()


@pytest.fixture
def client(build_dir: Path, switch: SoftswitchTarget, proto: SimpleNamespace) -> Iterator[Client]:
    binary = build_dir / "bin" / "p4runtime-server"
    server = Server(binary, switch.directory, name="p4runtime-server")
    made = Client(server.address, proto)
    made.open()
    yield made
    made.close()
    server.close()


def test_cells_are_written_in_all_pipes(client: Client, switch: SoftswitchTarget) -> None:
    for port in (FIRST, SECOND, SECOND):
        switch.send(port, frame())
    assert counters(client, 0)[0].data.packet_count == 3, "of both"
    (hit,) = registers(client, "hits", 0)
    assert hit.data.bitstring == b"\x08", "of pipe 0: the program begins with 7"
    hit.data.bitstring = b"\x20"
    client.write(client.update("MODIFY", register_entry=hit))
    read = switch.command("register_read", table="hits", count=1)["pipes"]
    assert [each["values"] for each in read] == [[0x20], [0x20]]
