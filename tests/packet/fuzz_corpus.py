"""Writes the fuzz corpora of FarReach, NetCache, NetClone and Priority: directories of
tests/fuzz/corpus.

    PYTHONPATH=tests python -m packet.fuzz_corpus

The table entries are the packet tests', the frames one of each kind that a program knows, for keys
whose slots are in every state and for servers that are idle and busy. Frames at fault that a fuzzer
found are kept: what is at the end of frames.txt behind those of here.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .cache_frames import (
    ADMIT,
    ADMITTED,
    CASE1,
    DELETED,
    DELREQ,
    DELRES_SEQ,
    GETREQ,
    GETRES_DELETED_SEQ,
    GETRES_LARGEVALUE_SEQ,
    GETRES_LATEST_SEQ,
    GETRES_SEQ,
    LATEST,
    LOAD,
    PUTREQ,
    PUTREQ_LARGEVALUE,
    PUTRES_SEQ,
    SET_VALID,
    SUPERSEDED,
    VALUEUPDATE,
    Control,
    fragment,
    payload,
)
from .cache_switch import CPU_PORT, PARTITION, CacheSwitch
from .compilation import REPOSITORY
from .frames import Packet, key_with_slot
from .netclone_corpus import record as record_netclone
from .nocache_tables import CLIENT, slots
from .priority_corpus import record as record_priority
from .targets import Frame

CORPUS = REPOSITORY / "tests" / "fuzz" / "corpus"
_, LAST = slots(PARTITION)
# Slot, `valid` and `slot_seq` of a cached key each.
STATES = (
    (4711, 1, LATEST | 3),
    (4712, 1, ADMITTED | 9),
    (4713, 1, SUPERSEDED | 3),
    (4714, 3, LATEST | 3),
    (4715, 3, SUPERSEDED | 3),
    (0x7FFF, 0, LATEST | 3),
)
KEYS = [key_with_slot(LAST - index, LAST - index) for index in range(len(STATES) + 1)]
UNCACHED = KEYS[-1]
VALUES = (b"", b"7", bytes(range(40)), bytes(range(128)))


class Recorder:
    """A target that keeps what it is told."""

    def __init__(self) -> None:
        self.commands: list[dict[str, Any]] = []
        self.frames: list[Frame] = []

    def send(self, port: int, frame: bytes) -> list[Frame]:
        self.frames.append((port, frame))
        return []

    def command(self, name: str, **arguments: Any) -> None:
        self.commands.append({"command": name, "args": arguments})

    def close(self) -> None:
        pass


def record(program: str) -> Recorder:
    recorder = Recorder()
    if program == "netclone":
        record_netclone(recorder)
    elif program == "priority":
        record_priority(recorder)
    else:
        _record_cache(recorder, program)
    return recorder


def _record_cache(recorder: Recorder, program: str) -> None:
    switch = CacheSwitch(recorder)
    switch.sample(0, 0x7FFF)
    switch.hot_threshold(2)
    for key, (slot, valid, cell) in zip(KEYS, STATES, strict=False):
        switch.look_up(key, slot)
        switch.set_cell("valid.cells", valid, slot)
        switch.set_cell("slot_seq.cells", cell, slot)
        switch.set_cell("vallen.cells", 40, slot)
    if program == "farreach":
        switch.snapshot(5)
    _answers(switch, program)
    for key in KEYS:
        _requests(switch, key)
    _control_frames(switch)


def _requests(switch: CacheSwitch, key: bytes) -> None:
    switch.request(payload(GETREQ, key))
    switch.request(payload(DELREQ, key))
    for value in VALUES if key == KEYS[0] else VALUES[1:2]:
        switch.request(payload(PUTREQ, key, value=value))
    for index in (0, 1):
        switch.request(payload(PUTREQ_LARGEVALUE, key, rest=fragment(index)))


def _answers(switch: CacheSwitch, program: str) -> None:
    key, value = KEYS[1], VALUES[2]
    switch.from_server(payload(GETRES_SEQ, key, value=value, stat=(1, PARTITION)))
    switch.from_server(payload(PUTRES_SEQ, key, stat=(1, PARTITION)))
    switch.from_server(payload(DELRES_SEQ, key, stat=(1, PARTITION)))
    large = payload(GETRES_LARGEVALUE_SEQ, key, rest=fragment(0))
    switch.from_server(large)
    if program == "farreach":
        token = (3, ADMITTED | 9)
        switch.from_server(payload(GETRES_LATEST_SEQ, key, value=value, seq=token))
        switch.from_server(payload(GETRES_DELETED_SEQ, key, seq=token, stat=(0, PARTITION)))
    else:
        for stat in (0, 1):
            update = payload(VALUEUPDATE, KEYS[2], value=value * stat, seq=(3, 0), stat=(stat, 0))
            switch.from_server(update)


def _control_frames(switch: CacheSwitch) -> None:
    slot = STATES[0][0]
    for operation in (SET_VALID, ADMIT, LOAD, CASE1):
        frame = Control(operation, slot, KEYS[0], valid=1, cell=LATEST | 4, vallen=40,
                        value=VALUES[2])  # fmt: skip
        switch.send(CPU_PORT, frame)
    switch.send(CPU_PORT, Control(ADMIT, slot, KEYS[0], cell=ADMITTED | 9, vallen=DELETED))
    switch.send(CPU_PORT, Control(LOAD, 0xFFFF, KEYS[0], egress_port=511))
    switch.send(CLIENT.port, Control(SET_VALID, slot, KEYS[0], valid=3))  # forged
    switch.send(CLIENT.port, bytes(Packet(src_mac=CLIENT.mac, src_ip=CLIENT.ip, dst_port=9)))


def write(program: str, directory: Path) -> None:
    recorder = record(program)
    lines = [f"{port} {frame.hex()}" for port, frame in recorder.frames]
    frames = directory / "frames.txt"
    old = frames.read_text().splitlines() if frames.exists() else []
    found = [line for line in old if line not in lines]
    directory.mkdir(parents=True, exist_ok=True)
    frames.write_text("\n".join([*lines, *found]) + "\n")
    commands = [json.dumps(command) for command in recorder.commands]
    (directory / "setup.jsonl").write_text("\n".join(commands) + "\n")


if __name__ == "__main__":
    for name in ("farreach", "netcache", "netclone", "priority"):
        write(name, CORPUS / name)
