"""p4soft and the interpreter agree on random programs, and a wrong rule in p4soft is found."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from p4soft.emit import arguments, expressions
from p4soft.emit.expressions import ExpressionEmitter
from p4soft.emit.tables import TableEmitter
from p4soft.frontend import syntax

from .campaign import Examiner
from .print_program import source_of

FIRST_SEED, PROGRAMS = 1, 8


@pytest.mark.parametrize("seed", range(FIRST_SEED, FIRST_SEED + PROGRAMS))
def test_random_programs_do_what_the_interpreter_says(examiner: Examiner, seed: int) -> None:
    case, found = examiner.examine(seed)
    assert found is None, f"{found}\n{source_of(case.program)}"


Plant = Callable[[pytest.MonkeyPatch], None]


def wrapping_instead_of_saturating(patch: pytest.MonkeyPatch) -> None:
    patch.setitem(expressions._FUNCTIONS, "|+|", "add")


def slices_one_bit_too_high(patch: pytest.MonkeyPatch) -> None:
    def wrong(self: ExpressionEmitter, part: syntax.Slice) -> str:
        high, low = part.high.value + 1, part.low.value + 1
        return f"slice<{high}, {low}>({self.value(part.base)})"

    patch.setattr(ExpressionEmitter, "_slice", wrong)


def copies_from_right_to_left(patch: pytest.MonkeyPatch) -> None:
    order = arguments.written_order
    patch.setattr(arguments, "written_order", lambda *given: list(reversed(order(*given))))


def later_entries_before_earlier_ones(patch: pytest.MonkeyPatch) -> None:
    entry = TableEmitter._entry

    def wrong(self: TableEmitter, table: Any, number: int, written: syntax.TableEntry) -> None:
        entry(self, table, 1000 - number, written)

    patch.setattr(TableEmitter, "_entry", wrong)


# Wrong rule, the first seed, and the programs within which it is found.
PLANTED: list[tuple[Plant, int, int]] = [
    (wrapping_instead_of_saturating, 1, 2),
    (slices_one_bit_too_high, 1, 1),
    (later_entries_before_earlier_ones, 1, 1),
    (copies_from_right_to_left, 11, 1),  # from seed 1 on, the eleventh
]


@pytest.mark.parametrize(
    ("plant", "seed", "programs"), PLANTED, ids=[plant.__name__ for plant, _, _ in PLANTED]
)
def test_a_wrong_rule_is_found(
    examiner: Examiner, monkeypatch: pytest.MonkeyPatch, plant: Plant, seed: int, programs: int
) -> None:
    plant(monkeypatch)
    for number in range(seed, seed + programs):
        _, found = examiner.examine(number)
        if found is not None:
            assert found.kind in ("frames", "cells")
            return
    pytest.fail(f"not found in {programs} programs")
