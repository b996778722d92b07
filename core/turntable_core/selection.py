"""`-e only=…`: which iterations of a run are measured again, by what a person sees of them.

    only=iteration=0                        iteration 0 of every turn
    only=method=METHOD,round=1              all iterations of these turns
    only=3fa9c1,iteration=3                 one iteration of the cell whose id begins with 3fa9c1

Terms are joined with commas: `NAME=VALUE`, or the beginning of a cell id alone. NAME is cell,
round, iteration, a parameter, or what the system calls its iterations by (System.places). Terms of
the same name are alternatives, those of different names must all hold.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from turntable_core import journal, labels
from turntable_core.errors import InputError, did_you_mean
from turntable_core.journal import Attempt
from turntable_core.plan import Iteration, Plan, Turn, all_iterations
from turntable_core.system import System

WHERE = "extra variable"
FORM = "terms NAME=VALUE or a cell id, joined with commas, such as method=METHOD,iteration=0"


@dataclass(frozen=True)
class Selection:
    """Terms by name; each name has one value at least."""

    system: System
    text: str
    terms: Mapping[str, tuple[str, ...]]

    def holds(self, turn: Turn, iteration: Iteration) -> bool:
        return all(
            any(_matches(self.system, name, value, turn, iteration) for value in values)
            for name, values in self.terms.items()
        )

    def choose(self, plan: Plan) -> list[tuple[Turn, Iteration]]:
        """In the plan's order. Raises InputError when a term, or all together, match nothing."""
        for name, values in self.terms.items():
            for value in values:
                if not any(
                    _matches(self.system, name, value, *place) for place in all_iterations(plan)
                ):
                    raise _matches_nothing(plan, name, value)
        chosen = [place for place in all_iterations(plan) if self.holds(*place)]
        if not chosen:
            expected = "terms that hold together: each matches something, but nothing matches all"
            raise InputError(WHERE, "only", self.text, expected)
        return chosen


def parse_selection(text: str, plan: Plan) -> Selection:
    """Raises InputError for what is no selection of this plan."""
    names = ["cell", *_places(plan.system, *next(all_iterations(plan))), *plan.cells[0].parameters]
    terms: dict[str, tuple[str, ...]] = {}
    for term in text.split(","):
        name, separator, value = (part.strip() for part in term.partition("="))
        if not separator:
            name, value = "cell", name
        if not name or not value:
            raise InputError(WHERE, "only", text, FORM)
        if name not in names:
            hint = f"{did_you_mean(name, names)}; known: {', '.join(names)}"
            raise InputError(WHERE, f"only={term}", name, f"what a term can be about{hint}")
        terms[name] = (*terms.get(name, ()), value)
    return Selection(plan.system, text, terms)


def work(
    plan: Plan,
    attempts: Collection[Attempt],
    only: str | None,
    skipped: Collection[tuple[str, int]] = (),
    repeats: int | None = None,
) -> list[tuple[Turn, Iteration]]:
    """What a play measures: the chosen iterations, measured before or not; otherwise what the
    attempts lack of the turns that are not skipped. repeats: as journal.settled takes it.
    """
    return (
        [
            (turn, iteration)
            for turn, iteration in journal.missing(plan, attempts, repeats)
            if (turn.cell.id, turn.round) not in skipped
        ]
        if only is None
        else parse_selection(only, plan).choose(plan)
    )


def _matches(system: System, name: str, value: str, turn: Turn, iteration: Iteration) -> bool:
    if name == "cell":
        return turn.cell.id.startswith(value.lower())
    places = _places(system, turn, iteration)
    if name in places:
        return value in places[name]
    return _equal(value, turn.cell.parameters[name])


def _places(system: System, turn: Turn, iteration: Iteration) -> Mapping[str, tuple[str, ...]]:
    """What a term can be about beside cell and parameters -> the texts that mean an iteration."""
    return {
        "round": (str(turn.round),),
        "iteration": (str(iteration.index),),
        **system.places(iteration),
    }


def _equal(text: str, value: Any) -> bool:
    try:
        return float(text) == float(value)
    except (TypeError, ValueError):
        return text == str(value)


def _matches_nothing(plan: Plan, name: str, value: str) -> InputError:
    if name == "cell":
        known = [f"{cell.id} ({labels.of_cell(plan, cell.parameters)})" for cell in plan.cells]
        words = [cell.id for cell in plan.cells]
    else:
        places = all_iterations(plan)
        values = (
            (_places(plan.system, *place)[name][0] for place in places)
            if name in _places(plan.system, *next(all_iterations(plan)))
            else (str(turn.cell.parameters[name]) for turn in plan.turns)
        )
        words = known = list(dict.fromkeys(values))
    shown = ", ".join(known[:20]) + (f", … ({len(known)} in all)" if len(known) > 20 else "")
    hint = did_you_mean(value, words)
    return InputError(WHERE, f"only={name}", value, f"one that this run has{hint}: {shown}")


def describe(plan: Plan, chosen: list[tuple[Turn, Iteration]]) -> str:
    """What was matched, a line per turn."""
    turns: dict[tuple[str, int], tuple[Turn, list[Iteration]]] = {}
    for turn, iteration in chosen:
        turns.setdefault((turn.cell.id, turn.round), (turn, []))[1].append(iteration)
    lines = []
    for turn, iterations in turns.values():
        if len(iterations) == len(turn.iterations):
            what = f"all {len(iterations)} iterations"
        else:
            shown = ", ".join(
                f"{iteration.index} ({iteration.label})" for iteration in iterations[:8]
            )
            more = f", … {len(iterations) - 8} more" if len(iterations) > 8 else ""
            what = f"iteration {shown}{more}"
        lines.append(f"  {labels.of_turn(plan, turn)}: {what}  [cell {turn.cell.id}]")
    return "\n".join(lines)
