"""p4soft and the interpreter agree on random programs, and a wrong rule in p4soft is found."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from p4soft.emit import arguments, expressions, pipeline, port_metadata, program
from p4soft.emit.expressions import ExpressionEmitter
from p4soft.emit.externs import meters
from p4soft.emit.externs.checksums import Checksum
from p4soft.emit.externs.deparsers import Mirror, Resubmit
from p4soft.emit.tables import TableEmitter
from p4soft.frontend import syntax

from . import execution
from .campaign import Examiner
from .print_program import source_of

FIRST_SEED, PROGRAMS = 1, 5
# A packet that ends where a stack is full: P4 tells of the stack. And `a[3:2] += f(a)`, where f
# changes a: the bits are read before.
ONCE_DIFFERENT = [51305, 51344]


@pytest.mark.parametrize("seed", [*range(FIRST_SEED, FIRST_SEED + PROGRAMS), *ONCE_DIFFERENT])
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


def both_sides_of_a_conjunction(patch: pytest.MonkeyPatch) -> None:
    def wrong(self: ExpressionEmitter, binary: syntax.Binary) -> str:
        left = self.value(binary.left)
        right, before = self.captured(lambda: self.value(binary.right))
        self.lines.append(before)
        result = self.temporary("logical")
        self.lines.add(f"bool {result} = {left} {binary.operator} {right};")
        return result

    patch.setattr(ExpressionEmitter, "_short_circuit", wrong)


def colors_before_are_ignored(patch: pytest.MonkeyPatch) -> None:
    execute = meters._execute

    def wrong(*given: Any) -> str:
        given[4].pop("color", None)
        return execute(*given)

    patch.setattr(meters, "_execute", wrong)


def what_is_subtracted_is_added(patch: pytest.MonkeyPatch) -> None:
    call = Checksum.call

    def wrong(self: Checksum, emitter: Any, node: syntax.Call, target: Any, instance: Any) -> str:
        name = "add" if target.name == "subtract" else target.name
        return call(self, emitter, node, dataclasses.replace(target, name=name), instance)

    patch.setattr(Checksum, "call", wrong)


def resubmit_data_are_left_out(patch: pytest.MonkeyPatch) -> None:
    data = Resubmit.data

    def wrong(self: Resubmit, *given: Any) -> str:
        data(self, *given)
        return "{}"

    patch.setattr(Resubmit, "data", wrong)


def port_metadata_by_six_bits_of_the_port(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(port_metadata, "PORT_BITS", 6)


def recirculated_frames_lose_their_changes(patch: pytest.MonkeyPatch) -> None:
    after = (*pipeline.INGRESS.after, "if (for_tm_.ucast_egress_port == 68) return;")
    wrong = dataclasses.replace(pipeline.INGRESS, after=after)
    for module in (pipeline, program):
        patch.setattr(module, "INGRESS", wrong)


def frames_never_leave_ingress(patch: pytest.MonkeyPatch) -> None:
    endless = dataclasses.replace(pipeline.INGRESS, after=("for (;;) {}",))
    for module in (pipeline, program):
        patch.setattr(module, "INGRESS", endless)


def egress_mirrors_have_no_header(patch: pytest.MonkeyPatch) -> None:
    data = Mirror.data

    def wrong(self: Mirror, emitter: Any, *given: Any) -> str:
        text = data(self, emitter, *given)
        return "{}" if emitter.block.path.startswith("Egress") else text

    patch.setattr(Mirror, "data", wrong)


# Wrong rules, and the first seed from 1 on that shows each.
PLANTED: dict[Plant, int] = {
    slices_one_bit_too_high: 1,
    copies_from_right_to_left: 3,
    wrapping_instead_of_saturating: 3,
    both_sides_of_a_conjunction: 4,
    later_entries_before_earlier_ones: 5,
    colors_before_are_ignored: 14,
    recirculated_frames_lose_their_changes: 10,
    what_is_subtracted_is_added: 16,
    port_metadata_by_six_bits_of_the_port: 17,
    resubmit_data_are_left_out: 20,
    egress_mirrors_have_no_header: 79,
}


@pytest.mark.parametrize("plant", PLANTED, ids=[plant.__name__ for plant in PLANTED])
def test_a_wrong_rule_is_found(
    examiner: Examiner, monkeypatch: pytest.MonkeyPatch, plant: Plant
) -> None:
    plant(monkeypatch)
    _, found = examiner.examine(PLANTED[plant])
    assert found is not None
    assert found.kind in ("frames", "cells")


def test_a_program_that_hangs_is_found(examiner: Examiner, monkeypatch: pytest.MonkeyPatch) -> None:
    frames_never_leave_ingress(monkeypatch)
    monkeypatch.setattr(execution, "LIMIT_S", 5)
    _, found = examiner.examine(FIRST_SEED)
    assert found is not None
    assert found.kind == "runner"
    assert "it was not done within 5 s" in found.text
