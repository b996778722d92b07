"""A cell that several experiments have is measured once: the others' runs of the same name take its
measurements over, turn by turn, when everything that matters is equal.

What is taken over are the raw files of a complete turn, as links or copies, and then a line of the
journal for each iteration that says where it comes from. Files without such a line do not count.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from turntable_core import caller, files, journal, labels, plan, timeline
from turntable_core.errors import TurntableError
from turntable_core.estimate import Work
from turntable_core.journal import Attempt
from turntable_core.plan import Iteration, Plan, Turn
from turntable_core.run_directory import RunDirectory

# Of a manifest, with words for people: what a measurement depends on beside its parameters.
_MADE_WITH = {
    "testbed": "testbed",
    "inventory_digest": "inventory",
    "fidelity_class": "fidelity class",
    "connections": "connection of",
    "binaries": "program",
    "p4_programs": "P4 program",
    "p4_sources": "P4 source",
    "code": "code in",
    "machine": "machine's",
    "packages": "package",
}
_OF_TESTBED = "turntable_"  # extra variables of the inventory

# (the other run, a turn of this run's plan) -> why its measurement is not valid here, or None
Judge = Callable[[RunDirectory, Turn], str | None]


@dataclass(frozen=True)
class Found:
    """A turn that another run has measured."""

    run: RunDirectory  # the other
    turn: Turn  # of this run's plan
    attempts: tuple[Attempt, ...]  # the other's, of the iterations that this run lacks

    @property
    def experiment(self) -> str:
        return self.run.path.parent.name


@dataclass(frozen=True)
class Search:
    found: tuple[Found, ...] = ()
    # Experiment and reason -> turns that it has begun, and that are measured here nevertheless.
    refused: Mapping[tuple[str, str], Sequence[Turn]] = field(default_factory=dict)

    @property
    def keys(self) -> set[tuple[str, int, int]]:
        """Of the iterations that need not be measured."""
        return {attempt.key for found in self.found for attempt in found.attempts}

    def rest(self, work: Work) -> Work:
        """What of it is left to be measured."""
        keys = self.keys
        return [place for place in work if _key(*place) not in keys]

    def words(self, made: Plan) -> list[str]:
        """For people, a line per experiment and what came of it."""
        taken: dict[str, list[Turn]] = {}
        for found in self.found:
            taken.setdefault(found.experiment, []).append(found.turn)
        lines = [f"taken over from {name}: {_names(made, turns)}" for name, turns in taken.items()]
        return lines + [
            f"not taken over from {name}: {_names(made, turns)} ({why})"
            for (name, why), turns in self.refused.items()
        ]


def siblings(run: RunDirectory) -> list[RunDirectory]:
    """Other experiments' runs of the same name, by name of the experiment."""
    results = run.path.parent.parent
    every = sorted(path.parent for path in results.glob(f"*/{run.path.name}/plan.json"))
    return [RunDirectory(path) for path in every if path != run.path]


def search(
    run: RunDirectory,
    made: Plan,
    manifest: Mapping[str, Any],
    work: Work,
    judge: Judge,
) -> Search:
    """For what the run is to measure. manifest: of the run, which need not exist yet.

    A turn of which the run itself has measured something is completed there.
    """
    own = {attempt.key[:2] for attempt in _measured_itself(run.attempts())}
    wanted = {_key(*place) for place in work}
    open_turns = {(turn.cell.id, turn.round): turn for turn, _ in work}
    turns = [turn for key, turn in open_turns.items() if key not in own]
    found: dict[tuple[str, int], Found] = {}
    refused: dict[tuple[str, str], list[Turn]] = {}
    for other in siblings(run) if turns else ():
        source = _Source.read(other, made, manifest)
        for turn in turns:
            key = (turn.cell.id, turn.round)
            if source is None or key in found or not source.has_begun(key):
                continue
            if why := source.refusal(turn, judge):
                refused.setdefault((other.path.parent.name, why), []).append(turn)
            else:
                found[key] = Found(other, turn, source.attempts(turn, wanted))
    left = {
        about: still
        for about, those in refused.items()
        if (still := [t for t in those if (t.cell.id, t.round) not in found])
    }
    return Search(tuple(found.values()), left)


def once(plans: Mapping[str, Plan], works: Mapping[str, Work]) -> dict[str, list[Any]]:
    """Of experiments in a row, what each is to measure when what several have is measured by the
    first of them.
    """
    known: set[str] = set()
    left: dict[str, list[Any]] = {}
    for name, made in plans.items():
        keys = {id(turn): _identity(made, turn) for turn in made.turns}
        left[name] = [place for place in works[name] if keys[id(place[0])] not in known]
        known |= {*keys.values()}
    return left


def take(run: RunDirectory, found: Iterable[Found]) -> None:
    """Files first, then the journal: whatever is interrupted in between was not taken over."""
    done = journal.succeeded(run.attempts())
    for each in found:
        for attempt in each.attempts:
            if attempt.key not in done:
                _take(run, each.run, attempt)


def _take(run: RunDirectory, other: RunDirectory, attempt: Attempt) -> None:
    number = run.next_attempt(*attempt.key)
    origin = f"{other.path.parent.name}/{other.path.name}/{attempt.directory}"
    taken = replace(attempt, attempt=number, repeat=False, taken_from=attempt.taken_from or origin)
    caller.make_directory(run.path / taken.directory)
    for name in attempt.files:
        files.link_or_copy(other.path / attempt.directory / name, run.path / taken.directory / name)
    journal.append(run.journal_file, taken)


@dataclass(frozen=True)
class _Source:
    """Another run, as far as it may be of use."""

    run: RunDirectory
    plan: Plan
    all_attempts: Sequence[Attempt]
    turns: Mapping[tuple[str, int], Turn]
    differs: str | None  # why none of its turns may be taken over

    @staticmethod
    def read(run: RunDirectory, made: Plan, manifest: Mapping[str, Any]) -> _Source | None:
        """None: it cannot be read, or is another system's."""
        try:
            other, attempts = run.plan(), run.attempts()
            made_with = json.loads(run.manifest_file.read_bytes())
        except (OSError, ValueError, KeyError, TypeError, TurntableError):
            return None
        if other.system_name != made.system_name:
            return None
        turns = {(turn.cell.id, turn.round): turn for turn in other.turns}
        differences = [*_other_timeline(other, made), *_differences(made_with, manifest)]
        return _Source(run, other, attempts, turns, _several(differences))

    def has_begun(self, key: tuple[str, int]) -> bool:
        return key in self.turns and any(a.key[:2] == key for a in self.all_attempts)

    def refusal(self, turn: Turn, judge: Judge) -> str | None:
        key = (turn.cell.id, turn.round)
        if self.differs:
            return self.differs
        if _planned(self.turns[key]) != _planned(turn):
            return "planned otherwise there"
        settled = journal.settled(self.all_attempts)
        lacking = [key for it in turn.iterations if (key := _key(turn, it)) not in settled]
        if not lacking:
            return judge(self.run, turn)
        not_done = journal.refused(self.all_attempts)
        if all(key in not_done for key in lacking):
            return f"refused there: {not_done[lacking[0]].message}"
        return "not complete there"

    def attempts(self, turn: Turn, wanted: Collection[tuple[str, int, int]]) -> tuple[Attempt, ...]:
        done = journal.succeeded(self.all_attempts)
        keys = [_key(turn, iteration) for iteration in turn.iterations]
        return tuple(done[key] for key in keys if key in wanted)


def _measured_itself(attempts: Iterable[Attempt]) -> Iterator[Attempt]:
    return (a for a in attempts if a.status == journal.OK and a.taken_from is None)


def _key(turn: Turn, iteration: Iteration) -> tuple[str, int, int]:
    return (turn.cell.id, turn.round, iteration.index)


def _planned(turn: Turn) -> Any:
    """As plan.json has it."""
    return json.loads(json.dumps(plan.turn_to_json(turn)))


def _identity(made: Plan, turn: Turn) -> str:
    """Equal where one measurement may be the other's, if made with the same."""
    about = [made.system_name, timeline.to_json(made.timeline), plan.turn_to_json(turn)]
    return json.dumps(about, sort_keys=True)


def _other_timeline(other: Plan, made: Plan) -> list[str]:
    same = timeline.to_json(other.timeline) == timeline.to_json(made.timeline)
    return [] if same else ["another timeline"]


def _differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> Iterator[str]:
    """In words, of what both were made with."""
    for key, words in _MADE_WITH.items():
        one, other = there.get(key), here.get(key)
        if one is None or other is None:
            yield f"{key} is not in the manifest"
        elif isinstance(one, Mapping):
            names = dict.fromkeys([*one, *other])
            yield from (
                f"{words} {name} differs" for name in names if one.get(name) != other.get(name)
            )
        elif one != other:
            yield f"{words} differs"
    if _of_testbed(there) != _of_testbed(here):
        yield "extra variables of the testbed differ"


def _of_testbed(manifest: Mapping[str, Any]) -> dict[str, Any]:
    extra = manifest.get("extra_vars") or {}
    return {name: value for name, value in extra.items() if name.startswith(_OF_TESTBED)}


def _several(differences: Sequence[str]) -> str | None:
    shown = "; ".join(differences[:3])
    more = len(differences) - 3
    return f"{shown}; {more} more" if more > 0 else shown or None


def _names(made: Plan, turns: Sequence[Turn]) -> str:
    names = [labels.of_turn(made, turn) for turn in turns]
    more = f"; and {len(names) - 4} more" if len(names) > 5 else ""
    return "; ".join(names[:4] if more else names) + more
