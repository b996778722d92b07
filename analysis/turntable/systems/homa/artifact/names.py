"""What the names of the artifact's files say."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from turntable_systems.homa import methods, sizes

BASELINE, EXPERIMENT = "_baseline.txt", "_experiment.txt"
DIRECTORY = "homa_experiment_"
ONE_WAY = "-oneway"  # ends a workload's name: short answers take another time than echoes
_OF_PAPER = re.compile(rf"(W\d)(?:-divided([\d.]+))?(?:-capped(\d+))?(?:{ONE_WAY})?")


@dataclass(frozen=True, order=True)
class Experiment:
    workload: str
    load: str  # percent of the link, payload alone: the paper's 29, 48 and 76 are its 30, 50, 80 %
    name: str  # of the transport: Basic, HomaP1, …

    @property
    def file(self) -> str:
        return f"{self.name}_{self.workload}_{self.load}{EXPERIMENT}"

    @property
    def transport(self) -> str:
        """Of the baseline's name, in small letters: all of Homa's have one."""
        name = self.name.lower()
        return "homa" if name.startswith("homa") else name


def experiment_of(file: str) -> Experiment | None:
    """None: it is no such file's name."""
    parts = file.removesuffix(EXPERIMENT).rsplit("_", 2)
    if not file.endswith(EXPERIMENT) or len(parts) != 3 or not all(parts):
        return None
    name, workload, load = parts
    return Experiment(workload, load, name)


def baseline_file(transport: str, workload: str) -> str:
    return f"{transport}_{workload}{BASELINE}"


def name_of(method: str) -> str:
    """Of a method of ours: homa-p8 is HomaP8, tcp is TCP."""
    if method == methods.TCP:
        return method.upper()
    return "".join(part[:1].upper() + part[1:] for part in method.split("-"))


def workload_of(name: str, divide: float, cap_bytes: int | None) -> str:
    """No underscore: it would be taken for the end of the transport's name. What has other sizes
    than the original has another name.
    """
    name = name.replace("_", "-")
    if divide > 1:
        name += f"-divided{divide:g}"
    if cap_bytes:
        name += f"-capped{cap_bytes}"
    return name


def sizes_of(workload: str) -> tuple[str, dict[str, float]] | None:
    """The workload of the paper that a name is made of, and what was done to its sizes; None: it
    is another one.
    """
    found = _OF_PAPER.fullmatch(workload)
    if found is None or found[1] not in sizes.PAPER:
        return None
    changes = {"divide": float(found[2])} if found[2] else {}
    return found[1], changes | ({"cap": int(found[3])} if found[3] else {})


def load_of(payload_bps: float, link_bps: float) -> str:
    return f"{100 * payload_bps / link_bps:.3g}"


def directory_name(now: datetime) -> str:
    return f"{DIRECTORY}{now:%Y%m%d%H%M%S}"
