"""Packets between clients and the CPU port. Rules and codes: P4Runtime 1.4, "Packet I/O" and
"Stream Error Reporting".
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from packet.live_switch import Links, SoftswitchTarget
from softswitch.conftest import P4SOFT, Run

from .client import Client, code
from .conftest import InnerSwitch
from .forwarder import Forwarder
from .test_tables import EXACT, MAC, frame

CPU_PORT = 64


def packet_out(client: Client, payload: bytes, **metadata: bytes) -> Any:
    header = client.named("controller_packet_metadata", "packet_out")
    message = client.proto.StreamMessageRequest()
    message.packet.payload = payload
    for name, value in metadata.items():
        number = next(each.id for each in header.metadata if each.name == name)
        message.packet.metadata.add(metadata_id=number, value=value)
    return message


def metadata(client: Client, packet: Any) -> dict[str, bytes]:
    header = client.named("controller_packet_metadata", "packet_in")
    names = {each.id: each.name for each in header.metadata}
    return {names[each.metadata_id]: each.value for each in packet.metadata}


@pytest.fixture
def controller(inner: InnerSwitch, election_ids: Iterator[int]) -> Iterator[Client]:
    client = Client(inner.address, inner.proto, next(election_ids))
    assert client.open().arbitration.status.code == 0
    client.set_config("VERIFY_AND_COMMIT", client.get_config())
    yield client
    client.close()


def test_a_packet_in_has_its_metadata(controller: Client, inner: InnerSwitch) -> None:
    ((port, _),) = inner.switch.send(2, frame())
    assert port == CPU_PORT
    packet = controller.next().packet
    assert packet.payload == frame()
    assert metadata(controller, packet) == {"ingress_port": b"\x02", "reason": b"\x01"}


def test_what_the_tables_forward_is_no_packet_in(controller: Client, inner: InnerSwitch) -> None:
    entry = controller.entry("forward", controller.action("send", port=b"\x03"), dst_addr=EXACT)
    controller.write(controller.update("INSERT", table_entry=entry))
    assert inner.switch.send(2, frame()) == [(3, frame())]
    entry = controller.entry("forward", controller.action("punt", reason=b"\x05"), dst_addr=EXACT)
    controller.write(controller.update("MODIFY", table_entry=entry))
    inner.switch.send(1, frame())
    packet = controller.next().packet
    assert metadata(controller, packet) == {"ingress_port": b"\x01", "reason": b"\x05"}


def test_a_packet_out_leaves_by_its_port(controller: Client, inner: InnerSwitch) -> None:
    for port in (3, 1):
        payload = frame(source=bytes([2, 0, 0, 0, 0, port]))
        message = packet_out(controller, payload, egress_port=bytes([port]), padding=b"\x00")
        controller.send(message)
        assert inner.switch.next_frame(port) == payload


def test_a_packet_out_that_is_wrong_is_told(controller: Client, inner: InnerSwitch) -> None:
    wrong = [
        packet_out(controller, frame()),
        packet_out(controller, frame(), egress_port=b"\x01"),
        packet_out(controller, frame(), egress_port=b"\x02\x00", padding=b"\x00"),
        packet_out(controller, bytes(16000), egress_port=b"\x01", padding=b"\x00"),
        packet_out(controller, b"", egress_port=b"\x01", padding=b"\x00"),
    ]
    unknown = packet_out(controller, frame(), egress_port=b"\x01", padding=b"\x00")
    unknown.packet.metadata.add(metadata_id=7, value=b"\x01")
    for message in [*wrong, unknown]:
        controller.send(message)
        error = controller.next().error
        assert error.canonical_code == code("INVALID_ARGUMENT")
        assert error.packet_out.packet_out == message.packet
    # Nothing of them has left.
    last = packet_out(controller, frame(), egress_port=b"\x01", padding=b"\x00")
    controller.send(last)
    assert inner.switch.next_frame(1) == frame()


def test_backups_neither_send_nor_hear(controller: Client, inner: InnerSwitch) -> None:
    backup = Client(inner.address, inner.proto)
    try:
        assert backup.open(0).arbitration.status.code == code("ALREADY_EXISTS")
        message = packet_out(backup, frame(), egress_port=b"\x01", padding=b"\x00")
        inner.switch.send(2, frame())
        assert controller.next().packet.payload == frame()
        backup.send(message)
        error = backup.next().error  # and no packet before it
        assert error.canonical_code == code("PERMISSION_DENIED")
        assert error.packet_out.packet_out == message.packet
    finally:
        backup.close()


def test_a_new_primary_hears_from_then_on(
    controller: Client, inner: InnerSwitch, election_ids: Iterator[int]
) -> None:
    following = Client(inner.address, inner.proto, next(election_ids))
    try:
        assert following.open().arbitration.status.code == 0
        inner.switch.send(2, frame())
        assert following.next().packet.payload[:6] == MAC
        assert controller.next().arbitration.status.code == code("ALREADY_EXISTS")
        controller.send(packet_out(controller, frame(), egress_port=b"\x01", padding=b"\x00"))
        assert controller.next().error.canonical_code == code("PERMISSION_DENIED")
    finally:
        following.close()


def test_an_interface_that_is_not_there_is_named(
    start_server: Any, switch: SoftswitchTarget
) -> None:
    status, complaint = start_server(switch, "--cpu-interface", "nothing0")
    assert status == 1
    assert "--cpu-interface nothing0: there is no such interface" in complaint


def test_p4soft_run_has_packets_in_and_out(
    build_dir: Path, proto: SimpleNamespace, tmp_path: Path, election_ids: Iterator[int]
) -> None:
    """The switch and this server, each at its end of the CPU port's pair."""
    links = Links([2, CPU_PORT])
    enter = ["ip", "netns", "exec", links.namespace]
    subprocess.run([*enter, "ip", "link", "set", "lo", "up"], check=True)
    program = Path(__file__).with_name("packets.p4")
    ports = ["--port=2=s2", f"--cpu-port={CPU_PORT}=s{CPU_PORT}", f"--cpu-interface=t{CPU_PORT}"]
    servers = ["--bfrt=off", "--p4runtime=127.0.0.1:0", "--cache-dir", tmp_path]
    run = Run([*enter, *P4SOFT, "run", program, *ports, *servers])
    try:
        address = run.said["P4Runtime"].partition(",")[0]
        forwarder = Forwarder(links.namespace, int(address.rpartition(":")[2]))
        client = Client(forwarder.address, proto, next(election_ids))
        assert client.open().arbitration.status.code == 0
        links.sockets[2].send(frame())
        assert client.next().packet.payload == frame()
        client.send(packet_out(client, frame(), egress_port=b"\x02", padding=b"\x00"))
        assert links.sockets[2].recv(100) == frame()
        client.close()
        forwarder.close()
    finally:
        run.end()
        links.remove()
