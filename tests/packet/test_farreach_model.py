"""FarReach against a model of one key: random requests, late fills, and what agents do.

The model knows no cell and no comparison. It keeps the history of the key: who wrote what, where
the newest record is, and whether anything has happened since a GET asked for a fill.
"""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

import pytest

from .cache_frames import (
    ADMITTED,
    DELETE_AT_SERVER,
    DELETED,
    DELREQ,
    DELRES_SEQ,
    GETREQ,
    GETREQ_BEINGEVICTED_RECORD,
    GETREQ_LARGEVALUEBLOCK_RECORD,
    GETREQ_NLATEST,
    GETRES_DELETED_SEQ,
    GETRES_LATEST_SEQ,
    GETRES_SEQ,
    LARGE_PUT_AT_SERVER,
    PUT_AT_SERVER,
    PUTREQ,
    PUTREQ_LARGEVALUE,
    PUTRES_SEQ,
    fragment,
    payload,
)
from .cache_switch import CPU_PORT, KEY, PARTITION, CacheSwitch
from .nocache_tables import CLIENT

STEPS = 250


@dataclass(frozen=True)
class Record:
    value: bytes | None  # None: deleted
    number: int


@dataclass
class Fill:
    """An answer to GETREQ_NLATEST under way: what it brings, and whether it still may be taken."""

    record: Record
    token: int
    current: bool = True


@dataclass
class Model:
    """One key and its slot."""

    number: int = 0
    valid: int | None = None  # None: not cached
    record: Record | None = None  # in the slot
    newest: bool = False  # the slot's record is the newest
    fillable: bool = False  # the server has everything: since admission no write has passed
    epoch: int = 0
    token: int = 0  # of the snapshot under way
    reported: int = 0
    fills: list[Fill] = field(default_factory=list)

    def nothing_may_fill(self) -> None:
        for fill in self.fills:
            fill.current = False

    def get(self) -> bytes:
        """What leaves, as payload."""
        if self.valid in (1, 3):
            if self.newest:
                return self._with_record(GETRES_SEQ)
            if self.valid == 1 and self.fillable:
                return payload(GETREQ_NLATEST, KEY, seq=(0, ADMITTED | self.epoch))
            if not self.fillable:
                optype = GETREQ_LARGEVALUEBLOCK_RECORD, GETREQ_BEINGEVICTED_RECORD
                return self._with_record(optype[self.valid == 3], self.token)
        return payload(GETREQ, KEY)

    def _with_record(self, optype: int, token: int = 0) -> bytes:
        record = self.record or Record(None, 0)
        stat = (0 if record.value is None else 1, 0xFFFF)
        value = record.value or b""
        return payload(optype, KEY, value=value, seq=(record.number, token), stat=stat)

    def write(self, value: bytes | None, *, large: bool = False) -> tuple[bool, int, int]:
        """Whether the switch answers, the write's number and its token at a server."""
        self.number += 1
        if self.valid in (1, 3):
            self.nothing_may_fill()
            self.fillable = False
            self.newest = self.valid == 1 and not large
            if self.newest:
                self.record = Record(value, self.number)
        return self.valid == 1 and not large, self.number, self.token

    def first_of_snapshot(self) -> bool:
        first = self.token not in (0, self.reported)
        if first:
            self.reported = self.token
        return first

    def admit(self, epoch: int) -> None:
        self.nothing_may_fill()
        self.epoch, self.valid, self.record = epoch, 1, None
        self.newest, self.fillable = False, True

    def fill(self, fill: Fill) -> bool:
        taken = fill.current and self.valid == 1
        if taken:
            self.nothing_may_fill()
            self.record, self.newest, self.fillable = fill.record, True, False
        return taken


class Run:
    """The program and its model, step by step."""

    def __init__(self, switch: CacheSwitch, seed: int) -> None:
        self.switch = switch
        self.model = Model()
        self.chooser = random.Random(seed)
        self.snapshots = 0

    def value(self) -> bytes:
        return self.chooser.randbytes(self.chooser.randrange(129))

    def get(self) -> None:
        expected = self.model.get()
        sent, out = self.switch.request(payload(GETREQ, KEY))
        if expected[:2] == struct.pack(">H", GETRES_SEQ):
            assert out == self.switch.at_client(sent, expected)
            return
        assert out == self.switch.at_server(sent, expected)
        if expected[:2] == struct.pack(">H", GETREQ_NLATEST):
            value = None if self.chooser.random() < 0.2 else self.value()
            record = Record(value, self.chooser.randrange(self.model.number + 1))
            self.model.fills.append(Fill(record, ADMITTED | self.model.epoch))

    def _written(self, body: bytes, answer: int, value: bytes | None) -> None:
        hit, number, token = self.model.write(value)
        reports = hit and self.model.first_of_snapshot()
        sent, out = self.switch.request(body)
        if hit:
            if reports:
                sent = sent.change(identification=0)
                assert [port for port, _ in out].count(CPU_PORT) == 1
                out = [frame for frame in out if frame[0] != CPU_PORT]
            assert out == self.switch.at_client(sent, payload(answer, KEY, seq=(number, 0)))
            return
        variant = 2 * (self.model.valid == 3) + (token != 0)
        types = DELETE_AT_SERVER if value is None else PUT_AT_SERVER
        expected = payload(types[variant], KEY, value=value or b"", seq=(number, token))
        assert out == self.switch.at_server(sent, expected)

    def put(self) -> None:
        value = self.value()
        self._written(payload(PUTREQ, KEY, value=value), PUTRES_SEQ, value)

    def delete(self) -> None:
        self._written(payload(DELREQ, KEY), DELRES_SEQ, None)

    def large_put(self) -> None:
        _, number, token = self.model.write(None, large=True)
        body = payload(PUTREQ_LARGEVALUE, KEY, rest=fragment(0))
        sent, out = self.switch.request(body)
        optype = LARGE_PUT_AT_SERVER[2 * (self.model.valid == 3) + (token != 0)]
        expected = payload(optype, KEY, seq=(number, token), rest=fragment(0))
        assert out == self.switch.at_server(sent, expected)

    def fill(self) -> None:
        """Any fill that has ever been under way arrives, perhaps once more."""
        if not self.model.fills:
            return
        fill = self.chooser.choice(self.model.fills[-6:])
        optype = GETRES_DELETED_SEQ if fill.record.value is None else GETRES_LATEST_SEQ
        stat = (0 if fill.record.value is None else 1, PARTITION)
        fields = {"value": fill.record.value or b"", "stat": stat}
        taken = self.model.fill(fill)
        self.switch.outcomes()
        seq = (fill.record.number, fill.token)
        out, received = self.switch.from_server(payload(optype, KEY, seq=seq, **fields))
        answer = payload(GETRES_SEQ, KEY, seq=(fill.record.number, 0), **fields)
        assert out == [(CLIENT.port, bytes(received.change(payload=answer)))]
        assert self.switch.outcomes() == {"fill_taken" if taken else "fill_refused": 1}

    def admit(self) -> None:
        """Evicted, and admitted again."""
        if self.model.valid is not None:
            self.switch.set_valid(0)
            self.switch.forget()
        self.model.admit(self.model.epoch + 1)
        self.switch.admit(ADMITTED | self.model.epoch, vallen=DELETED)

    def set_valid(self) -> None:
        """Out of a slot that is not valid there is no way back but another admission."""
        if self.model.valid in (1, 3):
            self.model.valid = self.chooser.choice([0, 1, 1, 3])
            self.switch.set_valid(self.model.valid)

    def snapshot(self) -> None:
        if self.model.token:
            self.model.token = 0
            self.switch.snapshot(None)
        else:
            self.snapshots += 1
            self.model.token = self.snapshots
            self.switch.snapshot(self.snapshots)

    def load(self) -> None:
        if self.model.valid is None:
            return
        answer = self.switch.load()
        assert answer[15] == self.model.valid
        if self.model.record is not None:
            value = self.model.record.value
            length = DELETED if value is None else len(value)
            assert struct.unpack(">H", answer[46:48])[0] == length
            number = struct.unpack(">I", answer[-8:-4])[0] % 2**30
            assert number == self.model.record.number


@pytest.mark.parametrize("seed", range(4))
def test_random_sequences_behave_as_the_model(farreach: CacheSwitch, seed: int) -> None:
    run = Run(farreach, seed)
    steps = [
        (run.get, 30), (run.put, 8), (run.delete, 3), (run.large_put, 5), (run.fill, 25),
        (run.admit, 8), (run.set_valid, 8), (run.snapshot, 4), (run.load, 5),
    ]  # fmt: skip
    names, weights = zip(*steps, strict=True)
    try:
        for _ in range(STEPS):
            run.chooser.choices(names, weights)[0]()
    finally:
        farreach.snapshot(None)
