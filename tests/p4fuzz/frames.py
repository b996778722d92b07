"""Random frames that get through a program's parser, most of them."""

from __future__ import annotations

import random

from . import tree
from .switch_model import PIPE_PORTS, Frame

_TRUNCATED = 0.12


def frames_for(program: tree.Program, seed: int, count: int) -> list[Frame]:
    """Port and bytes of each. Half as many more come to what pipe 1 runs, if that is another."""
    maker = _FrameMaker(program.ingress, random.Random(seed))
    frames = [(maker.random.randrange(64), maker.frame()) for _ in range(count)]
    if program.second is not None:
        other = _FrameMaker(program.second.ingress, maker.random)
        for number in range(0, count, 2):
            port = PIPE_PORTS + other.random.randrange(64)
            frames.insert(number + number // 2, (port, other.frame()))
    return frames


class _FrameMaker:
    def __init__(self, block: tree.Block, chooser: random.Random) -> None:
        self.random = chooser
        self.states = block.states

    def frame(self) -> bytes:
        """Along a random path of the parser."""
        self.bits: list[str] = []
        self.fields: dict[str, tuple[int, int]] = {}  # place: first bit, width
        self._walk(self.states)
        text = "".join(self.bits)
        data = int("1" + text, 2).to_bytes(len(text) // 8 + 1, "big")[1:]
        data += self.random.randbytes(self.random.randrange(24))
        if self.random.random() < _TRUNCATED:
            data = data[: self.random.randrange(1, len(data) + 1)]
        return data

    def _walk(self, all_states: list[tree.State]) -> None:
        states = {state.name: state for state in all_states}
        name = "start"
        while name not in ("accept", "reject"):
            name = self._state(states[name])

    def _state(self, state: tree.State) -> str:
        for statement in state.body:
            if isinstance(statement, tree.Subparser):
                self._walk(statement.states)
            elif isinstance(statement, tree.Advance):
                self._append(statement.bits)
            elif isinstance(statement, (tree.Extract, tree.ExtractOptions)):
                for each in statement.type.fields:
                    place = f"{statement.header}.{each.name}"
                    self.fields[place] = (len(self.bits), each.type.width)
                    self._append(each.type.width)
            if isinstance(statement, tree.ExtractOptions):
                for _ in range(self._number(statement.count)):
                    self._append(8)
        case = self.random.choice(state.cases)
        if case.value_set is not None and case.value_set.members:
            member = self.random.choice(case.value_set.members)
            self._set(state.subjects[0], member.first)
        pairs = zip(state.subjects, case.keys, strict=False)
        for subject, (kind, first, second) in pairs:
            if kind != "any":
                high = second if kind == "range" else first
                self._set(subject, self.random.randint(first, max(first, high)))
        return case.state

    def _append(self, width: int) -> None:
        top = (1 << width) - 1
        value = self.random.choice([0, 1, top, top >> 1, self.random.randint(0, top)]) & top
        self.bits += f"{value:0{width}b}"

    def _number(self, place: tree.Expression) -> int:
        """What the packet has there, so far."""
        return int("".join(self.bits[slice(*self._bounds(place))]) or "0", 2)

    def _set(self, subject: tree.Expression, value: int) -> None:
        """So that the select takes a case, if its subject came with this packet."""
        start, end = self._bounds(subject)
        if end > start:
            self.bits[start:end] = f"{value:0{end - start}b}"

    def _bounds(self, expression: tree.Expression) -> tuple[int, int]:
        """Of the bits of a field or a slice of one; the same twice if it did not come."""
        low, place = 0, expression
        while isinstance(place, tree.Slice):
            low, place = low + place.low, place.operand
        assert isinstance(expression.type, tree.Bits)
        name = f"{place.stack.name}.{place.field}" if isinstance(place, tree.Last) else place.name
        if name not in self.fields:
            return 0, 0
        first, width = self.fields[name]
        end = first + width - low
        return end - expression.type.width, end
