"""Parsers: one function per parser, one label per state; an error leaves with its bit of
parser_err.
"""

from __future__ import annotations

from p4soft.check import types
from p4soft.check.constants import raw_bits
from p4soft.emit import value_sets
from p4soft.emit.block import BlockEmitter
from p4soft.emit.cpp_types import cpp_constant
from p4soft.emit.externs import residuals
from p4soft.emit.text import Lines
from p4soft.frontend import syntax


class ParserEmitter(BlockEmitter):
    def emit_parser(self, output: Lines) -> None:
        assert self.block is not None and isinstance(self.block.declaration, syntax.Parser)
        for value_set in self.block.value_sets:
            value_sets.declare(self.emission, value_set)
        states = _reachable(self.block.declaration)
        cyclic = _has_cycle(states)
        self.lines = Lines()
        with self.lines.braces(f"std::uint16_t {self.signature('parse')}"):
            self.open_frame()
            residuals.open_residuals(self, self.block.declaration)
            if cyclic:
                self.lines.add("int states_ = 0;")
            self.lines.add("goto state_start;")
            for state in states.values():
                self._state(state, cyclic)
        output.append(self.lines)

    def _state(self, state: syntax.ParserState, cyclic: bool) -> None:
        with self.lines.braces(f"state_{state.name}:"):
            assert self.block is not None
            self.lines.trace(f'trace_.state("{self.block.path}", "{state.name}");')
            if cyclic:
                self.lines.add("if (++states_ > kMaxParserStates) return kParserTimeout;")
            for statement in state.statements:
                self.statement(statement)
            transition = state.transition
            if isinstance(transition, syntax.Select):
                self._select(transition)
            else:
                self.lines.add(_go(transition or "reject"))

    def statement(self, statement: syntax.Statement) -> None:
        if residuals.is_residual(statement):
            assert isinstance(statement, syntax.Assignment)
            assert isinstance(statement.value, syntax.Call)
            residuals.deposit(self, statement.value, statement.target)
        else:
            super().statement(statement)

    def _select(self, select: syntax.Select) -> None:
        subjects: list[str] = []
        for subject in select.subjects:
            name = self.temporary("key")
            text = self.value(subject)
            self.lines.add(f"[[maybe_unused]] const auto {name} = {text};")
            subjects.append(name)
        assert self.block is not None
        for case in select.cases:
            if case.value_set is not None:
                value_set = self.block.value_set(case.value_set)
                value_sets.go_if_found(value_set, subjects, _go(case.state), self.lines)
                continue
            tests = [
                test
                for subject, key in zip(subjects, case.keys, strict=True)
                if (test := key_test(subject, key)) is not None
            ]
            if not tests:
                self.lines.add(_go(case.state))
                return  # nothing after a case that matches everything is reached
            self.lines.add(f"if ({' && '.join(tests)}) {_go(case.state)}")
        self.lines.add("return kParserNoMatch;")


def key_test(subject: str, key: syntax.Expression) -> str | None:
    """The C++ condition of one key of a select case; None: it always matches."""
    assert key.type is not None
    if isinstance(key, syntax.DefaultExpression):
        return None
    if isinstance(key, syntax.MaskExpression):
        width = types.width_of(key.type) or 0
        bits = types.Bit(width)
        mask = raw_bits(key.mask.value, key.type)
        value = raw_bits(key.base.value, key.type) & mask
        masked = (
            f"bit_ops::bit_and<{width}>(to_bit<{width}>({subject}), {cpp_constant(mask, bits)})"
        )
        return f"{masked} == {cpp_constant(value, bits)}"
    if isinstance(key, syntax.RangeExpression):
        low, high = (cpp_constant(end.value, key.type) for end in (key.low, key.high))
        return f"{low} <= {subject} && {subject} <= {high}"
    return f"{subject} == {cpp_constant(key.value, key.type)}"


def _go(state: str) -> str:
    if state == "accept":
        return "return kParserOk;"
    if state == "reject":
        return "return kParserRejected;"
    return f"goto state_{state};"


def successors(state: syntax.ParserState) -> list[str]:
    if isinstance(state.transition, syntax.Select):
        return [case.state for case in state.transition.cases]
    return [state.transition or "reject"]


def _reachable(parser: syntax.Parser) -> dict[str, syntax.ParserState]:
    """States by name, in the order of the source; those no transition leads to are left out."""
    assert parser.states is not None
    by_name = {state.name: state for state in parser.states}
    seen: set[str] = set()
    waiting = ["start"]
    while waiting:
        name = waiting.pop()
        if name in by_name and name not in seen:
            seen.add(name)
            waiting.extend(successors(by_name[name]))
    return {name: state for name, state in by_name.items() if name in seen}


def _has_cycle(states: dict[str, syntax.ParserState]) -> bool:
    finished: set[str] = set()
    active: set[str] = set()

    def visit(name: str) -> bool:
        if name not in states or name in finished:
            return False
        if name in active:
            return True
        active.add(name)
        if any(visit(next_name) for next_name in successors(states[name])):
            return True
        active.remove(name)
        finished.add(name)
        return False

    return visit("start")
