"""Nodes die at random points under load and are started again, while the clients go on.

A sequence of points follows from its method and seed: which nodes, after how many answers, how
long after that, and how long it takes until a switch is recovered. All links lose packets; what
else happens to packets is what docs/kvcache.md §1 allows on each. Afterwards every key is read, and
the whole history is checked.
"""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from .faults import chance, disorder, every_frame, in_order, late
from .history import Checked, check
from .network import CLIENT, CPU, SERVERS
from .rack import AGENT, CONTROLLER, SERVER_NODES, SOFTSWITCH, Rack, Setup, eventually
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
    "server during admission": (SERVER,),
    "both servers during admission": SERVER_NODES,
}
# The agent's frames are lost from some admission or eviction on until the servers are back.
DURING_ADMISSION = "during admission"
ANSWERS_BETWEEN = (300, 1_500)  # of a point and the next
SNAPSHOT_PERIODS_S = (0.05, 0.2)
# Half of the racks: keys come and go while fragments of large writes to them are under way. It
# takes so many operations until these meet.
MANY_LARGE_WRITES_OPERATIONS, MANY_LARGE_WRITES_CLIENTS = 40_000, 64
MANY_LARGE_WRITES = {
    "records": 600,
    "cache_size": 40,
    "warm": 40,
    "variations": {"delete_every": 7, "large_every": 3, "large_bytes": 3000},
}
LATER_S = 0.05  # at most: between the answer that was waited for and the kill
PAUSE_S = 0.2  # at most: between the agent's `configure` and the controller's `recover`


@dataclass(frozen=True)
class Point:
    what: str
    killed: tuple[str, ...]
    after_answers: int
    later_s: float
    pause_s: float

    def happens(self, rack: Rack, record: Record) -> None:
        rack.wait_for_answers(self.after_answers)
        time.sleep(self.later_s)  # waits: the point's own instant, not for anything
        if self.what.endswith(DURING_ADMISSION):
            eventually(lambda: _hold_an_admission(rack), "an admission that is held up")
        record.note("kill", **asdict(self))
        rack.kill(*self.killed)
        rack.recover(*self.killed, pause_s=self.pause_s)
        rack.impair(CPU, "rx")
        record.note("recovered", what=self.what)


def _hold_an_admission(rack: Rack) -> bool:
    """Loses the agent's frames while an admission or eviction is under way.

    A snapshot that has begun holds them back until its own frames get through: then all frames
    pass again, for another try.
    """
    rack.impair(CPU, "rx", every_frame("drop"))
    try:
        eventually(lambda: rack.call(AGENT, "stats")["in_transit"] > 0, "an admission", 0.5)
    except TimeoutError:
        rack.impair(CPU, "rx")
        return False
    return True


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
        after_answers, later_s = draws.randint(*ANSWERS_BETWEEN), draws.uniform(0, LATER_S)
        yield Point(what, killed, after_answers, later_s, draws.uniform(0, PAUSE_S))


def run(
    build_dir: Path,
    directory: Path,
    method: str,
    seed: int,
    count: int,
    *,
    operations: int = 0,
    clients: int = Setup.clients,
) -> Outcome:
    """A rack that lives through `count` points -> what its clients saw.

    With `operations` they see at least so many answers, the points spread among them. FarReach
    takes snapshots all the time, also while a switch is recovered; their lists release copies.
    """
    draws = random.Random(seed)
    period_s = draws.choice(SNAPSHOT_PERIODS_S) if method == "farreach" else 0
    setup = Setup(method=method, seed=seed, snapshot_period_s=period_s, clients=clients)
    many_large_writes = draws.choice((False, True))
    if many_large_writes:
        clients = max(clients, MANY_LARGE_WRITES_CLIENTS)
        setup = replace(setup, **MANY_LARGE_WRITES, clients=clients)
        operations = max(operations, MANY_LARGE_WRITES_OPERATIONS)
    record = Record(directory)
    record.note("setup", points=count, **asdict(setup))
    with Rack(build_dir, directory, setup) as rack:
        try:
            rack.start()
            impair_links(rack, seed, late_packets=many_large_writes)
            rack.begin_clients()
            done = []
            for point in points(seed, count):
                see_answers(rack, operations // count)
                point.happens(rack, record)
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


def see_answers(rack: Rack, count: int) -> None:
    """A rack that answers nothing any more fails soon, however many it is to answer."""
    for begun in range(0, count, ANSWERS_BETWEEN[1]):
        rack.wait_for_answers(min(ANSWERS_BETWEEN[1], count - begun))


def impair_links(rack: Rack, seed: int, *, late_packets: bool = False) -> None:
    """Of clients and servers, in both directions."""
    for number, direction in enumerate(("rx", "tx")):
        at = 100 * seed + 10 * number
        rules = [chance("drop", 0.2, at), *disorder(at + 1)]
        if late_packets:
            rules.append(late(at + 4))
        rack.impair(CLIENT, direction, *rules)
        for index, server in enumerate(SERVERS):
            rack.impair(server, direction, *in_order(at + 5 + 2 * index))
