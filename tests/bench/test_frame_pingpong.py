"""The hosts of the switch's measurements count what was answered, and nothing else."""

from __future__ import annotations

import json
import os
import select
import socket
import struct
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from turntable_bench.forwarders import hosts_command
from turntable_bench.namespaces import (
    CLIENT_ADDRESS,
    CLIENT_MAC,
    SERVER_ADDRESS,
    SERVER_MAC,
    UDP_PORT,
    Hosts,
    inside,
    switched_hosts,
)
from turntable_bench.settings import Settings

REPOSITORY = Path(__file__).parents[2]
SETTINGS = Settings(Path(os.environ.get("TURNTABLE_BUILD_DIR", REPOSITORY / "build")), 1, "")
OUTSTANDING, FLOWS, PAYLOAD_BYTES, MARK_OFFSET = 4, 2, 64, 18
MARK = 42 + MARK_OFFSET  # in a frame
SHAPE = f"--payload-bytes {PAYLOAD_BYTES} --mark-offset {MARK_OFFSET} --warmup 0.001"

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="network namespaces need root")

# What becomes of the n-th answer, counted from 0: the frames that the client gets.
Fault = Callable[[int, bytes], list[bytes]]


def no_fault(_number: int, answer: bytes) -> list[bytes]:
    return [answer]


def drop_the_tenth(number: int, answer: bytes) -> list[bytes]:
    return [] if number == 10 else [answer]


def double_the_tenth(number: int, answer: bytes) -> list[bytes]:
    return [answer, answer] if number == 10 else [answer]


def damage_the_mark_of_the_tenth(number: int, answer: bytes) -> list[bytes]:
    damaged = answer[:MARK] + b"\xff\xff\xff\xff" + answer[MARK + 4 :]
    return [damaged] if number == 10 else [answer]


def exchange_ports_of_the_tenth(number: int, answer: bytes) -> list[bytes]:
    turned = answer[:34] + answer[36:38] + answer[34:36] + answer[38:]
    return [turned] if number == 10 else [answer]


@dataclass
class Passed:
    """What a forwarder of the test's own saw, and what frame-pingpong printed."""

    requests: list[bytes] = field(default_factory=list)
    answers: list[bytes] = field(default_factory=list)
    result: dict = field(default_factory=dict)


@pytest.fixture(scope="module")
def hosts() -> Iterator[Hosts]:
    with switched_hosts("p") as built:
        yield built


def play(hosts: Hosts, fault: Fault) -> Passed:
    """A short run through a forwarder that treats answers so."""
    argv = hosts_command(SETTINGS, hosts, OUTSTANDING, FLOWS, SHAPE, seconds=0.05, timeout_ms=300)
    passed = Passed()
    with ExitStack() as stack:
        client, server = (
            stack.enter_context(port(hosts, name)) for name in ("to_client", "to_server")
        )
        process = subprocess.Popen(argv, stdout=subprocess.PIPE, text=True)
        while process.poll() is None:
            ready, _, _ = select.select([client, server], [], [], 0.01)
            if client in ready:
                passed.requests.append(client.recv(2048))
                server.send(passed.requests[-1])
            if server in ready:
                passed.answers.append(server.recv(2048))
                for frame in fault(len(passed.answers) - 1, passed.answers[-1]):
                    client.send(frame)
        assert process.stdout is not None
        passed.result = json.loads(process.stdout.read())
        process.stdout.close()
    assert process.returncode == 0
    return passed


def port(hosts: Hosts, interface: str) -> socket.socket:
    all_protocols, packet_ignore_outgoing = 0x0003, 23
    with inside(hosts.switch):
        opened = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
        opened.setsockopt(263, packet_ignore_outgoing, 1)
        opened.bind((interface, all_protocols))
    return opened


def checksum(header: bytes) -> int:
    total = sum(struct.unpack(f">{len(header) // 2}H", header))
    while total > 0xFFFF:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def test_requests_and_answers_are_whole_frames(hosts: Hosts) -> None:
    passed = play(hosts, no_fault)
    client, server = (bytes.fromhex(mac.replace(":", "")) for mac in (CLIENT_MAC, SERVER_MAC))
    client_ip, server_ip = (socket.inet_aton(ip) for ip in (CLIENT_ADDRESS, SERVER_ADDRESS))
    udp = UDP_PORT.to_bytes(2, "big")
    length = (8 + PAYLOAD_BYTES).to_bytes(2, "big")
    for request, answer in zip(passed.requests, passed.answers, strict=True):
        assert len(request) == len(answer) == 42 + PAYLOAD_BYTES
        assert request[:14] == server + client + b"\x08\x00"
        assert answer[:14] == client + server + b"\x08\x00"
        for frame, source, destination in (
            (request, client_ip, server_ip),
            (answer, server_ip, client_ip),
        ):
            assert frame[14:16] + frame[22:24] == bytes([0x45, 0, 64, socket.IPPROTO_UDP])
            assert int.from_bytes(frame[16:18], "big") == 28 + PAYLOAD_BYTES
            assert checksum(frame[14:34]) == 0xFFFF
            assert frame[26:34] == source + destination
        flow = request[34:36]
        assert request[36:42] == udp + length + b"\0\0"
        assert answer[34:42] == udp + flow + length + b"\0\0"
        assert (request[42:44], answer[42:44]) == (b"\x00\x30", b"\x00\x09")  # GETREQ, GETRES
        assert request[44:] == answer[44:]
    assert len({request[34:36] for request in passed.requests}) == FLOWS


def test_every_answer_counts_once(hosts: Hosts) -> None:
    passed = play(hosts, no_fault)
    marks = [request[MARK : MARK + 4] for request in passed.requests]
    assert len(set(marks)) == len(marks) > OUTSTANDING
    assert passed.result["pairs_in_all"] == len(passed.answers)
    assert 0 < passed.result["pairs"] <= passed.result["pairs_in_all"]
    assert (passed.result["lost"], passed.result["strange"]) == (0, 0)


@pytest.mark.parametrize(
    ("fault", "lost", "strange"),
    [
        (drop_the_tenth, 1, 0),
        (double_the_tenth, 0, 1),
        (damage_the_mark_of_the_tenth, 1, 1),
        (exchange_ports_of_the_tenth, 1, 1),
    ],
)
def test_what_is_no_answer_does_not_count(
    hosts: Hosts, fault: Fault, lost: int, strange: int
) -> None:
    passed = play(hosts, fault)
    assert (passed.result["lost"], passed.result["strange"]) == (lost, strange)
    assert passed.result["pairs_in_all"] == len(passed.answers) - lost
