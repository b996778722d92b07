"""The journal of a run: append-only NDJSON, one line per attempt, fsynced.

A crash can leave a torn last line; it was never acknowledged, so readers ignore it and the next
append removes it. Anything unreadable before the last line is damage and an error.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable
from dataclasses import asdict, dataclass, field
from itertools import takewhile
from pathlib import Path

from turntable_core import files
from turntable_core.errors import TurntableError
from turntable_core.plan import Iteration, Plan, Turn, all_iterations

OK = "ok"
FAILED = "failed"
REFUSED = "refused"  # the testbed cannot do it (errors.UNSUPPORTED); it is not tried again

_IN_VAIN = 3  # iterations


@dataclass(frozen=True)
class Attempt:
    """One try at an iteration. Times are CLOCK_REALTIME nanoseconds of the controller."""

    cell: str
    round: int
    iteration: int
    attempt: int  # from 1
    status: str  # OK, FAILED or REFUSED
    began_at_ns: int
    ended_at_ns: int
    overhead_s: float | None = None  # wall time less warm-up and measuring
    failure_class: str | None = None  # errors.FAILURE_CLASSES
    message: str | None = None
    disturbed: str | None = None  # OK, but the machine spoiled it: in which way
    repeat: bool = False  # disturbed, and to be measured again
    files: dict[str, str] = field(default_factory=dict)  # raw file name -> SHA-256
    # Measured in another experiment's run: <experiment>/<run>/raw/…, relative to the results.
    taken_from: str | None = None

    @property
    def key(self) -> tuple[str, int, int]:
        return (self.cell, self.round, self.iteration)

    @property
    def directory(self) -> str:
        return attempt_directory(*self.key, self.attempt)


def attempt_directory(cell: str, round_: int, iteration: int, attempt: int) -> str:
    """Where an attempt's raw files are, relative to the run's directory."""
    return f"raw/{cell}/r{round_}/i{iteration}/a{attempt}"


def append(path: Path, attempt: Attempt) -> None:
    """Adds one line and returns when it is on disk."""
    files.append_line(path, asdict(attempt))


def read(path: Path) -> list[Attempt]:
    """All attempts in the order they were recorded; a missing file is an empty journal."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        return []
    lines = data.split(b"\n")[:-1]  # what follows the last newline is a torn line, or nothing
    return [_parse(path, number, line) for number, line in enumerate(lines, start=1)]


def succeeded(attempts: Iterable[Attempt]) -> dict[tuple[str, int, int], Attempt]:
    """The latest successful attempt of every iteration that has one."""
    return {attempt.key: attempt for attempt in attempts if attempt.status == OK}


def repeated(attempts: Iterable[Attempt]) -> set[tuple[str, int, int]]:
    """Iterations that were measured more than once; the latest counts."""
    seen: set[tuple[str, int, int]] = set()
    again: set[tuple[str, int, int]] = set()
    for attempt in attempts:
        if attempt.status == OK:
            (again if attempt.key in seen else seen).add(attempt.key)
    return again


def settled(attempts: Collection[Attempt], repeats: int | None = None) -> set[tuple[str, int, int]]:
    """Iterations that have been measured and are not to be measured again. repeats: at most so
    often, whatever was wanted when they were measured.
    """
    return {
        key
        for key, attempt in succeeded(attempts).items()
        if not attempt.repeat or (repeats is not None and repetitions_due(attempts, key) > repeats)
    }


def refused(attempts: Iterable[Attempt]) -> dict[tuple[str, int, int], Attempt]:
    """The latest attempt of every iteration that the testbed cannot do. One that was measured all
    the same, before or later, is none.
    """
    newest: dict[tuple[str, int, int], Attempt] = {}
    measured = set()
    for attempt in attempts:
        newest[attempt.key] = attempt
        if attempt.status == OK:
            measured.add(attempt.key)
    return {
        key: attempt
        for key, attempt in newest.items()
        if attempt.status == REFUSED and key not in measured
    }


def reason_of_cell(plan: Plan, attempts: Iterable[Attempt], cell: str) -> str | None:
    """Why a cell is not available: all iterations of one of its rounds were refused, and nothing of
    it was measured.
    """
    attempts = list(attempts)
    if any(attempt.cell == cell and attempt.status == OK for attempt in attempts):
        return None
    not_done = refused(attempts)
    for turn in plan.turns:
        keys = [(turn.cell.id, turn.round, iteration.index) for iteration in turn.iterations]
        if turn.cell.id == cell and keys and all(key in not_done for key in keys):
            return not_done[keys[0]].message
    return None


def missing(
    plan: Plan, attempts: Collection[Attempt], repeats: int | None = None
) -> list[tuple[Turn, Iteration]]:
    """What has not been measured yet, or is to be measured again, in the plan's order. What was
    refused is not missing.
    """
    done = settled(attempts, repeats) | refused(attempts).keys()
    return [
        (turn, iteration)
        for turn, iteration in all_iterations(plan)
        if (turn.cell.id, turn.round, iteration.index) not in done
    ]


def repetitions_due(attempts: Iterable[Attempt], key: tuple[str, int, int]) -> int:
    """How many successful attempts at an iteration, the newest of them, asked for the next."""
    measured = [attempt for attempt in attempts if attempt.key == key and attempt.status == OK]
    return sum(1 for _ in takewhile(lambda attempt: attempt.repeat, reversed(measured)))


def are_repeats_in_vain(attempts: Iterable[Attempt], turn: tuple[str, int]) -> bool:
    """Whether so many iterations of a turn (cell, round) stayed disturbed, however often they were
    repeated, that it is no accident.
    """
    newest = {each.key: each for each in attempts if each.key[:2] == turn and each.status == OK}
    given_up = [each for each in newest.values() if each.disturbed and not each.repeat]
    return len(given_up) >= _IN_VAIN


def _parse(path: Path, number: int, line: bytes) -> Attempt:
    try:
        return Attempt(**json.loads(line))
    except (ValueError, TypeError) as error:
        raise TurntableError(
            f"{path}:{number}: not an attempt: {error}. Only the last line of a journal may be "
            "torn; restore the file from a copy, or start a new run."
        ) from None
