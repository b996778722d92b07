"""Frames nobody should send: the switch must go on, and nothing longer than what came leaves it.

Under the sanitizers (cmake preset `sanitize`, TURNTABLE_BUILD_DIR) this also shows that no byte
outside of a frame is read or written.
"""

from __future__ import annotations

import random

import pytest

from .frames import GETREQ, GETRES, Packet, key_value
from .nocache_tables import CLIENT, SERVER1
from .targets import Target

RANDOM_FRAMES = 400
SHORTEST = 14  # a live link carries nothing shorter
LONGEST = 9000


def good_frames() -> list[bytes]:
    key = bytes(range(16))
    request = Packet(payload=key_value(GETREQ, key))
    answer = Packet(src_ip=SERVER1.ip, dst_ip=CLIENT.ip, src_port=1153, dst_port=40000)
    return [
        bytes(request),
        bytes(answer.change(payload=key_value(GETRES, key))),
        bytes(Packet(dst_port=53, payload=b"x" * 30)),
        bytes(request.change(options=bytes(12))),
    ]


def still_works(switch: Target) -> None:
    sent = Packet(payload=key_value(GETREQ, bytes(16)))
    assert len(switch.send(CLIENT.port, bytes(sent))) == 1


@pytest.mark.parametrize("number", range(4))
def test_truncated_at_every_byte(switch: Target, number: int) -> None:
    frame = good_frames()[number]
    for length in range(SHORTEST, len(frame)):
        for _, out in switch.send(CLIENT.port, frame[:length]):
            assert len(out) == length
    still_works(switch)


@pytest.mark.parametrize("seed", range(3))
def test_random_bytes(switch: Target, seed: int) -> None:
    """Noise, noise behind a good Ethernet header, and good frames with some bytes changed."""
    chooser = random.Random(seed)
    for number in range(RANDOM_FRAMES):
        if number % 3 == 0:
            frame = bytearray(chooser.randbytes(chooser.randrange(SHORTEST, LONGEST)))
        else:
            frame = bytearray(chooser.choice(good_frames()))
            for _ in range(chooser.randrange(1, 6)):
                frame[chooser.randrange(12, len(frame))] = chooser.randrange(256)
        if number % 3 == 2:
            frame += chooser.randbytes(chooser.randrange(2000))
        for _, out in switch.send(CLIENT.port, bytes(frame)):
            assert len(out) == len(frame)
    still_works(switch)
