"""Nodes die at random points under load and are started again, while the clients go on.

A sequence of points follows from its method and seed: which nodes, after how many answers, and how
long after that. Afterwards every key is read, and the whole history is checked.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from .faults import chance, disorder
from .history import Checked, check
from .network import CLIENT
from .rack import AGENT, CONTROLLER, SERVER_NODES, SOFTSWITCH, Rack, Setup
from .record import Record

# A server stands for either of them.
SERVER = "server"
VICTIMS = {
    "switch": (SOFTSWITCH,),
    "server": (SERVER,),
    "both servers": SERVER_NODES,
    "switch and server": (SOFTSWITCH, SERVER),
    "controller": (CONTROLLER,),
    "agent": (AGENT,),
    "server and agent": (SERVER, AGENT),
    "switch and agent": (SOFTSWITCH, AGENT),
    "switch and controller": (SOFTSWITCH, CONTROLLER),
    "all but the clients": (SOFTSWITCH, AGENT, CONTROLLER, *SERVER_NODES),
}
ANSWERS_BETWEEN = (300, 1_500)  # of a point and the next
SNAPSHOT_PERIOD_S = 0.2
LATER_S = 0.05  # at most: between the answer that was waited for and the kill


@dataclass(frozen=True)
class Point:
    what: str
    killed: tuple[str, ...]
    after_answers: int
    later_s: float


@dataclass(frozen=True)
class Outcome:
    points: list[str]
    checked: Checked


def points(seed: int, count: int, victims: dict[str, tuple[str, ...]] = VICTIMS) -> Iterator[Point]:
    """`count` of them; each kind of victim comes once before any comes again."""
    draws = random.Random(seed)
    kinds: list[str] = []
    for _ in range(count):
        if not kinds:
            kinds = draws.sample(list(victims), len(victims))
        what, server = kinds.pop(), draws.choice(SERVER_NODES)
        killed = tuple(server if name == SERVER else name for name in victims[what])
        yield Point(what, killed, draws.randint(*ANSWERS_BETWEEN), draws.uniform(0, LATER_S))


def run(build_dir: Path, directory: Path, method: str, seed: int, count: int) -> Outcome:
    """A rack that lives through `count` points -> what its clients saw.

    FarReach takes snapshots all the time, whose lists release copies.
    """
    period_s = SNAPSHOT_PERIOD_S if method == "farreach" else 0
    setup = Setup(method=method, seed=seed, snapshot_period_s=period_s)
    record = Record(directory)
    record.note("setup", points=count, **asdict(setup))
    with Rack(build_dir, directory, setup) as rack:
        try:
            rack.start()
            rack.impair(CLIENT, "rx", chance("drop", 0.2, seed), *disorder(seed + 1))
            rack.impair(CLIENT, "tx", chance("drop", 0.2, seed + 4), *disorder(seed + 5))
            rack.begin_clients()
            done = []
            for point in points(seed, count):
                rack.wait_for_answers(point.after_answers)
                time.sleep(point.later_s)  # waits: the point's own instant, not for anything
                record.note("kill", **asdict(point))
                rack.kill(*point.killed)
                rack.recover(*point.killed)
                record.note("recovered", what=point.what)
                done.append(point.what)
            rack.wait_for_answers(ANSWERS_BETWEEN[1])
            rack.end_clients()
            rack.heal()
            record.note("clients ended")
            return Outcome(done, check(rack))
        except Exception as error:
            record.note("failed", error=str(error))
            error.add_note(f"method {method}, seed {seed}\n{rack.logs()}")
            raise
