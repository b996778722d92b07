"""homa-sim beside ns-3: the same packets through the same links and queues.

homa-sim simulates W3 at 80 % with eight priorities and writes the packets that its hosts send.
ns-3 forwards these, without any transport; so does homa-sim's own fabric.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .comparison import (
    OURS,
    YARDSTICK,
    Comparison,
    Limit,
    NotRunError,
    Outcome,
    Reading,
    Unit,
    alternate,
)
from .processes import pinned, run
from .settings import REPOSITORY, Settings

CPU = 1
GOAL = 5
DELAY_GOAL_PERCENT = 1
HOSTS = 32
LINK_DELAY_US = 0.25
SHORT_S, LONG_S = 0.01, 0.05  # simulated

# A switch's delay of 250 ns is its links', since ns-3's switches take no time.
QUESTION = {
    "sizes": {"file": str(REPOSITORY / "experiments" / "homa" / "sizes" / "W3.txt")},
    "payload_gbps": 7.6,
    "paper": "W3",
    "levels": 8,
    "hosts": HOSTS,
    "host_delay_us": 1.9,
    "link_delay_us": LINK_DELAY_US,
    "switch_delay_us": 0,
    "warmup_s": 0,
    "measure_s": SHORT_S,
    "drain_s": 0,
}


def measure(settings: Settings) -> list[Outcome | Reading]:
    if not settings.binary("ns3-replay").exists():
        raise NotRunError(
            "ns3-replay was not built: libns3-dev is not installed; install it and `make build`"
        )
    with _packets(settings) as packets:
        replays = {name: _Replay(settings, name, packets) for name in ("ns3", "fabric")}
        ns3, fabric = replays["ns3"].mpps, replays["fabric"].mpps
        ours = {
            "homa-sim, transport and all": lambda: _simulated_mpps(settings),
            "homa-sim's links and switches": fabric,
        }
        outcomes = [
            alternate(
                Comparison(f"{name}, beside ns-3", "ns-3", name, Unit.MPPS, GOAL),
                settings.rounds,
                {YARDSTICK: ns3, OURS: mpps},
            )
            for name, mpps in ours.items()
        ]
        return [*outcomes, _delays(replays["fabric"].delays(), replays["ns3"].delays())]


@contextmanager
def _packets(settings: Settings) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="turntable-bench-") as directory:
        packets = Path(directory, "packets.txt")
        _simulate(settings, {**QUESTION, "packets": str(packets)})
        yield packets


def _simulated_mpps(settings: Settings) -> float:
    """Of a long run less a short one: both simulate round trips on the idle network first."""
    short, long = (_simulate(settings, {**QUESTION, "measure_s": s}) for s in (SHORT_S, LONG_S))
    return (long["frames"] - short["frames"]) / (long["cpu_s"] - short["cpu_s"]) / 1e6


def _simulate(settings: Settings, question: Mapping[str, Any]) -> dict[str, Any]:
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(question, file)
        file.flush()
        program = ["sh", "-c", 'exec "$0" --brief < "$1"', settings.binary("homa-sim"), file.name]
        return json.loads(run(pinned(CPU, program)).output)


class _Replay:
    def __init__(self, settings: Settings, name: str, packets: Path) -> None:
        self._argv = [
            settings.binary(f"{name}-replay"), packets,
            "--hosts", str(HOSTS), "--link-delay-us", str(LINK_DELAY_US),
        ]  # fmt: skip

    def answer(self) -> dict[str, Any]:
        answer = json.loads(run(pinned(CPU, self._argv)).output)
        if answer["delivered"] != answer["packets"]:
            raise RuntimeError(
                f"{self._argv[0]}: delivered {answer['delivered']} of {answer['packets']} packets; "
                "expected all"
            )
        return answer

    def mpps(self) -> float:
        answer = self.answer()
        return answer["packets"] / answer["cpu_s"] / 1e6

    def delays(self) -> dict[int, Mapping[str, float]]:
        return {row["priority"]: row for row in self.answer()["delays"]}


def _delays(
    ours: Mapping[int, Mapping[str, float]], yardstick: Mapping[int, Mapping[str, float]]
) -> Reading:
    """The largest difference of a priority's mean delay or its 99th percentile."""
    if ours.keys() != yardstick.keys():
        raise RuntimeError(f"priorities {list(ours)} and {list(yardstick)}; expected the same")
    print("\ndelay by priority in ns: mean and p99, ours and ns-3's")
    differences = []
    for priority, row in ours.items():
        pairs = [(row[name], yardstick[priority][name]) for name in ("mean_ns", "p99_ns")]
        print(f"  {priority}: " + "   ".join(f"{a:,.1f} {b:,.1f}" for a, b in pairs))
        differences += [100 * abs(a / b - 1) for a, b in pairs]
    limit = Limit(
        "delays beside ns-3, by priority: largest difference", Unit.PERCENT, DELAY_GOAL_PERCENT
    )
    return Reading(limit, [max(differences)])
