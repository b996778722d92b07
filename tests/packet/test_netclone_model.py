"""NetClone against a model of it, written from the NetClone reference §3 and §4: random requests,
responses that answer them or not, forged ones, flags that change, restarts.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass, field, replace

import pytest

from .netclone_frames import FIRST_PORT, REQUEST, RESPONSE, Header, header_of, request, response
from .netclone_switch import (
    CLIENT,
    HOST0,
    HOST1,
    OTHER_CLIENT,
    SERVERS,
    NetCloneSwitch,
    host_of,
    pairs,
)
from .nocache_tables import Host
from .targets import Frame

STEPS = 1500
SLOTS = 131072
LAST = 100_000_000
GROUPS = pairs(SERVERS)


@dataclass(frozen=True)
class Left:
    """A frame that leaves: by which port, to which UDP port, and its header."""

    port: int
    udp_port: int
    header: Header


@dataclass
class Model:
    racksched: bool = False
    filter: bool = True
    seq: int = 0
    load: list[int] = field(default_factory=lambda: [0] * SERVERS)
    fingerprints: tuple[dict[int, int], dict[int, int]] = field(default_factory=lambda: ({}, {}))
    outcomes: Counter[str] = field(default_factory=Counter)

    def request(self, sent: Header) -> list[Left]:
        self.seq = 1 if self.seq >= LAST else self.seq + 1
        if sent.grp not in GROUPS:
            self.outcomes["unknown_group"] += 1
            return []
        first, second = GROUPS[sent.grp]
        out = replace(sent, seq=self.seq, clo=0)
        if self.load[first] == 0 and self.load[second] == 0:
            self.outcomes.update(["cloned", "came_round"])
            out = replace(out, sid=second)
            return [
                self._to_server(first, replace(out, clo=1)),
                self._to_server(second, replace(out, clo=2)),
            ]
        if self.load[first] == 0:
            self.outcomes["second_busy"] += 1
        elif not self.racksched:
            self.outcomes["first_busy"] += 1
        elif self.load[first] > self.load[second]:
            self.outcomes["to_second"] += 1
            return [self._to_server(second, out)]
        else:
            self.outcomes["to_first"] += 1
        return [self._to_server(first, out)]

    def response(self, sent: Header, port: int, client: Host, udp_port: int) -> list[Left]:
        if sent.sid >= SERVERS or host_of(sent.sid).port != port:
            self.outcomes["forged"] += 1
            return []
        self.load[sent.sid] = sent.load
        outcome = self._filtered(sent) if sent.clo else "only_response"
        self.outcomes[outcome] += 1
        dropped = outcome in ("slower", "unknown_table")
        return [] if dropped else [Left(client.port, udp_port, sent)]

    def _filtered(self, sent: Header) -> str:
        if sent.tidx > 1:
            return "unknown_table"
        if not self.filter:
            return "unfiltered"
        table, slot = self.fingerprints[sent.tidx], sent.seq % SLOTS
        held = table.get(slot, 0)
        if held == sent.seq:
            table[slot] = 0
            return "slower"
        table[slot] = sent.seq
        return "faster_overwrote" if held else "faster"

    @staticmethod
    def _to_server(server: int, header: Header) -> Left:
        return Left(host_of(server).port, FIRST_PORT + server, header)


def seen(frame: Frame) -> Left:
    port, data = frame
    return Left(port, int.from_bytes(data[36:38], "big"), header_of(data))


class Player:
    """Does something random to the switch and to the model, and compares."""

    def __init__(self, switch: NetCloneSwitch, seed: int) -> None:
        self.switch, self.model = switch, Model()
        self.choose = random.Random(seed)
        self.waiting: list[Left] = []  # copies at servers

    def step(self) -> None:
        kinds = {
            self.ask: 40,
            self.answer: 50,
            self.answer_anything: 6,
            self.set_flags: 2,
            self.restart: 1,
            self.wrap: 1,
        }
        (action,) = self.choose.choices(list(kinds), weights=list(kinds.values()))
        action()

    def ask(self) -> None:
        choose = self.choose
        client = choose.choice((CLIENT, OTHER_CLIENT))
        group = choose.choice((0, 13, *GROUPS, *GROUPS))
        sent = Header(
            REQUEST,
            seq=choose.getrandbits(32),
            grp=group,
            sid=choose.randrange(SERVERS),
            load=choose.getrandbits(8),
            clo=choose.choice((0, 0, 0, 2)),
            tidx=choose.choice((0, 0, 1, 1, 2)),
        )
        frames = self.switch.target.send(client.port, bytes(request(client, HOST0, sent)))
        expected = self.model.request(sent)
        assert sorted(map(seen, frames), key=str) == sorted(expected, key=str)
        self.waiting += expected

    def answer(self) -> None:
        """One of the copies at servers, not always the oldest; some are never answered."""
        if not self.waiting:
            return
        copy = self.waiting.pop(self.choose.randrange(len(self.waiting)))
        if self.choose.random() < 0.05:
            return
        server = copy.udp_port - FIRST_PORT
        load = self.choose.choice((0, 0, 0, 1, 2, 2**32 - 1))
        sent = replace(copy.header, op=RESPONSE, sid=server, load=load)
        self._respond(sent, host_of(server).port, server)

    def answer_anything(self) -> None:
        """Numbers that share few slots, copies and tables that nobody gave, wrong ports."""
        choose, server = self.choose, self.choose.randrange(SERVERS)
        sent = Header(
            RESPONSE,
            seq=choose.randrange(1, 4) + SLOTS * choose.randrange(3),
            sid=choose.choice((server, server, server, 4, 2**24)),
            load=choose.randrange(3),
            clo=choose.choice((0, 1, 2, 3)),
            tidx=choose.choice((0, 1, 2, 2**16)),
        )
        self._respond(sent, choose.choice((HOST0, HOST1, CLIENT)).port, server)

    def _respond(self, sent: Header, port: int, server: int) -> None:
        client = self.choose.choice((CLIENT, OTHER_CLIENT))
        packet = response(host_of(server), client, sent, FIRST_PORT + server)
        frames = self.switch.target.send(port, bytes(packet))
        expected = self.model.response(sent, port, client, packet.dst_port)
        assert list(map(seen, frames)) == expected

    def set_flags(self) -> None:
        model, choose = self.model, self.choose
        model.racksched, model.filter = choose.random() < 0.5, choose.random() < 0.7
        self.switch.settings(racksched=model.racksched, filter_=model.filter)

    def restart(self) -> None:
        """Copies stay at their servers."""
        assert self.switch.outcomes() == +self.model.outcomes
        self.switch.restart()
        self.model = Model()

    def wrap(self) -> None:
        self.model.seq = self.choose.choice((0, SLOTS - 2, LAST - 2))
        self.switch.write("sequence.cells", {0: self.model.seq})

    def compare_state(self) -> None:
        model = self.model
        assert self.switch.loads() == [(load, load) for load in model.load]
        assert self.switch.read("sequence.cells", 0) == model.seq
        for index, table in enumerate(model.fingerprints):
            held = {slot: self.switch.read(f"filter_{index}.cells", slot) for slot in table}
            assert held == table
        assert self.switch.outcomes() == +model.outcomes


@pytest.mark.parametrize("seed", range(4))
def test_random_packets_do_what_the_model_says(netclone: NetCloneSwitch, seed: int) -> None:
    player = Player(netclone, seed)
    for _ in range(STEPS):
        player.step()
    player.compare_state()


def test_model_meets_every_outcome(netclone: NetCloneSwitch) -> None:
    """Of those that the model knows; otherwise it would compare nothing."""
    met: Counter[str] = Counter()
    player = Player(netclone, seed=99)
    for _ in range(STEPS):
        player.step()
        met |= player.model.outcomes
    assert set(met) >= {
        *("unknown_group", "cloned", "came_round", "first_busy", "second_busy", "to_first"),
        *("to_second", "only_response", "faster", "faster_overwrote", "slower", "unfiltered"),
        *("unknown_table", "forged"),
    }
