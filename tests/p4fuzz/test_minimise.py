"""Programs at fault become small."""

from __future__ import annotations

from . import tree
from .campaign import Examiner, case_of
from .minimise import Case, minimised
from .print_program import source_of


def test_what_does_not_matter_is_left_out() -> None:
    """The fault is a saturating sum somewhere, and a frame of more than 20 bytes."""

    def is_at_fault(case: Case) -> bool:
        return "|+|" in source_of(case.program) and any(len(frame) > 20 for _, frame in case.frames)

    case = next(case for case in map(case_of, range(50)) if is_at_fault(case))
    smaller = minimised(case, is_at_fault, attempts=2000)
    assert len(smaller.frames) == 1
    assert source_of(smaller.program).count("|+|") == 1
    assert len(source_of(smaller.program)) < len(source_of(case.program)) / 2
    assert is_at_fault(smaller)


def test_a_refused_program_stays_refused_for_the_same_reason(examiner: Examiner) -> None:
    case = case_of(1)
    control = case.program.ingress.control
    control.body.insert(0, tree.Apply(tree.Table("absent", [], [], "", [], [], True)))
    found = examiner.difference(case)
    assert found is not None
    assert found.kind == "refused"
    smaller = examiner.minimised(case, found, attempts=6)
    now = examiner.difference(smaller)
    assert now is not None
    assert "absent" in now.text
    assert len(source_of(smaller.program)) < len(source_of(case.program))
